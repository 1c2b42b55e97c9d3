package dream

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// doings lists the sessions' actions that a skill may mention. It is an allowlist, because
// forbidden text has too many forms.
type doings struct {
	commands map[string]bool // successful lines, whole, and each command of a chain of &&
	simple   []string        // those that are one command of plain words, each once
	paths    []string        // of edited files, each once
	programs map[string]bool // that the sessions ran, in their spelling
	words    map[string]bool // stems of the words of the workflow and the sessions
}

// saidBy is the number of sessions that make a word their jargon.
const saidBy = 2

func newDoings(w Workflow, sessions []Account) doings {
	d := doings{commands: map[string]bool{}, programs: map[string]bool{}, words: map[string]bool{}}
	said := map[string]int{}
	for _, s := range sessions {
		for _, step := range s.Steps {
			if step.Command != "" {
				d.ran(step.Command)
			} else if isPath(step.Path) && !isOwn(step.Path) && !slices.Contains(d.paths, step.Path) {
				d.paths = append(d.paths, step.Path)
			}
		}
		mine := map[string]bool{}
		for _, text := range s.Said {
			eachStem(text, func(stem string) { mine[stem] = true })
		}
		for stem := range mine {
			said[stem]++
		}
	}
	for stem, n := range said {
		d.words[stem] = d.words[stem] || n >= saidBy
	}
	eachStem(w.Text+" "+w.Body, func(stem string) { d.words[stem] = true })
	return d
}

var (
	// plainLine matches a line without shell syntax except &; each command between && ran.
	plainLine = pattern.New(`^[\w./:=@%+,~^& \t-]+$`)
	// moved matches a change of folder at the beginning of a line.
	moved = pattern.New("^(?:cd[ \\t]+(?:[\\w./~+@%-]+|\"[^\"$`\\\\!]*\"|'[^']*')[ \\t]*&&[ \\t]*)+")
	// setting matches a word that sets a variable.
	setting = pattern.New(`^\w+=`)
	// own matches text valid on one machine only, or a removed secret.
	own = pattern.New(`(?i)/home/|/users/|\\users\\|/root/|/tmp/|/var/folders/|\[redacted:`)
	// ours matches our own commands, branches and settings, which may decide for a person.
	ours = pattern.New(`(?i)(?:^|[^a-z0-9])reverie(?:[^a-z0-9]|$)`)
)

// steering lists words that may prevent the rest of their line from running, or change its meaning.
var steering = pattern.NewWords(`exit exec return logout suspend break continue eval source . trap set shopt alias unalias command
	builtin enable hash export declare typeset readonly local unset coproc function time if then elif else fi for while until do
	done case esac select in`)

// isOwn reports whether a text is unfit to share, or unfit as an instruction to an agent.
func isOwn(text string) bool {
	return strings.ContainsAny(text, "\n\r`") || strings.ContainsFunc(text, hidden) || own.MatchString(text) || ours.MatchString(unquoted(text))
}

// unquoted removes characters from a text that may split a word without changing it for a shell.
func unquoted(text string) string {
	return strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(text)
}

// ran adds a successful command line. In a chain, cd DIR && a && b, each command succeeded. With
// other shell syntax (||, ;, |, if, quotes) it is unknown which parts ran, so the line counts only
// as a whole.
func (d *doings) ran(line string) {
	line = strings.Trim(line, " \t\r\n")
	rest := line
	if at := moved.FindStringIndex(line); at != nil && !parted(line[at[1]:]) {
		rest = line[at[1]:]
	}
	for _, whole := range []string{line, rest} {
		if whole != "" && !isOwn(whole) {
			d.commands[whole] = true
		}
	}
	if !plainLine.MatchString(rest) {
		if first, _, found := strings.Cut(rest, " "); found && !strings.ContainsAny(rest, ";&|(){}`$<#!\n\r") {
			d.program(first)
		}
		return
	}
	var parts []string
	for part := range strings.SplitSeq(rest, "&&") {
		words := strings.Fields(part)
		if len(words) == 0 || strings.Contains(part, "&") {
			return
		}
		parts = append(parts, strings.Join(words, " "))
	}
	steers := func(part string) bool {
		words := strings.Fields(part)
		return steering.Has(words[0]) || !slices.ContainsFunc(words, func(w string) bool { return !setting.MatchString(w) })
	}
	if len(parts) > 1 && slices.ContainsFunc(parts, steers) {
		return
	}
	for _, part := range append(parts, strings.Join(parts, " && ")) {
		if isOwn(part) {
			continue
		}
		d.commands[part] = true
		if !strings.Contains(part, "&&") && !slices.Contains(d.simple, part) {
			d.simple = append(d.simple, part)
			d.program(strings.Fields(part)[0])
		}
	}
}

// parted reports whether a line is more than one chain of && and |: its earlier part then decides
// its effect.
func parted(line string) bool {
	line = strings.NewReplacer("&&", "", ">&", "", "&>", "").Replace(line)
	return strings.ContainsAny(line, ";&\n\r") || strings.Contains(line, "||")
}

// program adds the first word of a command.
func (d *doings) program(word string) {
	if plainLine.MatchString(word) && !strings.ContainsAny(word, "=&") && !steering.Has(word) && !isOwn(word) {
		d.programs[word] = true
	}
}

// isPath reports whether the name of a file is unambiguous: one with a space may be a command.
func isPath(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !isLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("._/+@[]-", r)
	})
}

// honest reports whether a line is plain words plus, in code marks, commands that the sessions ran,
// or files that they edited if the line says to edit them.
func (d doings) honest(line string) bool {
	parts := strings.Split(line, "`")
	if len(parts)%2 == 0 || strings.ContainsFunc(line, hidden) {
		return false // an open mark
	}
	editing := false
	for i, part := range parts {
		if i%2 == 1 {
			if !d.has(part) && !(editing && d.edited(part)) {
				return false
			}
			continue
		}
		first, last := i == 0, i == len(parts)-1
		if !first && !afterMark.MatchString(part) || !last && !beforeMark.MatchString(part) || !first && !last && part == "" || !d.prose(part) {
			return false
		}
		editing = edits(part, editing)
	}
	return true
}

// Code ends at its marks.
var (
	afterMark  = pattern.New(`^[` + closing + `]*(?: |$)`)
	beforeMark = pattern.New(`(?:^| )[` + opening + `]*$`)
)

// edits reports whether a piece of prose says to edit the following code. was is the result for the
// text before it.
func edits(part string, was bool) bool {
	prev := ""
	for w := range strings.FieldsSeq(part) {
		word := strings.ToLower(strings.Trim(w, opening+ends))
		switch {
		case editing.Has(word):
			was = was || !naming.Has(prev)
		case running.Has(word), eitherWay.Has(word) && (prev == "" || joining.Has(prev)):
			was = false
		}
		if strings.ContainsAny(w[len(w)-1:], ".;:!?") {
			was = false
		}
		prev = word
	}
	return was
}

// gap matches the placeholder of a word that changes from run to run, or of a part of one.
var gap = pattern.New(`<[A-Za-z][A-Za-z0-9 _-]*>`)

// has reports whether sessions ran a command. A gap may replace a part in which two of their
// commands differ, but neither the program nor its action.
func (d doings) has(text string) bool {
	if d.commands[text] {
		return true
	}
	at := gap.FindStringIndex(text)
	if at == nil {
		return false
	}
	before := text[:at[0]]
	words := len(strings.Fields(before))
	if words == 0 || words == 1 && strings.HasSuffix(before, " ") && (at[1] == len(text) || text[at[1]] == ' ') || words == 1 && !strings.Contains(before, " ") {
		return false
	}
	return d.differ(text, d.simple)
}

// edited reports whether sessions edited a file, or one in a folder.
func (d doings) edited(text string) bool {
	return text != "" && slices.ContainsFunc(d.paths, func(p string) bool {
		return p == text || strings.HasSuffix(text, "/") && strings.HasPrefix(p, text)
	}) || gap.MatchString(text) && !strings.HasPrefix(text, "<") && d.differ(text, d.paths)
}

// differ reports whether a text with gaps is the common form of two actions.
func (d doings) differ(text string, done []string) bool {
	var form strings.Builder
	form.WriteString("^")
	rest := text
	for at := gap.FindStringIndex(rest); at != nil; at = gap.FindStringIndex(rest) {
		if !d.names(rest[at[0]+1 : at[1]-1]) {
			return false
		}
		form.WriteString(regexp.QuoteMeta(rest[:at[0]]) + "[^\\s;&|$`<>\"'\\\\(){}]+")
		rest = rest[at[1]:]
	}
	form.WriteString(regexp.QuoteMeta(rest) + "$")
	whole, err := regexp.Compile(form.String())
	if err != nil {
		return false
	}
	n := 0
	for _, one := range done {
		if whole.MatchString(one) {
			n++
		}
	}
	return n >= 2
}

// names reports whether the label of a gap is valid: one or a few plain words.
func (d doings) names(label string) bool {
	words := strings.FieldsFunc(label, func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	if len(words) == 1 {
		word := strings.ToLower(words[0])
		return !secrets.has(wording.Stem(word)) && !d.isProgram(word)
	}
	return len(words) <= 3 && d.prose(strings.Join(words, " "))
}

// isProgram reports whether a word of prose is the name of a program. A program that the sessions
// ran may be named like a common word: test, find.
func (d doings) isProgram(word string) bool {
	if programs.Has(word) {
		return true
	}
	if general.has(wording.Stem(word)) {
		return false
	}
	for p := range d.programs {
		if p = strings.ToLower(p); word == p || word == strings.TrimSuffix(path.Base(p), ".exe") {
			return true
		}
	}
	return false
}
