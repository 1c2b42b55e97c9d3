package reflect

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Contrast: a command that failed and another spelling of the same work that passed soon
// after, with nothing edited between. That alone proves little. The lesson is what differs,
// and only where the error speaks of that, or the first spelling failed the same way again.

// window bounds the acts between a failed command and its replacement.
const window = 12

// findVariants looks for a command that never passed and another spelling of it that did soon
// after. An error that no spelling repaired and that blames the command itself, or its
// surroundings, is told as weak: other sessions may know it.
func findVariants(v *view) []finding {
	passed := map[string]bool{} // at some time
	place := func(s step) string { return s.dir + "\x00" + s.key + "\x00" + strings.Join(s.env, " ") }
	failures := map[string]int{} // by command head and signature
	for i, a := range v.acts {
		switch {
		case a.edit:
		case a.outcome == transcript.OK:
			passed[place(a.step)] = true
		case a.outcome == transcript.Failed && !readOnly.Has(a.step.words[0]):
			failures[head(a.step)+"\x00"+v.sign(i).text]++
		}
	}
	var out []finding
	told := map[string]bool{}
	for i, f := range v.acts {
		if f.edit || f.outcome != transcript.Failed || passed[place(f.step)] || readOnly.Has(f.step.words[0]) || oneTime.Has(f.step.words[0]) ||
			!f.step.here() || asksForHelp(f.step) {
			continue
		}
		sig := v.sign(i)
		if sig.text == "" || redacted.MatchString(sig.text) || unsteady.MatchString(sig.text) {
			continue
		}
		again := failures[head(f.step)+"\x00"+sig.text] > 1
		if c, found := v.otherSpelling(i, sig, again, func(s step) bool { return passed[place(s)] }); found {
			out = append(out, finding{Candidate: c})
			told[sig.text] = true
		} else if what := v.blames(f, sig); what != "" && errorQuote(sig.text) != "" && !told[sig.text] {
			c := record.Candidate{
				Kind: record.Failure, How: record.Seen, Weak: true, Topic: "how to run " + jobOf(f.step),
				Text:     "`" + what + "` " + v.fails(f, sig) + " here.",
				Evidence: []record.Evidence{v.quoteError(f, sig), v.quoteCommand(f)},
			}
			out = append(out, finding{Candidate: triggered(c, f, sig)})
		}
	}
	return out
}

// otherSpelling makes the candidate of the act that failed at i and the first act after it
// that does the same work, spelled as the error asks for.
func (v *view) otherSpelling(i int, sig signature, again bool, passes func(step) bool) (record.Candidate, bool) {
	f := v.acts[i]
	for j, a := range v.acts[i+1 : min(len(v.acts), i+1+window)] {
		if a.agent != f.agent || a.call == f.call {
			continue
		}
		if a.edit {
			break
		}
		text := "" // another error of the code shows as well that the first is gone
		if a.outcome == transcript.OK || a.outcome == transcript.Failed && passes(a.step) && !v.sign(i+1+j).env {
			text = v.contrast(f, a, sig, again)
		} else if !strings.Contains(v.events[a.result].Text, sig.line) {
			text = unwrapped(f.step, a.step, sig)
		}
		if text == "" && !usage.MatchString(v.sign(i+1+j).text) {
			text = becameSubcommand(f.step, a.step, sig)
		}
		if text == "" {
			if changesGround(a.step, sig) {
				break
			}
			continue
		}
		c := record.Candidate{
			Kind:     record.Failure,
			Text:     text + ": that " + v.fails(f, sig) + ".",
			Body:     "Seen in one session: the first failed in this way, the second right after did not, with nothing edited between.",
			Topic:    "how to run " + jobOf(f.step),
			How:      record.Seen,
			Evidence: []record.Evidence{v.quoteError(f, sig), v.quoteCommand(a)},
		}
		if f.step.dir != "" && f.step.dir == a.step.dir {
			c.Paths = []string{f.step.dir + "/**"}
		}
		return triggered(c, f, sig), true
	}
	return record.Candidate{}, false
}

// contrast says what to run instead of a command that failed, in the words of one that
// passed. It is empty where they do other work, where the error does not explain the
// difference, or where the difference takes a check away.
func (v *view) contrast(f, a act, sig signature, again bool) string {
	from, to := f.step, a.step
	out := v.events[f.result].Text
	if !to.here() || installs(to) || installsNew(to) || namesSource(to) != namesSource(from) {
		return ""
	}
	if from.key == to.key {
		return otherPlace(from, to, sig, out)
	}
	if from.dir != to.dir {
		return ""
	}
	gone, come := differ(from.words, to.words)
	if weakens(to.words[0], come, to.env) {
		return ""
	}
	if text := unwrapped(from, to, sig); text != "" {
		return text
	}
	if d := (difference{from, to, gone, come}); !d.explained(sig, out, again) {
		return ""
	}
	if spell(to) == spell(from) {
		return "" // they differ only in what a statement leaves open
	}
	return "Run `" + spell(to) + "`, not `" + spell(from) + "`"
}

// otherPlace is contrast for one command in two directories, or with another variable. findFixes
// tells of variables that are set.
func otherPlace(from, to step, sig signature, out string) string {
	switch unset := unsetEnv(from, to); {
	case from.dir == to.dir && unset != "" && mentions(out, unset):
		return "Run `" + spell(from) + "` with `" + unset + "` unset, not set"
	case from.dir != to.dir && from.portable() && to.portable() &&
		(mentions(sig.names, from.tool()) && notHere.MatchString(sig.text) || projectFile.MatchString(sig.text)):
		return "Run `" + strings.Join(from.words, " ") + "` in " + where(to.dir) + ", not in " + where(from.dir)
	}
	return ""
}

// difference holds two commands, and the words that each has alone.
type difference struct {
	from, to   step
	gone, come []string
}

// explained reports whether the error of the first command explains the difference. again reports
// whether that command had failed the same way before.
func (d difference) explained(sig signature, out string, again bool) bool {
	from, to, gone, come := d.from, d.to, d.gone, d.come
	n, m := len(from.words), len(to.words)
	switch {
	case from.words[0] == to.words[0] && from.tool() != to.tool() && shares(gone, come): // another way to do it
		return again && (sig.odd || usage.MatchString(sig.text))
	case narrow(to) && !narrow(from):
	case n > m && slices.Equal(from.words[n-m:], to.words): // a wrapper taken off
		return again && m > 1
	case m > n && slices.Equal(to.words[m-n:], from.words): // a runner in front
		return (sig.env || mentions(sig.names, from.words[0])) && !sameProgram(from.words[0], to.words[0])
	case from.words[0] != to.words[0]: // another program for the same words, an interpreter
		return len(gone) == 1 && len(come) == 1 && n > 1 && !sameProgram(gone[0], come[0]) &&
			(mentions(sig.names, gone[0]) || sig.env && from.tool() == to.tool())
	case from.tool() == to.tool() || slices.Contains(gone, from.tool()) || slices.Contains(come, to.tool()):
		flag := func(w string) bool { return strings.HasPrefix(w, "-") }
		if slices.ContainsFunc(come, lookFlag.Has) {
			return false
		}
		named := func(w string) bool {
			return usage.MatchString(sig.text) && mentions(sig.names, strings.SplitN(w, "=", 2)[0])
		}
		asked := func(w string) bool { return len(w) > 3 && mentions(out, w) }
		alike := n > 1 && (head(from) == head(to) || len(come) == 0)
		return alike && !everywhere(from) && slices.ContainsFunc(gone, func(w string) bool { return flag(w) && named(w) }) ||
			alike && sig.env && slices.ContainsFunc(come, func(w string) bool { return flag(w) && asked(w) }) ||
			2*len(gone) <= n && slices.Contains(gone, from.tool()) && named(from.tool()) ||
			sig.env && len(gone) == 0 && slices.ContainsFunc(come, flag) && (n > 1 || projectRunner(from))
	}
	return false
}

var (
	// notHere says that something is missing; projectFile is what a directory has that is a project's.
	notHere     = lazy(`(?i)not found\b|\bno (?:such|rule|target)\b|(?:cannot|can't|could not) find|missing`)
	projectFile = lazy(`(?i)\b(?:makefile|justfile|package\.json|go\.mod|go\.work|cargo\.toml|pyproject\.toml|pom\.xml|gemfile|not a git repository)\b`)
)

// unwrapped says to run a command without the wrapper that does not know it.
func unwrapped(from, to step, sig signature) string {
	if !usage.MatchString(sig.text) || !mentions(sig.names, to.words[0]) || !from.here() {
		return ""
	}
	for i := 1; i < len(from.words); i++ {
		if from.words[i] == to.words[0] && slices.Equal(canonical(slices.Clone(from.words[i:])), to.words) {
			return "Run `" + to.words[0] + " …`, not `" + strings.Join(from.words[:i+1], " ") + " …`"
		}
	}
	return ""
}

// becameSubcommand says to run a program that is not there as a subcommand, as `docker compose` for
// `docker-compose`.
func becameSubcommand(from, to step, sig signature) string {
	if len(to.words) < 2 || from.words[0] != to.words[0]+"-"+to.words[1] || sig.text != from.words[0]+": command not found" {
		return ""
	}
	return "Run `" + to.words[0] + " " + to.words[1] + " …`, not `" + from.words[0] + " …`"
}

// differ are the words that only one of two commands has, in order.
func differ(a, b []string) (gone, come []string) {
	rest := slices.Clone(b)
	for _, w := range a {
		if i := slices.Index(rest, w); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			gone = append(gone, w)
		}
	}
	return gone, rest
}

// shares tells whether two lists of words speak of one thing by its number or name: `pr edit
// 15` and `api pulls/15`.
func shares(a, b []string) bool {
	for _, w := range a {
		if w = shell.Unquote(w); len(w) > 1 && !strings.HasPrefix(w, "-") && strings.ContainsFunc(w, unicode.IsDigit) &&
			slices.ContainsFunc(b, func(o string) bool { return strings.HasSuffix(o, w) }) {
			return true
		}
	}
	return false
}

// sameProgram tells whether two names are those of one program on two machines.
func sameProgram(a, b string) bool {
	return strings.TrimSuffix(a, "3") == strings.TrimSuffix(b, "3") || path.Base(a) == b && strings.HasPrefix(a, "/") || path.Base(b) == a && strings.HasPrefix(b, "/")
}

// weakening matches words that switch a check off. Nothing that has one is a remedy.
var weakening = lazy(`(?i)^-{1,2}(?:no-(?:verify|check|strict|fail|gpg-sign|lint|test)\S*|force\S*|skip\S*|ignore\S*|pass-?with-?no-?tests|allow-\S+|` +
	`exit-zero|insecure|disable\S*|k|D?skip\S*)(?:=.*)?$|^(?:\w*(?:SKIP|NO_VERIFY|IGNORE|DISABLE|INSECURE|UNAUTHORIZED|FORCE)\w*|HUSKY|LEFTHOOK)=|hookspath`)

// weakens tells whether words or variables of a program's take a check away.
func weakens(program string, words, env []string) bool {
	return program == "git" && slices.Contains(words, "-f") || slices.ContainsFunc(words, weakening.MatchString) || slices.ContainsFunc(env, weakening.MatchString)
}

// unsetEnv is the variable that the second of two commands runs without, empty if none.
func unsetEnv(f, ok step) string {
	for _, e := range ok.env {
		if name, value, _ := strings.Cut(e, "="); value == "" && !slices.Contains(f.env, e) && !ownVariables.Has(name) && !weakening.MatchString(e) {
			return name
		}
	}
	return ""
}

func where(dir string) string {
	if dir == "" {
		return "the root of the repository"
	}
	return "`" + dir + "`"
}

// blames is the part of a command that its error is about, empty if that is something else:
// an option, a subcommand or a program that is not there. A short output about the
// environment is about the whole command.
func (v *view) blames(f act, sig signature) string {
	s, what := f.step, ""
	for i, w := range s.words {
		switch name, _, _ := strings.Cut(w, "="); {
		case !mentions(sig.names, name) || !usage.MatchString(sig.text):
		case strings.HasPrefix(w, "-") && everywhere(s):
			return ""
		case strings.HasPrefix(w, "-"):
			return head(s) + " " + name
		case i == 0 && strings.Contains(sig.text, "not found"), i > 0 && i < 3 && !slices.ContainsFunc(s.words[1:i+1], isValue):
			what = strings.Join(s.words[:i+1], " ")
		}
	}
	if what != "" {
		return what
	}
	if name, found := strings.CutSuffix(sig.text, ": command not found"); found && !slices.Contains(s.words, name) && !elsewhere(name) {
		return name // of a filter behind the command
	}
	if sig.env && s.portable() && !namesSource(s) && len(s.key) <= 60 && strings.Count(strings.TrimSpace(v.events[f.result].Text), "\n") < shortOutput {
		return show(s, "")
	}
	return ""
}

// everywhere reports whether a program is the same in every repository. A flag that it does not
// know says nothing about this one.
func everywhere(s step) bool { return s.words[0] == "git" || s.words[0] == "gh" }

// shortOutput is the maximum number of lines of an output that consists of nothing but its error.
const shortOutput = 5

// isValue tells whether a word of a command is what it works on: a flag, a path, a number, a
// name put together of several.
func isValue(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool { return r != '-' && r != ':' && r != '_' && !unicode.IsLetter(r) }) || strings.HasPrefix(w, "-") ||
		strings.Count(w, "-") > 1
}

// head is a program with its subcommands, two at most.
func head(s step) string {
	n := 1
	for n < min(3, len(s.words)) && !isValue(s.words[n]) {
		n++
	}
	return strings.Join(s.words[:n], " ")
}

// spell is a command as a statement shows it: what is of one machine or one day is left open.
func spell(s step) string {
	words := make([]string, 0, len(s.words))
	for i, w := range s.words {
		name, value, assigned := strings.Cut(w, "=")
		switch flag, test := s.selection(i); {
		case test:
			w = "…"
		case strings.Trim(w, "0123456789") == "":
			w = "N"
		case assigned && (!elsewhere(name) && elsewhere(value) || flag):
			w = name + "=…"
		case elsewhere(w), i > 1 && !strings.HasPrefix(w, "-") && (len(w) > 32 && strings.Contains(w, "/") && path.Ext(w) != "" ||
			strings.Count(w, "-") > 1 && !strings.ContainsAny(w, "./:@")):
			w = "…"
		case strings.Contains(w, "/"):
			w = digits.ReplaceAllString(w, "/N$1")
		}
		if len(words) == 0 || w != "…" || words[len(words)-1] != w {
			words = append(words, w)
		}
	}
	if s.dir != "" {
		return "cd " + s.dir + " && " + strings.Join(words, " ")
	}
	return strings.Join(words, " ")
}

var digits = lazy(`/\d+(/|$)`)

// elsewhere tells whether a word means something else on another machine or another day.
func elsewhere(w string) bool {
	w = shell.Unquote(w)
	return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~") || len(w) > 60 || strings.ContainsAny(w, " ;$`\n\\{") || strings.Contains(w, "[redacted")
}

// here tells whether a command can be shown as spell does, and runs in the repository.
func (s step) here() bool {
	return len(spell(s)) <= 120 && !elsewhere(s.words[0]) && !strings.HasPrefix(s.dir, "/") && !strings.HasPrefix(s.dir, "~") && !strings.HasPrefix(s.dir, "..")
}

// triggered gives a candidate the command and the error by which its lesson is recognised.
func triggered(c record.Candidate, f act, sig signature) record.Candidate {
	if !elsewhere(f.step.words[0]) {
		c.Command = head(f.step)
	}
	if why := errorQuote(sig.text); why != "" {
		c.Errors = []string{why}
	}
	return c
}

// changesGround tells whether a command between two variants may be what made the second work.
func changesGround(s step, sig signature) bool {
	return !readOnly.Has(s.words[0]) && (prepares(s, sig) && !projectRunner(s) || changes(s))
}

var lookFlag = set("--help -h --version -V --dry-run -n --list -l --debug --watch")

// jobOf is the job of a command, or the command's own name.
func jobOf(s step) string {
	if p := purpose(s); p != "" {
		return p
	}
	return fTopic(s)
}

// asksForHelp tells whether a command only says how to spell it.
func asksForHelp(s step) bool {
	return slices.Contains(s.words, "--help") || slices.Contains(s.words, "-h") || slices.Contains(s.words, "--version")
}

// sameWork tells whether two commands are spellings of one: the same program and subcommand, or
// one behind a runner.
func sameWork(a, b step) bool {
	n, m := len(a.words), len(b.words)
	return head(a) == head(b) || n > m && slices.Equal(a.words[n-m:], b.words) || m > n && slices.Equal(b.words[m-n:], a.words)
}
