package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/shell"
)

// Pattern describes calls of a tool. For Bash it holds the words of a command: "*" stands for any
// number of words, and inside a word for any text. For Edit it holds a glob below the top of the
// work tree. Any other tool is known by its agent's name alone.
type Pattern struct {
	Tool string
	Of   string // words or glob; empty for another tool
}

func (p Pattern) String() string {
	if p.Of == "" {
		return p.Tool
	}
	return p.Tool + "(" + p.Of + ")"
}

// maxPattern bounds a pattern, in bytes; maxWords bounds its words.
const (
	maxPattern = 200
	maxWords   = 16
)

var toolName = pattern.New(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// Parse parses the form that String returns. Words alone are a command, and a folder alone stands
// for all its files.
func Parse(text string) (p Pattern, err error) {
	tool, of, ok := strings.Cut(strings.TrimSpace(text), "(")
	if ok {
		of, ok = strings.CutSuffix(of, ")")
	} else {
		ok = tool != ""
	}
	p = Pattern{tool, strings.TrimSpace(of)}
	switch {
	case !ok || !toolName.MatchString(tool):
		return p, fmt.Errorf("guard %q: want a tool and what it does, such as Bash(npm *) or Edit(generated/**)", text)
	case len(text) > maxPattern:
		return p, fmt.Errorf("guard %.20q…: longer than %d bytes", text, maxPattern)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return p, fmt.Errorf("guard %q: it has a control character", text)
	}
	switch tool {
	case hooks.Bash:
		words := strings.Fields(of)
		if len(words) == 0 || len(words) > maxWords {
			return p, fmt.Errorf("guard %q: want a command of 1 to %d words", text, maxWords)
		}
		words[0] = path.Base(words[0]) // a command may give any folder
		p.Of = strings.Join(words, " ")
	case hooks.Edit:
		if strings.HasSuffix(p.Of, "/") {
			p.Of += "**"
		}
		if p.Of = strings.TrimPrefix(p.Of, "./"); p.Of == "" || path.IsAbs(p.Of) || slices.Contains(strings.Split(p.Of, "/"), "..") {
			return p, fmt.Errorf("guard %q: want a glob of files below the top of the work tree", text)
		}
	default:
		if p.Of != "" {
			return p, fmt.Errorf("guard %q: only Bash and Edit take a pattern", text)
		}
	}
	return p, nil
}

// first returns the second column of a rule's line: the program if its name is certain, else "*";
// for Edit the glob.
func (p Pattern) first() string {
	if p.Tool != hooks.Bash {
		return p.Of
	}
	word, _, _ := strings.Cut(p.Of, " ")
	if strings.Contains(word, "*") {
		return "*"
	}
	return word
}

// matchesWords reports whether the words of one command match those of a pattern. Flags of the
// command that the pattern does not name are skipped, each with one value. Flags of one letter may
// be joined in rm, git push and git commit.
func matchesWords(want, words []string) bool {
	words = words[:min(len(words), 64)]
	valued, joined := joinsFlags(words)
	// reach[j] says that the pattern so far matches the first j words.
	reach := make([]bool, len(words)+1)
	reach[0] = true
	for i, w := range want {
		next := make([]bool, len(words)+1)
		if w == "*" {
			for j, ok := 0, false; j <= len(words); j++ {
				ok = ok || reach[j]
				next[j] = ok
			}
			reach = next
			continue
		}
		if i > 0 && !strings.HasPrefix(w, "-") {
			for j, word := range words {
				if reach[j] && strings.HasPrefix(word, "-") {
					reach[j+1] = true
					if j+2 <= len(words) && !strings.Contains(word, "=") {
						reach[j+2] = true
					}
				}
			}
		}
		for j, word := range words {
			next[j+1] = reach[j] && (matchesWord(w, word) || joined && joins(word, w, valued))
		}
		reach = next
	}
	return reach[len(words)]
}

// joinsFlags reports whether flags of one letter may be joined in a command. valued holds the
// letters behind which the rest of a word is a value.
func joinsFlags(words []string) (valued string, ok bool) {
	switch {
	case len(words) == 0:
	case words[0] == "rm":
		return "", true
	case words[0] == "git":
		switch at := slices.IndexFunc(words, func(w string) bool { return w == "push" || w == "commit" }); {
		case at > 0 && words[at] == "push":
			return "o", true
		case at > 0:
			return "CFScmtu", true
		}
	}
	return "", false
}

// wide returns the words of a command with any letters in flags that may be joined with others,
// for an agent that only compares words.
func (p Pattern) wide() string {
	words := strings.Fields(p.Of)
	if _, ok := joinsFlags(words); ok {
		for i, w := range words {
			if letters.MatchString(w) {
				words[i] = "-*"
			}
		}
	}
	return strings.Join(words, " ")
}

// letters matches flags of one letter in one word.
var letters = pattern.New(`^-[a-zA-Z]{1,3}$`)

// joins reports whether a word has all one-letter flags of another: -fr and -uf have -f. The n of
// -mn is a value, as m is one of valued.
func joins(word, flags, valued string) bool {
	if at := strings.IndexAny(word, valued); at > 0 {
		word = word[:at+1]
	}
	return letters.MatchString(flags) && letters.MatchString(word) && strings.Trim(flags, word) == ""
}

// matchesWord reports whether a word matches one with wildcards.
func matchesWord(want, word string) bool {
	parts := strings.Split(want, "*")
	rest, ok := strings.CutPrefix(word, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, last)
}

// command is a simple command of a call.
type command struct {
	words   []string // without quotes and wrappers, the program without its folder
	dir     string   // where it runs: absolute, or "" if that is unknown
	runners []string // that start it
}

// asks returns the flag by which a command only asks its program for a version or for help, or git
// what a push would do; else "".
func (c command) asks() string {
	switch {
	case len(c.words) == 2 && (c.words[1] == "--version" || c.words[1] == "--help"):
		return c.words[1]
	case len(c.words) > 2 && c.words[0] == "git" && c.words[1] == "push" && slices.Contains(c.words, "--dry-run"):
		return "--dry-run"
	}
	return ""
}

// Bounds of a command line.
const (
	maxLine     = 64 << 10 // bytes
	maxRead     = 4 * maxLine
	maxCommands = 200
	maxDepth    = 4 // of command lines inside words
)

// commands returns the simple commands that a line runs in a folder, those in substitutions and in
// arguments of shells included. A wrapper such as sudo counts, and so does the command behind it.
func commands(line, dir string) []command {
	s := scan{left: maxRead}
	s.read(line[:min(len(line), maxLine)], dir, 0)
	return s.all
}

// scan collects commands.
type scan struct {
	all  []command
	left int // bytes to read and words to keep; those of a line in a line count twice
}

func (s *scan) read(line, dir string, depth int) {
	if s.left -= len(line); s.left < 0 || depth > maxDepth {
		return
	}
	var outer []string
	for _, c := range shell.Split(line) {
		for _, word := range slices.Concat(c.Env, c.Words) {
			for _, inner := range shell.Substitutions(word) {
				s.read(inner, dir, depth+1)
			}
		}
		words, opened, closed := shell.WithoutParentheses(c.Words)
		for range opened {
			outer = append(outer, dir)
		}
		in := dir // for the command behind a wrapper
		var by []string
		for len(words) > 0 {
			if s.left -= len(words); s.left < 0 || len(s.all) >= maxCommands {
				return
			}
			run := command{words: make([]string, len(words)), runners: by}
			for i, w := range words {
				run.words[i] = plain(w)
			}
			run.words[0] = path.Base(run.words[0])
			run.dir = folderOf(run.words, in)
			s.all = append(s.all, run)
			if (run.words[0] == "cd" || run.words[0] == "pushd") && len(words) > 1 {
				dir = joined(dir, run.words[1])
			}
			in = run.dir
			if script := scriptOf(run.words); script != "" {
				s.read(script, dir, depth+1)
			}
			inner, runner := behind(words), ""
			if inner == nil {
				if inner, runner = ranBy(words); inner != nil {
					by = append(by[:len(by):len(by)], runner)
				}
			}
			words = inner
		}
		for range min(closed, len(outer)) {
			dir, outer = outer[len(outer)-1], outer[:len(outer)-1]
		}
	}
}

// folderOf returns the folder in which a command works: dir, or the one that an option names.
func folderOf(words []string, dir string) string {
	var options []string
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun":
		options = []string{"--prefix", "-C", "--dir", "--cwd"}
	case "git", "make", "go", "env", "ninja":
		options = []string{"-C", "--directory", "--chdir"}
	}
	for i, w := range words[1:] {
		name, value, given := strings.Cut(w, "=")
		switch {
		case !slices.Contains(options, name):
		case given:
			return joined(dir, value)
		case i+2 < len(words):
			return joined(dir, words[i+2])
		}
	}
	return dir
}

// conditions begin a command whose result a shell asks for.
var conditions = pattern.NewWords("elif while until")

// behind returns the words of the command that a wrapper starts, or none.
func behind(words []string) []string {
	switch inner := shell.Unwrap(words, 1); {
	case len(inner) < len(words):
		return inner
	case conditions.Has(words[0]):
		return words[1:]
	case words[0] == "xargs":
		return shell.AfterFlags(words[1:], "adEILnPs")
	}
	return nil
}

// shells run a command line that one of their arguments holds.
var shells = pattern.NewWords("sh bash zsh dash ksh fish")

// scriptOf returns the command line in the arguments of a shell, or "".
func scriptOf(words []string) string {
	switch {
	case words[0] == "eval":
		return strings.Join(words[1:], " ")
	case !shells.Has(words[0]):
		return ""
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") && i+2 < len(words) {
			return words[i+2]
		}
	}
	return ""
}

// plain returns a word as its program gets it, as far as its quotes tell.
func plain(word string) string {
	if !strings.ContainsAny(word, `'"\`) {
		return word
	}
	if inner := shell.Unquote(word); inner != word && !strings.ContainsAny(inner, `'"`) {
		return inner
	}
	return strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(word)
}

// joined returns the folder that cd leads to, or "" if only the shell knows.
func joined(dir, to string) string {
	switch {
	case strings.ContainsAny(to, "$`~") || to == "-":
		return ""
	case path.IsAbs(to):
		return path.Clean(to)
	case dir == "":
		return ""
	}
	return path.Join(dir, to)
}

// below returns a file's path below the top of a work tree, with slashes.
func below(top, dir, file string) (rest string, ok bool) {
	file = strings.ReplaceAll(file, `\`, "/")
	top = strings.ReplaceAll(top, `\`, "/")
	if !path.IsAbs(file) && !windowsPath(file) {
		file = path.Join(strings.ReplaceAll(dir, `\`, "/"), file)
	}
	rest, ok = strings.CutPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(top), "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

func windowsPath(file string) bool { return len(file) > 2 && file[1] == ':' && file[2] == '/' }

// inPlaces reports whether a file, or a folder whose command runs, is in one of some globs. Without
// globs it is.
func inPlaces(globs []string, place string, folder bool) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool {
		if !folder {
			return recall.Covers(glob, place)
		}
		root := recall.Root(glob)
		return root == "" || place == root || strings.HasPrefix(place, root+"/")
	})
}
