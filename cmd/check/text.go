package check

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// passage is a text inside a file, as a reader of the file takes it: with the escapes of its form
// undone.
type passage struct {
	line int // of its beginning, from 1
	text string
}

// passages takes a file apart: JSON into its strings, a memory into its text and the values of its
// front matter, and leaves anything else whole.
func passages(path string, data []byte) []passage {
	if strings.HasSuffix(path, ".json") {
		if out, ok := jsonPassages(data); ok {
			return out
		}
	}
	out := []passage{{1, string(data)}}
	m, err := record.ParseMemory(path, data)
	if err != nil || !bytes.ContainsRune(data, '\\') {
		return out
	}
	for key, values := range map[string][]string{"paths": m.Paths, "ref": {m.Ref}, "tags": m.Tags, "topic": {m.Topic}, "branch": {m.Branch}, "anchors": m.Anchors} {
		for _, v := range values {
			out = append(out, passage{keyLine(data, key), v})
		}
	}
	for _, f := range m.Extra {
		out = append(out, passage{keyLine(data, f.Key), f.Value})
	}
	return out
}

func jsonPassages(data []byte) ([]passage, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	var out []passage
	for {
		t, err := dec.Token()
		if err != nil {
			return out, len(out) > 0 && err.Error() == "EOF"
		}
		if s, ok := t.(string); ok {
			out = append(out, passage{1 + bytes.Count(data[:dec.InputOffset()], []byte("\n")), s})
		}
	}
}

// keyLine is the line of a memory's file on which its front matter sets a key; 1 when it cannot be
// told.
func keyLine(data []byte, key string) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if name, _, ok := strings.Cut(string(line), "="); ok && strings.Trim(name, " \t\"'") == key {
			return n
		}
		if n > 1 && strings.TrimSpace(string(line)) == "+++" {
			break
		}
	}
	return 1
}

// maxSuspicions bounds what is told of one file, for each level by itself: notes leave no error
// out.
const maxSuspicions = 100

// anywhere is the suspicion without its place.
func anywhere(s attack.Suspicion) attack.Suspicion {
	s.Line, s.Last = 0, 0
	return s
}

// checkText applies the rules for any text to the lines that are new.
func (c *checker) checkText(f changedFile) {
	if line := record.Conflict(string(f.new)); line > 0 && record.Conflict(string(f.old)) == 0 {
		c.add("conflict-marker", finding.Error, f.path, line, f.id, "the markers of a merge conflict: keep what is right and take them out")
	}
	if f.old == nil { // names are read too
		checkName(c, f)
	}
	before := baselineOf(c, f)
	told := map[finding.Level]int{}
	inJSON := strings.HasSuffix(f.path, ".json")
	for _, p := range passages(f.path, f.new) {
		lines := strings.Split(p.text, "\n")
		fresh := func(i int) bool { return i >= 0 && i < len(lines) && !before.lines[lines[i]] }
		at := func(i int) int { // the line of the file that line i of the passage is on
			if inJSON {
				return p.line
			}
			return p.line + i
		}
		c.checkSecrets(f, p.text, lines, fresh, at, before.secrets)
		for i, line := range lines {
			if i == 0 && p.line == 1 && !inJSON {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			if names := unseen.Names(strings.TrimSuffix(line, "\r")); names != "" && fresh(i) {
				c.add("hidden-text", finding.Error, f.path, at(i), f.id, "characters that a reader does not see: %s", names)
			}
		}
		for _, s := range attack.Find(p.text) {
			isNew := !before.suspected[anywhere(s)] // lines that were there may come together
			for i := s.Line - 1; i < s.Last && !isNew; i++ {
				isNew = fresh(i)
			}
			if !isNew {
				continue
			}
			if told[s.Level]++; told[s.Level] <= maxSuspicions {
				c.add("injection", s.Level, f.path, at(s.Line-1), f.id, "this looks like %s", s.What)
			}
		}
	}
}

// checkName applies the rules for any text to the name of a new file.
func checkName(c *checker, f changedFile) {
	for _, s := range attack.Find(strings.NewReplacer("-", " ", "/", "\n").Replace(f.path)) {
		c.add("injection", s.Level, f.path, 0, f.id, "its name looks like %s", s.What)
	}
	if names := unseen.Names(f.path); names != "" {
		c.add("hidden-text", finding.Error, f.path, 0, f.id, "its name has characters that a reader does not see: %s", names)
	}
	if _, report := c.Scanner.Text(f.path); report.Found > 0 {
		c.add("secret", finding.Error, f.path, 0, f.id, "its name looks like a secret (%s)", report.Kinds())
	}
}

// baseline is the text of a file before the change.
type baseline struct {
	lines     map[string]bool
	suspected map[attack.Suspicion]bool // without their lines
	secrets   int
}

func baselineOf(c *checker, f changedFile) baseline {
	b := baseline{lines: map[string]bool{}, suspected: map[attack.Suspicion]bool{}}
	for _, p := range passages(f.path, f.old) {
		for _, s := range attack.Find(p.text) {
			b.suspected[anywhere(s)] = true
		}
		for line := range strings.SplitSeq(p.text, "\n") {
			b.lines[line] = true
		}
		_, report := c.Scanner.Text(p.text)
		b.secrets += report.Found
	}
	return b
}

// checkSecrets names the lines that hold secrets, and where one shows only in the text as a whole,
// as a key of many lines does, the line on which it begins.
func (c *checker) checkSecrets(f changedFile, text string, lines []string, fresh func(int) bool, at func(int) int, had int) {
	clean, whole := c.Scanner.Text(text)
	if whole.Found == 0 {
		return
	}
	alone := 0
	for i, line := range lines {
		_, report := c.Scanner.Text(line)
		alone += report.Found
		if report.Found > 0 && fresh(i) {
			c.add("secret", finding.Error, f.path, at(i), f.id, "this looks like a secret (%s)", report.Kinds())
		}
	}
	if alone >= whole.Found || whole.Found <= had {
		return
	}
	same := 0
	for out := clean.String(); same < len(text) && same < len(out) && text[same] == out[same]; {
		same++
	}
	c.add("secret", finding.Error, f.path, at(strings.Count(text[:same], "\n")), f.id, "this looks like a secret (%s)", whole.Kinds())
}
