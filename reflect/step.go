package reflect

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/shell"
)

// A step is one simple command of an agent, normalised so that the same work has the same text.
type step struct {
	// `npm test`: without wrappers, verbosity, output filters and the working directory
	key    string
	words  []string // of the key
	env    []string // NAME=value, as set for this command or exported before it
	dir    string   // relative to the session's directory; "" there, and absolute only outside it
	masked bool     // a later part hides its exit code: a pipe, `|| true`, `; echo`
	writes bool     // it writes a file by itself: `cat > f`, `sed -i`
}

// filters only pass on or reduce another command's output.
var filters = set("tail head grep egrep rg tee cat less more wc sort uniq sed awk cut tr jq xargs column fold nl ts")

// verbosePrograms treat -v, -q and similar flags as mere verbosity.
var verbosePrograms = set("go pytest python python3 cargo npm npx pnpm yarn bun jest vitest make just task mise tox nox " +
	"mvn ./mvnw gradle ./gradlew ruff eslint golangci-lint rspec bundle poetry uv dotnet mix swift " +
	"rake phpunit composer")

// verbosity flags change the output, not the effect.
var verbosity = set("-v -vv -vvv --verbose -q -qq --quiet --silent --no-color --color --no-progress --nocapture -count=1 --no-ansi --progress=plain")

// readOnly programs only look or move about; they fix nothing and are not worth learning.
var readOnly = set("ls cat head tail grep egrep rg fd find echo printf pwd cd which type whereis wc sort uniq sed " +
	"awk cut diff cmp file stat du df ps pgrep env printenv date whoami id uname hostname true false " +
	"test [ [[ tree less more jq yq read sleep wait history man help set export unset alias basename " +
	"dirname realpath readlink md5sum sha256sum tee xargs for while done fi case esac } ) open code " +
	"vim nano clear lsof netstat ss top free seq tr nl xxd hexdump od strings nproc")

// maxSteps bounds the commands examined in one line: longer ones are scripts.
const maxSteps = 40

// steps splits a shell line into steps. root is the session's directory, where the line runs.
func steps(line, root string) []step {
	list, _ := stepsFrom(line, "", root)
	return list
}

// stepsFrom splits a shell line that begins in dir, which is relative to root, and returns the
// directory it ends in.
func stepsFrom(line, dir, root string) (out []step, end string) {
	var exported []string // by the line so far
	at := directory{dir: dir, before: dir}
	commands := shell.Split(line)
	piped := false
	for i, c := range commands[:min(len(commands), maxSteps)] {
		fromPipe := piped
		piped = c.Join == "|"
		words, opened, closed := shell.WithoutParentheses(c.Words)
		c.Env = append(c.Env, envOf(words)...)
		at.open(opened)
		words = shell.Unwrap(words, len(words))
		if len(words) > 0 && at.change(words, root) {
			words = nil
		}
		here := at.dir
		at.close(closed)
		if len(words) == 0 {
			exported = append(exported, c.Env...)
			continue
		}
		if set, ok := exports(words); ok {
			exported = append(exported, set...)
			continue
		}
		if fromPipe && filters.Has(words[0]) && words[0] != "tee" {
			continue
		}
		words = trimVerbosity(words)
		for j := range words {
			words[j] = relative(words[j], root)
		}
		words, here = placed(canonical(words), here, root)
		s := step{key: strings.Join(words, " "), words: words, env: append(exported[:len(exported):len(exported)], c.Env...), dir: here}
		s.masked = c.Join == "|" || c.Join == "||" || (c.Join == ";" && i+1 < len(commands))
		s.writes = writesFile(c, words)
		out = append(out, s)
	}
	return out, at.dir
}

// directory follows the working directory of a shell line.
type directory struct {
	dir, before string
	outer       []string // to which open parentheses return
}

func (d *directory) open(n int) {
	for range n {
		d.outer = append(d.outer, d.dir)
	}
}

func (d *directory) close(n int) {
	for range min(n, len(d.outer)) {
		last := len(d.outer) - 1
		d.dir, d.outer = d.outer[last], d.outer[:last]
	}
}

// change runs a command that changes the directory, and reports whether it is one.
func (d *directory) change(words []string, root string) bool {
	switch words[0] {
	case "cd", "pushd", "popd", "chdir", "Set-Location":
	default:
		return false
	}
	to := "~"
	isTarget := func(w string) bool { return w == "-" || !strings.HasPrefix(w, "-") && !strings.EqualFold(w, "/d") }
	if i := slices.IndexFunc(words[1:], isTarget); i >= 0 {
		to = shell.Unquote(words[1+i])
	}
	if words[0] == "popd" || to == "-" {
		to = d.before
	} else {
		to = within(to, d.dir, root)
	}
	d.before, d.dir = d.dir, to
	return true
}

// exports returns the variables that a command sets for those after it, and whether it is such a
// command.
func exports(words []string) (env []string, ok bool) {
	if words[0] != "unset" && words[0] != "export" {
		return nil, false
	}
	for _, w := range words[1:] {
		if words[0] == "unset" {
			env = append(env, w+"=")
		} else if shell.IsAssignment(w) {
			env = append(env, w)
		}
	}
	return env, true
}

// writesFile reports whether a command is an edit by means of the shell.
func writesFile(c shell.Command, words []string) bool {
	switch words[0] {
	case "cat", "echo", "printf":
		return c.ToFile
	case "tee":
		return len(words) > 1
	case "sed", "perl", "awk", "gawk", "yq":
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "-i") || w == "--in-place" || w == "-pi" {
				return true
			}
		}
	}
	return false
}

// envOf returns the variables that `env` sets for a command, and those that it unsets, as empty.
func envOf(words []string) []string {
	var out []string
	for i := 1; i < len(words) && words[0] == "env"; i++ {
		switch {
		case words[i] == "-u" && i+1 < len(words):
			i++
			out = append(out, words[i]+"=")
		case shell.IsAssignment(words[i]):
			out = append(out, words[i])
		case !strings.HasPrefix(words[i], "-"):
			return out
		}
	}
	return out
}

// trimVerbosity removes flags that only change the output.
func trimVerbosity(words []string) []string {
	if !verbosePrograms.Has(words[0]) {
		return words
	}
	out := words[:1:1]
	for _, w := range words[1:] {
		if verbosity.Has(w) || strings.HasPrefix(w, "--tb=") || strings.HasPrefix(w, "--color=") {
			continue
		}
		out = append(out, w)
	}
	return out
}

// canonical unifies commands that have two spellings.
func canonical(words []string) []string {
	if len(words) > 1 {
		switch words[0] {
		case "npm":
			switch {
			case words[1] == "i":
				words = append([]string{"npm", "install"}, words[2:]...)
			case words[1] == "t":
				words = append([]string{"npm", "test"}, words[2:]...)
			case words[1] == "run" && len(words) > 2 && (words[2] == "test" || words[2] == "start"):
				words = append([]string{"npm", words[2]}, words[3:]...)
			}
		case "pnpm", "yarn":
			switch {
			case words[1] == "i":
				words = append([]string{words[0], "install"}, words[2:]...)
			case words[1] == "run" && len(words) > 2:
				words = append([]string{words[0]}, words[2:]...)
			}
		case "mise":
			if words[1] == "r" {
				words = append([]string{"mise", "run"}, words[2:]...)
			}
		case "git": // messages and branches are momentary
			if words[1] == "commit" || words[1] == "push" {
				words = words[:2]
			}
		}
	}
	if n := len(words); n > 2 && words[n-1] == "--" {
		words = words[:n-1]
	}
	return words
}

// placed takes the flag out of a command that names the directory to run in, and joins it to dir.
func placed(words []string, dir, root string) ([]string, string) {
	if len(words) > 3 && movable.Has(words[0]) && moving.Has(words[1]) {
		return canonical(slices.Delete(slices.Clone(words), 1, 3)), within(shell.Unquote(words[2]), dir, root)
	}
	return words, dir
}

// Programs that run in another directory after one of these flags.
var movable, moving = set("npm pnpm yarn bun make gmake git go"), set("-C --prefix --cwd --dir")

// relative removes the session's directory from the front of a path in a word. On Windows that
// directory has several spellings: D:\x, D:/x, /d/x in Git Bash and /mnt/d/x in WSL.
func relative(word, root string) string {
	if root == "" || root == "/" {
		return word
	}
	if word == root {
		return "."
	}
	if drive, parts, ok := onDrive(root); ok {
		return relativeOnDrive(word, drive, parts)
	}
	return strings.ReplaceAll(word, strings.TrimSuffix(root, "/")+"/", "")
}

// onDrive splits a path of Windows into the letter of its drive and its parts. A path of Git Bash
// or WSL has at least one part; others look the same elsewhere.
func onDrive(dir string) (drive byte, parts []string, ok bool) {
	n := drivePrefix(dir, 0)
	if n == 0 {
		return 0, nil, false
	}
	drive = dir[n-1]
	if drive == ':' {
		drive = dir[n-2]
	}
	parts = strings.FieldsFunc(dir[n:], func(r rune) bool { return r == '/' || r == '\\' })
	return drive, parts, len(parts) > 0
}

// drivePrefix returns the length of the drive name at the start of s: of any drive, or of the given
// one.
func drivePrefix(s string, drive byte) int {
	for _, prefix := range []string{"/mnt/", "/cygdrive/", "/", ""} {
		n := len(prefix)
		if !strings.HasPrefix(s, prefix) || len(s) <= n || s[n]|0x20 < 'a' || s[n]|0x20 > 'z' || drive != 0 && s[n]|0x20 != drive|0x20 {
			continue
		}
		if n++; prefix == "" {
			if len(s) <= n || s[n] != ':' {
				continue
			}
			n++
		}
		if len(s) == n || s[n] == '/' || s[n] == '\\' {
			return n
		}
	}
	return 0
}

// relativeOnDrive is relative for a directory on Windows, where names are case-insensitive.
func relativeOnDrive(word string, drive byte, parts []string) string {
	var out strings.Builder
	for i := 0; i < len(word); {
		n := 0
		if i == 0 || !isPathByte(word[i-1]) {
			n = drivePrefix(word[i:], drive)
		}
		for _, part := range parts {
			at := i + n
			for at < len(word) && (word[at] == '/' || word[at] == '\\') {
				at++
			}
			if n == 0 || at == i+n || len(word) < at+len(part) || !strings.EqualFold(word[at:at+len(part)], part) {
				n = 0
				break
			}
			n = at + len(part) - i
		}
		if n == 0 || i+n < len(word) && isPathByte(word[i+n]) && word[i+n] != '/' && word[i+n] != '\\' {
			out.WriteByte(word[i])
			i++
			continue
		}
		start := i + n
		for start < len(word) && (word[start] == '/' || word[start] == '\\') {
			start++
		}
		end := start
		for end < len(word) && isPathByte(word[end]) {
			end++
		}
		if end == start {
			out.WriteByte('.')
		}
		out.WriteString(slashes(word[start:end]))
		i = end
	}
	return out.String()
}

func isPathByte(c byte) bool { return !strings.ContainsRune(" \t\n\"'`=,;:|&<>()", rune(c)) }

// slashes writes a path with single slashes.
func slashes(p string) string {
	return strings.ReplaceAll(strings.ReplaceAll(p, `\\`, "/"), `\`, "/")
}

// within joins a new directory to the current one, relative to the session's.
func within(to, dir, root string) string {
	switch {
	case to == ".":
		return dir
	case to == "" || to == root, strings.HasPrefix(to, "$") && strings.Contains(to, "--show-toplevel"):
		return ""
	case strings.HasPrefix(to, "/"), strings.HasPrefix(to, "~"), strings.HasPrefix(to, "$"), drivePrefix(to, 0) > 0:
		if r := relative(to, root); r == "." {
			return ""
		} else if r != to {
			return path.Clean(r)
		}
		return to
	}
	if _, _, windows := onDrive(root); windows {
		to = slashes(to)
	}
	if d := path.Join(dir, to); d != "." {
		return d
	}
	return ""
}

// portable reports whether a command means the same on another machine and day: no local paths, no
// substitutions, no redacted secrets, no inline script.
func (s step) portable() bool {
	if len(s.key) > 120 || strings.ContainsAny(s.key, "\n$`") || strings.Contains(s.key, "[redacted") {
		return false
	}
	for _, w := range s.words {
		w = shell.Unquote(w)
		if strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~") || strings.Contains(w, "=/") || strings.Contains(w, "/tmp/") || drivePrefix(w, 0) > 0 {
			return false
		}
		if strings.ContainsAny(w, " ;") && (len(w) > 40 || s.words[0] != "git") {
			return false // inline code, messages
		}
	}
	return !strings.HasPrefix(s.dir, "/") && !strings.HasPrefix(s.dir, "~") && !strings.HasPrefix(s.dir, "..") &&
		!strings.HasPrefix(s.dir, "$") && drivePrefix(s.dir, 0) == 0
}

// part returns the only package of a workspace to which a task is confined, as named, or "".
func (s step) part() (one string) {
	if !workspaces.Has(s.words[0]) {
		return ""
	}
	for i, w := range s.words[1:] {
		name, value, given := strings.Cut(w, "=")
		if !picking.Has(name) && !(name == "-w" && s.words[0] == "npm") {
			continue
		}
		if !given && i+2 < len(s.words) {
			value = s.words[i+2]
		}
		value = shell.Unquote(value)
		if one != "" || strings.ContainsAny(value, "*!{[^") || strings.HasPrefix(value, ".") || strings.HasSuffix(value, "...") {
			return ""
		}
		one = value
	}
	return one
}

var workspaces = set("npm pnpm yarn bun turbo")

// tool returns the word for the task of a task runner or the subcommand of a program: "lint" of
// `mise run lint`, "test" of `go test ./...`.
func (s step) tool() string {
	if len(s.words) == 0 {
		return ""
	}
	program, words := s.words[0], s.words[1:]
	isFlag := func(w string) bool { return strings.HasPrefix(w, "-") }
	switch path.Base(program) {
	case "npx", "bunx":
		i := slices.IndexFunc(words, func(w string) bool { return !isFlag(w) })
		if i < 0 {
			return ""
		}
		if i+1 == len(words) || isFlag(words[i+1]) {
			return words[i]
		}
		return words[i] + " " + words[i+1]
	case "python", "python3", "node", "bash", "sh", "ruby", "deno", "tsx", "php":
		for i, w := range words {
			last := i+1 == len(words)
			switch {
			case !last && (w == "-m" || !isFlag(w) && strings.HasSuffix(w, "manage.py")):
				return words[i+1]
			case !isFlag(w):
				return path.Base(w)
			}
		}
		return ""
	case "npm", "bun", "mise", "uv", "poetry", "pipenv", "hatch", "pdm", "composer", "deno-task", "bundle", "yarn", "pnpm", "turbo":
		valued := func(w string) bool { return picking.Has(w) || placing.Has(w) || w == "-w" && program == "npm" }
		task, _ := argument(words, valued, func(w string) bool { return w == "run" || w == "exec" })
		return task
	}
	if task, ok := argument(words, fileFlag.Has, shell.IsAssignment); ok {
		return task
	}
	return path.Base(program)
}

// Flags with a value: for a task's package, for its place, and of other programs.
var picking, placing, fileFlag = set("workspace --workspace --filter -F"), set("--prefix -C"), set("-C -f -p")

// argument returns the first word that is no flag, no value of one and not passed over.
func argument(words []string, valued, passed func(string) bool) (string, bool) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case valued(w):
			i++
		case !strings.HasPrefix(w, "-") && !passed(w):
			return w, true
		}
	}
	return "", false
}
