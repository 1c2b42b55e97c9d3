package reflect

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Failure and repair: the same command fails and later succeeds, and the acts between decide. One
// command that prepares the ground is knowledge; edits of code are everyday work.

// maxOpen bounds the commands with an open failure that are followed at once.
const maxOpen = 256

// findFixes examines each command that failed and later succeeded.
func findFixes(v *view) []finding {
	var out []finding
	failed := map[string]failure{}
	for i, a := range v.acts {
		if a.edit || readOnly.Has(a.step.words[0]) {
			continue
		}
		key := a.agent + "\x00" + a.step.dir + "\x00" + a.step.key
		before, found := failed[key]
		switch {
		case a.outcome == transcript.Failed && found && i-before.last < maxActs:
			if v.partial(before.last, i) {
				before.half = append(before.half, [2]int{before.last, i})
			}
			before.half = before.half[max(0, len(before.half)-maxHalf):]
			failed[key] = failure{before.first, i, before.half}
		case a.outcome == transcript.Failed && len(failed) < maxOpen:
			failed[key] = failure{first: i, last: i}
		case a.outcome == transcript.OK && found:
			delete(failed, key)
			if i-before.last < maxActs {
				out = append(out, v.repairs(before, i)...)
			}
		}
	}
	return out
}

// A failure is a command that failed and has not succeeded since, as indexes of acts.
type failure struct {
	first, last int
	half        [][2]int // failures whose error was gone at the next one, with that one
}

// maxHalf bounds the reported errors of one command.
const maxHalf = 4

// partial reports whether two failures of one command have different errors, so that the acts
// between repaired the first. It counts only if the command finally succeeds.
func (v *view) partial(from, to int) bool {
	a, b := v.sign(from), v.sign(to)
	return a.text != "" && b.text != "" && a.text != b.text && a.env
}

// repairs makes the candidates of a command that finally succeeded at act ok. If a variable had
// several values, the final one counts, against the first failure.
func (v *view) repairs(f failure, ok int) []finding {
	if newEnv(v.acts[f.first].step, v.acts[ok].step) != "" && ok-f.first < maxActs {
		if out := v.repaired(f.first, ok); len(out) > 0 {
			return out
		}
	}
	var out []finding
	for _, h := range f.half {
		from, to := v.acts[h[0]].step, v.acts[h[1]].step
		if newEnv(from, to) == "" || newEnv(v.acts[ok].step, to) == "" {
			out = append(out, v.repaired(h[0], h[1])...)
		}
	}
	return append(out, v.repaired(f.last, ok)...)
}

// repaired makes the candidate of a command that failed at act from and succeeded at act to.
func (v *view) repaired(from, to int) []finding {
	f, ok := v.acts[from], v.acts[to]
	if !worthFixing(f.step) || !f.step.portable() {
		return nil
	}
	sig := v.sign(from)
	if sig.text == "" || sig.odd || redacted.MatchString(sig.text) || unsteady.MatchString(sig.text) {
		return nil
	}
	var code, config int
	var helpers []act
	for _, a := range v.acts[from+1 : to] {
		switch {
		case a.agent != f.agent, a.call == f.call:
		case a.edit && v.configEdit(a):
			config++
		case a.edit:
			code++
		case a.step.key == f.step.key, looks(a.step), a.outcome == transcript.Failed,
			a.outcome == transcript.Unknown && a.call != ok.call && !starts(a.step) && !v.prescribed(f, a.step):
		case weakens(a.step.words[0], a.step.words, a.step.env):
			return nil
		case (prepares(a.step, sig) || v.prescribed(f, a.step)) && a.step.portable() && !namesSource(a.step):
			helpers = appendHelper(helpers, a)
		case changes(a.step) && !cleans(a.step), namesSource(a.step):
			code++ // something else changed: the repair is uncertain
		}
	}
	if weakens("", nil, ok.step.env) && !weakens("", nil, f.step.env) {
		return nil
	}
	if env := newEnv(f.step, ok.step); env != "" && len(helpers) == 0 && code == 0 && (sig.env || namesOne(sig.text, env)) {
		return []finding{{Candidate: v.envFix(f, ok, sig, env)}}
	}
	if len(helpers) == 0 || len(helpers) > 2 {
		return nil
	}
	if (code > 0 || config > 0) && !(sig.env && related(helpers, sig)) && !v.prescribed(f, helpers[0].step) {
		return nil
	}
	return []finding{{Candidate: v.prepareFix(f, ok, sig, helpers)}}
}

// unsteady matches errors that come and go by themselves: the acts between prove nothing.
var unsteady = lazy(`(?i)timed? ?out|timeout|etimedout|econnreset|socket hang up|rate.?limit|too many requests|\b(?:429|` +
	`502|503|504)\b|temporar|flak|try again|network (?:error|is unreachable)|lock file .* exists|index\.lock|` +
	`eaddrinuse|address already in use|another (?:process|instance)|interrupted|killed|could not be found in this WSL`)

// related reports whether the helper repaired the error although files were edited too: it came
// after the last edit, or the error mentions its effect.
func related(helpers []act, sig signature) bool {
	text := strings.ToLower(sig.text)
	for _, h := range helpers {
		for _, w := range h.step.words {
			w = strings.ToLower(strings.Trim(shell.Unquote(w), "./-"))
			if len(w) > 3 && strings.Contains(text, w) {
				return true
			}
		}
		if serviceError.MatchString(sig.text) && starts(h.step) {
			return true
		}
		if moduleError.MatchString(sig.text) && (installs(h.step) || outfits(h.step)) {
			return true
		}
	}
	return false
}

// prescribed reports whether a failed command printed another one, which changes nothing durable
// and is no test that it ran itself.
func (v *view) prescribed(f act, s step) bool {
	return len(s.words) > 1 && !strings.HasSuffix(purpose(s), "tests") && !changes(s) && !looks(s) && !oneTime.Has(s.words[0]) && s.words[0] != "git" && mentions(v.events[f.result].Text, s.key)
}

// appendHelper adds a helper unless the list has it. A helper that only sets up its own shell
// replaces an earlier one of the same program, whose shell has ended.
func appendHelper(list []act, a act) []act {
	for i, b := range list {
		if b.step.key == a.step.key {
			return list
		}
		if b.step.words[0] == a.step.words[0] && ofShell.Has(a.step.words[0]) {
			list[i] = a
			return list
		}
	}
	return append(list, a)
}

// ownVariables belong to a person's machine, or only increase output.
var ownVariables = set("HOME PATH USER SHELL TMPDIR TERM DEBUG VERBOSE CI NO_COLOR FORCE_COLOR LOG_LEVEL RUST_BACKTRACE PAGER EDITOR LANG LC_ALL")

// namesOne reports whether a text names one of the variables of a list NAME=value ….
func namesOne(text, list string) bool {
	for _, e := range strings.Fields(list) {
		name, _, _ := strings.Cut(e, "=")
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// newEnv returns the names of variables that were set when the command succeeded but not when it
// failed.
func newEnv(f, ok step) string {
	had := map[string]string{}
	for _, e := range f.env {
		name, value, _ := strings.Cut(e, "=")
		had[name] = value
	}
	var names []string
	for _, e := range ok.env {
		name, value, _ := strings.Cut(e, "=")
		if old, found := had[name]; (!found || old != value) && !ownVariables.Has(name) {
			switch {
			case redacted.MatchString(value), strings.Contains(value, "/"), strings.Contains(value, "$"), len(value) > 30:
				names = append(names, name)
			default:
				names = append(names, name+"="+value)
			}
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return ""
	}
	return strings.Join(names, " ")
}

// prepareFix states: before this command, run that one.
func (v *view) prepareFix(f, ok act, sig signature, helpers []act) record.Candidate {
	names := make([]string, len(helpers))
	for i, h := range helpers {
		names[i] = show(h.step, f.step.dir)
	}
	does := "`" + strings.Join(names, "`, then `") + "`"
	failing := show(f.step, "")
	fails := v.fails(f, sig)
	text := "Before `" + failing + "`, run " + does + ": else it " + fails + "."
	if len(helpers) == 1 && formatting.MatchString(helpers[0].step.key) && !preparing.MatchString(helpers[0].step.key) {
		text = "When `" + failing + "` " + fails + ", run " + does + "."
	}
	c := record.Candidate{
		Kind:  record.Failure,
		Text:  text,
		Body:  "`" + failing + "` failed; after " + does + " the same command succeeded.",
		Topic: "before " + fTopic(f.step),
		How:   record.Seen,
	}
	c.Evidence = append(c.Evidence, v.quoteError(f, sig))
	for _, h := range helpers {
		c.Evidence = append(c.Evidence, v.quoteCommand(h))
	}
	c.Evidence = append(c.Evidence, v.quoteCommand(ok))
	if f.step.dir != "" {
		c.Paths = []string{f.step.dir + "/**"}
	}
	return triggered(c, f, sig)
}

// envFix states: this command needs that variable.
func (v *view) envFix(f, ok act, sig signature, env string) record.Candidate {
	failing := show(f.step, "")
	c := record.Candidate{
		Kind:     record.Failure,
		Text:     "Run `" + failing + "` with `" + env + "` set: else it " + v.fails(f, sig) + ".",
		Body:     "The same command failed without it and succeeded with it, with nothing else changed between.",
		Topic:    "environment of " + fTopic(f.step),
		How:      record.Seen,
		Evidence: []record.Evidence{v.quoteError(f, sig), v.quoteCommand(ok)},
	}
	if f.step.dir != "" {
		c.Paths = []string{f.step.dir + "/**"}
	}
	return triggered(c, f, sig)
}

// findHooks looks for tasks that a git hook also runs: the hook's output for its failed command
// equals the task's output or error.
func findHooks(v *view) []finding {
	hooks := map[string]act{} // failed commits and pushes, by their last command and by their error
	passed := map[string]bool{}
	for i, a := range v.acts {
		switch {
		case a.edit:
		case a.outcome == transcript.OK:
			passed[a.step.key] = true
		case a.outcome == transcript.Failed && a.step.words[0] == "git" && worthFixing(a.step) && a.step.portable():
			hooks["$ "+lastRun(v.events[a.result].Text)] = a
			if sig := v.sign(i); !sig.env && !sig.odd { // an error of the environment may affect any command
				hooks[sig.text] = a
			}
		}
	}
	delete(hooks, "")
	delete(hooks, "$ ")
	if len(hooks) == 0 {
		return nil
	}
	var out []finding
	told := map[string]bool{}
	for i, a := range v.acts {
		if a.edit || told[a.step.key] || !passed[a.step.key] || !projectRunner(a.step) || narrow(a.step) || !a.step.portable() {
			continue
		}
		f, found := hooks["$ "+lastRun(v.events[a.result].Text)]
		if !found && a.outcome == transcript.Failed {
			f, found = hooks[v.sign(i).text]
		}
		if !found || f.agent != a.agent || f.step.dir != a.step.dir {
			continue
		}
		told[a.step.key] = true
		out = append(out, finding{Candidate: record.Candidate{
			Kind: record.Failure, How: record.Seen, Topic: "before " + fTopic(f.step), Command: head(f.step),
			Text:     "Before `" + head(f.step) + "`, run `" + show(a.step, "") + "`: its hook runs the same, and stops where that fails.",
			Evidence: []record.Evidence{v.quoteCommand(f), v.quoteCommand(a)},
		}})
	}
	return out
}

// lastRun returns the last command that a runner printed before running it.
func lastRun(output string) string {
	at := strings.LastIndex("\n"+output, "\n$ ")
	if at < 0 {
		return ""
	}
	output = output[at:]
	line, _, _ := strings.Cut(output, "\n")
	return strings.TrimSpace(line)
}

// show returns a step as a reader would type it from the session's directory, or from dir, without
// the selection of one test.
func show(s step, dir string) string {
	words := make([]string, 0, len(s.words))
	for i, w := range s.words {
		if flag, value := s.selection(i); !flag && !value {
			words = append(words, w)
		}
	}
	key := strings.Join(words, " ")
	if s.dir != "" && s.dir != dir {
		return "cd " + s.dir + " && " + key
	}
	return key
}

// selection reports whether the word at an index is a flag that selects tests, or its value.
func (s step) selection(i int) (flag, value bool) {
	if i == 0 || s.words[0] == "make" || !strings.HasSuffix(purpose(s), "tests") && !strings.HasSuffix(jobNamed(s.words[0]), "tests") &&
		!slices.ContainsFunc(s.words[:i], runners.Has) {
		return false, false // make -k has no value, and docker build -t names an image
	}
	name, _, _ := strings.Cut(s.words[i], "=")
	return selects.Has(name), selects.Has(s.words[i-1]) && !strings.HasPrefix(name, "-")
}

// runners lists programs that run tests whatever the name of their task.
var runners = set("mocha tox nox pytest")

// selects lists flags that select tests, with their value behind a "=" or in the next word.
var selects = set("-run --run -k -t -g --grep --testNamePattern --tests --only")

// fTopic returns the topic of a command, in a word or two.
func fTopic(s step) string {
	return strings.TrimSpace(path.Base(s.words[0]) + " " + s.tool())
}
