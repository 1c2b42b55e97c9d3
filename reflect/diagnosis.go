package reflect

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Diagnosis: an agent's supposed cause of a failure, near a command that then passed. It is
// proposed as the agent's words and proves nothing.

// maxDiagnoses bounds the diagnoses proposed from one session.
const maxDiagnoses = 1

// Bounds of the events between a failure and a remark about it.
const (
	besideEvents = 60
	beyondEvents = 200 // about versions and documentation, which the work between does not change
)

// cause matches the announcement of a supposed cause of a failure.
var cause = lazy(`(?i)\broot cause\b|\bturns out\b|\bknown (?:issue|bug|limitation|anti-?pattern)\b|\bi see the (?:issue|problem)\b`)

// ofTheMoment matches text about the current work or a repair, not about lasting facts.
var ofTheMoment = lazy(`(?i)^(?:let me|let's|i |i'll|i'm|now|so |we |next|both|neither|this|that|these|those|they|one|another|which|here)\b|\d\d:\d\d:\d\d|\b(?:i|my|our|let me|i'll|we (?:should|need|could|can)|lines? \d+|your|this (?:session|test|run|commit|pr|branch|change|either)|the fix|wasn't|weren't|was|were)\b|\b[0-9a-f]*\d[0-9a-f]{6,}\b|(?:^|[\s(])#\d+|\?$`)

// findDiagnoses examines the agent's words between a failed command and one that passed, and takes
// the sentence that names a cause in terms of the code.
func findDiagnoses(v *view) []finding {
	var out []finding
	failed := -1 // act
	next := 0
	for i := range v.events {
		for ; next < len(v.acts) && v.acts[next].result < i; next++ {
			if a := v.acts[next]; !a.edit && a.outcome == transcript.Failed && !readOnly.Has(a.step.words[0]) && worthFixing(a.step) {
				failed = next
			}
		}
		e := &v.events[i]
		if failed < 0 || e.Kind != transcript.Assistant || e.Agent != "" || len(out) == maxDiagnoses || !cause.MatchString(e.Text) {
			continue
		}
		sentence := diagnosed(e.Text)
		if sentence == "" || strings.Contains(v.injected, fold(sentence)) || editedAfter(v, i, sentence) {
			continue
		}
		if far := i - v.acts[failed].result; far > beyondEvents || far > besideEvents && !beyondCode.MatchString(sentence) {
			continue
		}
		if !passesAfter(v.acts, failed) || repaired(v, failed, i) && !outlives(v, sentence) {
			continue
		}
		f := v.acts[failed]
		c := record.Candidate{
			Kind: record.Failure, How: record.Model,
			Text:     "An agent's diagnosis: " + strings.TrimRight(strings.ReplaceAll(sentence, "**", ""), ".") + ".",
			Body:     "The agent's words, between a failure of `" + spell(f.step) + "` and a run that passed. Nobody checked them.",
			Evidence: []record.Evidence{v.quote(i, sentence), v.quoteCommand(f)},
		}
		if !f.step.here() {
			c.Body = "The agent's words, between a failure and a run that passed. Nobody checked them."
		}
		out = append(out, finding{Candidate: c})
	}
	return out
}

// editedAfter reports whether a file that a sentence names was edited after event i, so that the
// sentence tells what was repaired.
func editedAfter(v *view, i int, sentence string) bool {
	var files []string
	for w := range strings.FieldsSeq(sentence) {
		if w = strings.Trim(w, "`'\"(),:;*"); sourceFile.MatchString(w) {
			files = append(files, positionEnd.ReplaceAllString(w, ""))
		}
	}
	for _, a := range v.acts {
		for _, p := range v.events[a.call].Paths {
			if a.edit && a.call > i && slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix("/"+p, "/"+f) }) {
				return true
			}
		}
	}
	return false
}

var positionEnd = lazy(`:\d+$`)

// passesAfter reports whether the work of a failed act, or a test, passes after it.
func passesAfter(acts []act, failed int) bool {
	f := acts[failed]
	for _, a := range acts[failed+1 : min(len(acts), failed+maxActs)] {
		if passes(f, a) || !a.edit && a.outcome == transcript.OK && a.agent == f.agent && strings.HasSuffix(purpose(a.step), "tests") {
			return true
		}
	}
	return false
}

// passes reports whether the work of a failed act passes in another.
func passes(failed, a act) bool {
	return !a.edit && a.outcome == transcript.OK && a.agent == failed.agent && sameWork(failed.step, a.step)
}

// repaired reports whether code was edited between a failed act and the pass of its work after
// event i, or, without such a pass, at all after the failure.
func repaired(v *view, failed, i int) bool {
	for _, a := range v.acts[failed+1 : min(len(v.acts), failed+maxActs)] {
		if e := &v.events[a.call]; a.edit && (slices.ContainsFunc(e.Paths, sourceFile.MatchString) || e.Action == transcript.Edit && len(e.Paths) == 0) {
			return true // a file without a name may be code
		}
		if a.result > i && passes(v.acts[failed], a) {
			return false
		}
	}
	return false
}

// outlives reports whether a diagnosis may hold after a repair of the code. It must speak of
// something else than that code: a version, documentation, a known limitation, or a call of a
// library, of which the session shows no definition.
func outlives(v *view, sentence string) bool {
	if beyondCode.MatchString(sentence) {
		return true
	}
	for _, call := range qualified.FindAllString(sentence, 4) {
		if _, name, _ := strings.Cut(strings.TrimSuffix(call, "("), "."); !definitions(v)[name] {
			return true
		}
	}
	return false
}

// definitions returns the names of functions that the session shows the definitions of.
func definitions(v *view) map[string]bool {
	if v.defined == nil {
		v.defined = map[string]bool{}
		for i := range v.events {
			e := &v.events[i]
			for _, text := range []string{e.Text, e.Old, e.New} {
				for _, at := range definition.FindAllStringSubmatchIndex(text, -1) {
					if at[2] < 0 {
						at = at[2:]
					}
					v.defined[text[at[2]:at[3]]] = true
				}
			}
		}
	}
	return v.defined
}

var (
	beyondCode = lazy(`(?i)\bv\d+\.\d+|\b\d+\.\d+\.\d+\b|\b(?:docs|documentation|specification|upstream)(?:[^\w/]|$)|\bknown (?:issue|bug|limitation|anti-?pattern)\b`)
	qualified  = lazy(`\b[A-Za-z]\w*\.[A-Za-z]\w*\(`)
	// definition finds functions by their keyword, or by what follows the parameters
	definition = lazy(`\b(?:func(?:tion)?|fn|def)\s+(?:\([^)\n]*\)\s*)?(\w+)|(?:^|[\s*])(\w+)(?:\s*=\s*(?:async\s*)?)?\([^()\n]*\)\s*(?:\{|=>)`)
)

// diagnosed returns the sentence of a message that names a cause: the announcing one or the next,
// whichever first mentions code and is no step of the work.
func diagnosed(text string) string {
	announced := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, s := range sentenceEnd.Split(line, -1) {
			s = strings.Trim(strings.TrimLeft(s, "-*#> "), "* ")
			if s == "" {
				continue
			}
			if cause.MatchString(s) {
				announced = 2
				if at := cause.FindStringIndex(s); strings.HasPrefix(strings.TrimLeft(s[at[1]:], "* "), ":") {
					s = strings.TrimLeft(s[at[1]:], "*: ")
				}
			}
			if announced == 0 {
				continue
			}
			announced--
			words := len(strings.Fields(s))
			if words >= 6 && utf8.RuneCountInString(s) <= maxStatement-40 && concrete.MatchString(s) && !ofTheMoment.MatchString(s) && !strings.HasSuffix(s, ":") && visibleText(s) &&
				!redacted.MatchString(s) && !weakens("", strings.Fields(s), nil) && strings.Contains(text, s) {
				return s
			}
		}
	}
	return ""
}

var sentenceEnd = lazy(`[.!] |: *$`)
