package reflect

import (
	"path"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A view is one session digested once for all detectors: what was run and edited, in order,
// and what a person said.
type view struct {
	session   transcript.Session
	events    []transcript.Event
	acts      []act
	sentences []sentence
	// whether a message looked at so far may hold words of others, by event index
	hearsay  map[int]bool
	signs    map[int]signature // of results looked at so far, by event index
	harmless map[uint64]bool   // lines that passing runs printed: see passed
	injected string            // all injected text, folded, one space either side of every word
	given    map[string]int    // lines of injected text, and the event each stood in first
	defined  map[string]bool   // see definitions
	moved    map[string]move   // by agent
}

// An act is one step of a command line, or one edit, that has a result.
type act struct {
	agent   string
	call    int // index of the Call event
	result  int // index of the Result event
	step    step
	outcome transcript.Outcome // OK, Failed, or Unknown where neither is certain
	edit    bool               // an edit: by a tool, then step is empty, or by the shell
	stood   bool               // the shell stood in the step's folder before
}

// move holds the folder in which an agent's shell stood after a command. The agent notes the folder
// of a call when it asks for it. A call asked for before the result of another runs after that.
type move struct {
	result int
	to     string
}

// maxActs bounds what is looked at between a failure and its repair.
const maxActs = 300

// maxSentences bounds the sentences looked at in one session: more were not typed.
const maxSentences = 4096

// digest makes the view of a session. Linear in the size of the events.
func digest(s transcript.Session, events []transcript.Event) *view {
	v := actsOf(s, events)
	if s.Parent != "" {
		return v // a sub-agent's session: no person speaks in it
	}
	for i := range events {
		e := &events[i]
		if e.Kind == transcript.User && e.Origin == transcript.Typed && e.Agent == "" && len(v.sentences) < maxSentences {
			v.typed(i)
		}
	}
	return v
}

// actsOf makes a view without a person's sentences, whose judgement costs most.
func actsOf(s transcript.Session, events []transcript.Event) *view {
	v := &view{session: s, events: events, signs: map[int]signature{}, hearsay: map[int]bool{}, moved: map[string]move{}}
	v.given = map[string]int{}
	var injected strings.Builder
	give := func(i int) {
		injected.WriteString(fold(events[i].Text))
		for line := range strings.Lines(events[i].Text) {
			line = strings.TrimSpace(line)
			if _, found := v.given[line]; !found && len(line) > 12 {
				v.given[line] = i
			}
		}
	}
	calls := map[string]int{} // open calls by agent and id
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case transcript.Call:
			calls[e.Agent+"\x00"+e.CallID] = i
		case transcript.Result:
			id := e.Agent + "\x00" + e.CallID
			c, found := calls[id]
			if !found {
				continue
			}
			delete(calls, id)
			v.addActs(c, i)
		case transcript.User:
			if e.Origin != transcript.Typed {
				give(i)
			}
		case transcript.Compaction:
			give(i)
		}
	}
	v.injected = injected.String()
	return v
}

// addActs adds the steps of a call that has ended, or its edit.
func (v *view) addActs(call, result int) {
	c, r := &v.events[call], &v.events[result]
	if r.Outcome == transcript.Denied || r.Outcome == transcript.Aborted {
		return
	}
	a := act{agent: c.Agent, call: call, result: result}
	switch c.Action {
	case transcript.Edit:
		if r.Outcome != transcript.Failed {
			a.edit, a.outcome = true, r.Outcome
			v.acts = append(v.acts, a)
		}
	case transcript.Run:
		if strings.Contains(r.Text[:min(len(r.Text), 200)], notRun) || strings.Contains(r.Text, unreadable) {
			return
		}
		start := ""
		if c.Dir != "" {
			start = within(c.Dir, "", v.session.Dir)
		}
		// SpecStory leaves out the folder of the shell of Claude Code and of Cursor, which stays where a
		// command went.
		history := v.session.Client == string(transcript.SpecStory) && (c.Tool == "Bash" || c.Tool == "run_terminal_cmd")
		if m, found := v.moved[c.Agent]; found && (call < m.result || history) {
			start = m.to
		}
		list, to := stepsFrom(c.Command, start, v.session.Dir)
		ended := ending(r)
		if ended == transcript.OK && v.session.Client == string(transcript.Claude) || ended != transcript.Failed && history {
			v.moved[c.Agent] = move{result, to}
		}
		failed := -1
		if ended == transcript.Failed {
			failed = blamed(list, r.Text)
		}
		work := 0 // steps that do something
		for _, s := range list {
			if !readOnly.Has(s.words[0]) {
				work++
			}
		}
		for i, s := range list {
			a.step, a.outcome, a.edit, a.stood = s, outcomeOf(s, len(list), work, ended, r.Text), s.writes, start != "" && s.dir == start
			switch {
			case failed < 0:
			case i > failed:
				return // it did not run
			case i == failed:
				a.outcome = transcript.Failed
			case !s.masked:
				a.outcome = transcript.OK
			}
			v.acts = append(v.acts, a)
		}
	}
}

// notRun is Claude Code's answer to a call that was skipped because a parallel one failed.
const notRun = "Sibling tool call errored"

// unreadable is in PowerShell's message about a line that it cannot parse: nothing of that ran.
const unreadable = ": ParserError: ("

// blamed is the step of a chain that failed: the last one that the output speaks of, as
// runners do, or else the only one that does any work. It is -1 where neither tells.
func blamed(list []step, output string) int {
	last, worker, workers := -1, -1, 0
	of := map[string]int{} // steps by program
	for _, s := range list {
		of[s.words[0]]++
	}
	for i, s := range list {
		if s.masked || len(list) == 1 {
			continue
		}
		if announced(s, output) || of[s.words[0]] == 1 && complainer(s, output) {
			last = i
		}
		if !readOnly.Has(s.words[0]) && !oneTime.Has(s.words[0]) && !strings.HasPrefix(s.key, "git add") {
			worker = i
			workers++
		}
	}
	if last < 0 && workers == 1 {
		return worker
	}
	return last
}

// announced tells whether an output names what a step runs: `[lint] …`, `script "lint" exited`.
func announced(s step, output string) bool {
	if tool := s.tool(); tool != "" && tool != s.words[0] {
		for _, form := range []string{"[" + tool + "]", "[" + tool + ":", `"` + tool + `"`, "'" + tool + "'", "pre-" + tool, ": git " + tool, "\n> " + tool + "\n"} {
			if strings.Contains(output, form) {
				return true
			}
		}
	}
	return false
}

// complainer tells whether a line of an output begins with the program of a step: `jq: error`.
func complainer(s step, output string) bool {
	name := path.Base(s.words[0]) + ": "
	return strings.HasPrefix(output, name) || strings.Contains(output, "\n"+name)
}

// ending says how a command line ended, Unknown where the transcript does not tell: no exit
// code is not success.
func ending(r *transcript.Event) transcript.Outcome {
	switch {
	case r.Exit != nil && *r.Exit != 0:
		return transcript.Failed
	case r.Exit != nil:
		return transcript.OK
	}
	return r.Outcome
}

// outcomeOf tells how one of n steps of a command line that ended so came out; work of them
// do something. A step whose exit code is hidden is judged by the output, if no other step
// can have printed it.
func outcomeOf(s step, n, work int, ended transcript.Outcome, output string) transcript.Outcome {
	if s.masked || ended == transcript.Unknown {
		if ended == transcript.Unknown && unfound(s.words[0], output) {
			return transcript.Failed
		}
		if work == 1 && !readOnly.Has(s.words[0]) {
			switch verdict(output) {
			case 1:
				return transcript.OK
			case -1:
				return transcript.Failed
			}
		}
		return transcript.Unknown
	}
	switch ended {
	case transcript.OK:
		return transcript.OK
	case transcript.Failed:
		if n == 1 || work == 1 && !readOnly.Has(s.words[0]) {
			return transcript.Failed
		}
	}
	return transcript.Unknown
}

// fold brings text to lower case with single spaces and no punctuation, so that two
// spellings of one sentence compare equal. It begins and ends with a space.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	space := true
	for _, r := range strings.ToLower(text) {
		if isWordRune(r) {
			b.WriteRune(r)
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

// isWordRune tells letters and digits, of any script, from what stands between words.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}
