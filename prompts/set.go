package prompts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxFile bounds the file of a prompt, in bytes.
const MaxFile = 32 << 10

// Separators in a prompt's file. Text before the first is for readers of the file.
const (
	systemLine = "=== system ==="
	userLine   = "=== user ==="
)

//go:embed reflect.md dream.md distill.md audit.md contradiction.md code.md
//go:embed reflect.json dream.json distill.json audit.json contradiction.json
var embedded embed.FS

// A question is a prompt's name with the names of its blocks of data.
type question struct {
	name   string
	must   []string // blocks without which nothing is asked
	others []string
}

var questions = []question{
	{"reflect", []string{"events"}, []string{"session", "known"}},
	{"dream", []string{"memories", "candidates"}, []string{"waiting"}},
	{"distill", []string{"workflow", "runs"}, nil},
	{"audit", []string{"plan", "diff"}, []string{"rules", "findings", "output"}},
	{"contradiction", []string{"statements", "quotes"}, nil},
}

// orders lists prompts whose answers are not read: they have no schema.
var orders = []question{
	{"code", []string{"plan"}, []string{"task", "output", "findings", "failed", "memory", "promise"}},
}

// all are all prompts.
func all() []question { return slices.Concat(questions, orders) }

// Names lists the prompts.
func Names() []string {
	var names []string
	for _, q := range all() {
		names = append(names, q.name)
	}
	return names
}

// A Set holds the prompts in use: the embedded ones, or the user's in their place. The zero Set
// holds the embedded ones.
type Set struct{ own map[string]*prompt }

// A prompt is a parsed prompt file.
type prompt struct {
	name    string
	system  string
	user    []line
	example map[string]bool // longer strings of the example
	answer  *schema
	raw     json.RawMessage // the schema's text
	hash    string
	longest int
}

// A line of the user part is text, or the name of a block of data.
type line struct {
	text  string
	block bool
}

// builtin reads the embedded prompts at the first question.
var builtin = sync.OnceValue(func() map[string]*prompt {
	found := map[string]*prompt{}
	for _, q := range all() {
		text, err := embedded.ReadFile(q.name + ".md")
		if err == nil {
			found[q.name], err = parse(q, text)
		}
		if err != nil {
			panic("prompts: " + q.name + ".md: " + err.Error()) // a test reads all of them
		}
	}
	return found
})

// Load returns the prompts, with files of the folder dir replacing the embedded ones of the same
// names. A file is NAME.md; the schemas cannot be replaced. With dir "" or a missing folder, all
// are the embedded ones.
//
// A file has a line "=== system ===" and the task, then a line "=== user ===" and the data. There a
// line {{events}} is replaced by the data of that name between its delimiters; the embedded file
// shows the names of a prompt. There is no other templating.
//
// Load ignores README.md and files that do not end in .md. An error names the file, and the line if
// known. It reports irregular or too long files, missing parts, missing data and unknown data.
func Load(dir string) (Set, error) {
	if dir == "" {
		return Set{}, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, fmt.Errorf("read prompts: %w", err)
	}
	s := Set{own: map[string]*prompt{}}
	for _, e := range entries {
		if name, isSchema := strings.CutSuffix(e.Name(), ".json"); isSchema && slices.Contains(Names(), name) {
			return Set{}, fmt.Errorf("%s: the schema of an answer cannot be replaced", filepath.Join(dir, e.Name()))
		}
		name, isPrompt := strings.CutSuffix(e.Name(), ".md")
		if !isPrompt || strings.EqualFold(name, "readme") || strings.HasPrefix(name, ".") {
			continue
		}
		file := filepath.Join(dir, e.Name())
		known := all()
		i := slices.IndexFunc(known, func(q question) bool { return q.name == name })
		if i < 0 {
			return Set{}, fmt.Errorf("%s: there is no prompt of that name; there are %s", file, strings.Join(Names(), ", "))
		}
		text, err := readFile(file)
		if err != nil {
			return Set{}, err
		}
		if s.own[name], err = parse(known[i], text); err != nil {
			return Set{}, fmt.Errorf("%s%w", file, err)
		}
	}
	return s, nil
}

// readFile reads a regular file of at most MaxFile bytes.
func readFile(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, fmt.Errorf("%s: it changed while it was opened", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes", name, MaxFile)
	}
	return text, nil
}

// A fault is a fault of a prompt's file: ":LINE: why".
type fault struct {
	line int
	why  string
}

func (f fault) Error() string { return fmt.Sprintf(":%d: %s", f.line, f.why) }

// parse parses a prompt's file.
func parse(q question, text []byte) (*prompt, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	p := &prompt{name: q.name}
	var system []string
	part := "" // the line that began the current part
	seen := map[string]bool{}
	for i, l := range lines {
		bare := strings.TrimSpace(l)
		block, isBlock := blockName(bare)
		switch {
		case !utf8.ValidString(l):
			return nil, fault{i + 1, "not UTF-8"}
		case bare == systemLine && part == "":
			part = systemLine
		case bare == userLine && part == systemLine:
			part = userLine
		case bare == systemLine || bare == userLine:
			return nil, fault{i + 1, fmt.Sprintf("%q is not expected here: one %q, then one %q", bare, systemLine, userLine)}
		case part == "":
		case strings.Contains(l, "{{") && (part != userLine || !isBlock):
			return nil, fault{i + 1, "{{ is for data, which stands alone on a line of the user part"}
		case part == systemLine:
			system = append(system, l)
		case isBlock && !slices.Contains(q.must, block) && !slices.Contains(q.others, block):
			return nil, fault{i + 1, fmt.Sprintf("there is no {{%s}}; there are {{%s}}", block, strings.Join(slices.Concat(q.must, q.others), "}}, {{"))}
		case isBlock && seen[block]:
			return nil, fault{i + 1, fmt.Sprintf("{{%s}} stands twice", block)}
		case isBlock:
			seen[block] = true
			p.user = append(p.user, line{block, true})
		default:
			p.user = append(p.user, line{l, false})
		}
	}
	p.system = strings.TrimSpace(strings.Join(system, "\n"))
	switch {
	case part == "":
		return nil, fault{len(lines), fmt.Sprintf("the line %q is missing", systemLine)}
	case part == systemLine:
		return nil, fault{len(lines), fmt.Sprintf("the line %q is missing", userLine)}
	case p.system == "":
		return nil, fault{len(lines), "the system part is empty"}
	}
	for _, name := range q.must {
		if !seen[name] {
			return nil, fault{len(lines), fmt.Sprintf("the user part lacks {{%s}}", name)}
		}
	}
	if !slices.ContainsFunc(orders, func(o question) bool { return o.name == q.name }) {
		var err error
		if p.raw, err = embedded.ReadFile(q.name + ".json"); err != nil {
			return nil, err
		}
		if p.answer, err = parseSchema(p.raw); err != nil {
			return nil, err
		}
		p.example = exampleOf(p.system)
		p.longest = p.answer.longest()
	}
	p.hash = p.sum()
	return p, nil
}

// blockName returns the name in {{name}}.
func blockName(l string) (string, bool) {
	name, opened := strings.CutPrefix(l, "{{")
	name, closed := strings.CutSuffix(name, "}}")
	return strings.TrimSpace(name), opened && closed && !strings.Contains(name, "{{")
}

// sum returns the hash of everything in a prompt except data.
func (p *prompt) sum() string {
	h := sha256.New()
	put := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	put(p.name)
	put(p.system)
	for _, l := range p.user {
		put(fmt.Sprint(l.block))
		put(l.text)
	}
	put(string(p.raw))
	return hex.EncodeToString(h.Sum(nil))
}

// Overridden names the prompts that the user's folder has replaced.
func (s Set) Overridden() []string {
	var names []string
	for _, q := range all() {
		if s.own[q.name] != nil {
			names = append(names, q.name)
		}
	}
	return names
}

// named returns the prompt of that name.
func (s Set) named(name string) *prompt {
	if p := s.own[name]; p != nil {
		return p
	}
	return builtin()[name]
}
