// Package compress shortens what a model is to read: the long outputs and the old turns of a
// session. It needs no model: the rules are fixed, and the same text always gives the same bytes.
// Begin with Output for one output of a tool, Session for a whole session; Store keeps what an
// output was before.
//
// What it promises:
//   - What is kept stands in the original, byte for byte and in order. Nothing is put into other words, so that a quote
//     from a shortened text can be looked for in the event itself.
//   - What is left out is said where it stood, on a line of its own: see IsMarker. Nothing here reads what such a line says,
//     so an output that has one itself gains nothing by it.
//   - The first and the last line that tell of a failure are kept, and so is the last with an exit code, in what programs and
//     agents put out: in files, searches, lists, instructions and differences of versions such words mean nothing. Of a JSON array
//     up to four items are kept that tell, or look unlike the others. Exit of an event stays as it is, and so does Command but in stage 5.
//   - A person's words stay whole up to MaxTyped bytes.
//   - A text is only shortened when that is worth it: at least 200 bytes go, and less than 85 % stays.
//   - A text that was shortened is not shortened again: Output of an Output changes nothing. So it is with Session without a
//     Limit. With one, whatever fits is left alone.
//   - Time and memory are linear in the text. Valid UTF-8 stays valid. There is no state: any number of goroutines may
//     call anything here.
//
// Where a rule that others use does harm, ours is another, and these are the reasons:
//   - An old failure is not cut to its first hundred bytes: what a session teaches is mostly in its errors, and the line that tells
//     is seldom the first. The first and the last lines and those that tell stay.
//   - The end of a command's output is not enough: the first error is the cause of those after it. Both are looked for.
//   - Of a call that failed the input is shortened, not removed: what could not be replaced says why.
//   - A long JSON array keeps a fixed number of its items and not a share of them, or an array of a hundred thousand would
//     still be fifty thousand long; and it keeps items of another shape and items that tell of a failure.
//   - An output that was cut already is never taken for the same as another: what is missing may differ.
//   - The later of two equal outputs points at the earlier one and not the other way round, so that an event never
//     points at what comes after it.
package compress

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// MaxTyped is what stays of a person's words in one event, in bytes: the first two thirds and the
// last. Shorter ones are never touched.
const MaxTyped = 4 << 10

// Options say how much of a session is shortened. The zero value has the defaults.
type Options struct {
	// Limit is what the texts of all events may have together, in bytes, as Size counts them. Rules
	// are applied stage by stage until that is so; what fits is not touched at all. A session may stay
	// longer: nothing is left out without a rule. Without a limit the first three stages are applied:
	//
	//  1. what teaches nothing: reasoning, injected text, outputs that were there before
	//  2. outputs, inputs of calls that failed, what people typed beyond MaxTyped
	//  3. the agent's prose
	//  4. both also at the session's beginning and end
	//  5. both to a quarter, with texts of edits, long commands and protected tools
	//  6. outputs of calls that went well and have no line that tells of a failure go whole, from the
	//     oldest on, until it is enough
	Limit int

	// Head is how many events at the session's beginning are left whole until stage 4, but for
	// injected text and overlong typed words. 0 is 3: the task, as a rule. Less than 0 is none.
	Head int

	// Tail is how many bytes at the session's end are left whole as Head is: the last events that have
	// so many together. 0 is 16 KiB, which is about 4,000 tokens. Less than 0 is none.
	Tail int

	// Protected are names of tools whose calls and results are left whole until stage 5. Case, dashes
	// and underscores do not count. nil is DefaultProtected. Edits are protected by what they do,
	// whatever their tool is called.
	Protected []string
}

// DefaultProtected are tools whose calls say what was decided, planned or known, in few bytes.
var DefaultProtected = []string{"question", "askuserquestion", "askuser", "todowrite", "todoread", "todo", "updateplan", "exitplanmode",
	"memorystore", "memorysearch", "memoryforget", "savememory"}

// Size is how many bytes of texts a session has, as a model reads it. The command on a result is
// that of its call, and counts once.
func Size(events []transcript.Event) int {
	n := 0
	for i := range events {
		n += size(&events[i])
	}
	return n
}

func size(e *transcript.Event) int {
	n := len(e.Text) + len(e.Old) + len(e.New)
	if e.Kind != transcript.Result {
		n += len(e.Command)
	}
	return n
}

// Session returns copies of the events with shorter texts: as many, in the same order, with the
// same numbers. Only Text, Old, New and, in stage 5, Command are other than they were.
func Session(events []transcript.Event, o Options) []transcript.Event {
	s := &session{events: slices.Clone(events), protected: map[string]bool{}}
	if o.Limit > 0 && Size(events) <= o.Limit {
		return s.events
	}
	names := o.Protected
	if names == nil {
		names = DefaultProtected
	}
	for _, name := range names {
		s.protected[toolName(name)] = true
	}
	s.zones(o)
	stages := []func(){s.noise, s.outputs, s.prose}
	if o.Limit > 0 {
		stages = append(stages, s.everywhere, s.tighter, func() { s.looks(Size(s.events) - o.Limit) })
	}
	for _, stage := range stages {
		if stage(); o.Limit > 0 && Size(s.events) <= o.Limit {
			break
		}
	}
	return s.events
}

// session is one that is being shortened.
type session struct {
	events    []transcript.Event
	protected map[string]bool // tools, by toolName
	head      int             // events before it are left whole,
	tail      int             // and so are this one and those after it
	tight     bool
}

func toolName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

func (s *session) zones(o Options) {
	if o.Head == 0 {
		o.Head = 3
	}
	if o.Tail == 0 {
		o.Tail = 16 << 10
	}
	s.head = min(max(o.Head, 0), len(s.events))
	room := o.Tail
	for s.tail = len(s.events); s.tail > 0; s.tail-- {
		if room -= size(&s.events[s.tail-1]); room < 0 {
			break
		}
	}
}

// whole reports whether an event is left as it is, for where it stands.
func (s *session) whole(i int) bool { return i < s.head || i >= s.tail }

func (s *session) isProtected(e *transcript.Event) bool {
	return e.Action == transcript.Edit || s.protected[toolName(e.Tool)]
}

// noise takes out what teaches nothing.
func (s *session) noise() {
	for i := range s.events {
		e := &s.events[i]
		switch {
		case e.Kind == transcript.User && e.Origin == transcript.Injected:
			leaveOut(&e.Text, "injected text")
		case e.Kind == transcript.Reasoning && !s.whole(i):
			leaveOut(&e.Text, "reasoning")
		case e.Kind == transcript.Assistant && !s.whole(i):
			e.Text = withoutTags(e.Text, "thinking", "think")
		case e.Kind == transcript.Result:
			e.Text = withoutTags(e.Text, "system-reminder")
		}
	}
	s.repeats()
}

// outputs shortens what tools gave back, what they were given in vain, and long texts in the user's
// role.
func (s *session) outputs() {
	failed := map[string]bool{}
	for i := range s.events {
		if e := &s.events[i]; e.Kind == transcript.Result && e.CallID != "" && e.Outcome != transcript.OK && e.Outcome != transcript.Unknown {
			failed[e.CallID] = true
		}
	}
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == transcript.User && e.Origin == transcript.Typed {
			e.Text = middle(e.Text, MaxTyped)
			continue
		}
		if s.whole(i) || s.isProtected(e) && !s.tight && !(e.Kind == transcript.Call && failed[e.CallID]) {
			continue
		}
		switch e.Kind {
		case transcript.User, transcript.Compaction:
			e.Text = s.shorten(task, e.Text)
		case transcript.Result:
			e.Text = shortenBy(e.Text, func(text string) *rule {
				r := ruleOf(e.Action, e.Tool, e.Command, text)
				if e.Outcome == transcript.Failed && r != diff {
					r = fault
				}
				return s.fit(r)
			})
		case transcript.Error:
			e.Text = s.shorten(fault, e.Text)
		case transcript.Call:
			s.input(e, failed[e.CallID])
		}
	}
}

// maxInput is what stays of an input that did nothing, in bytes, and maxCommand, when it gets
// tight, of a command.
const (
	maxInput   = 400
	maxCommand = 1 << 10
)

// input shortens what a call was given. What it looked for and where is short, and stays.
func (s *session) input(e *transcript.Event, failed bool) {
	switch {
	case failed:
		e.Text, e.Old, e.New = middle(e.Text, maxInput), middle(e.Old, maxInput), middle(e.New, maxInput)
	case e.Action == transcript.Edit:
		e.Text, e.Old, e.New = s.shorten(generic, e.Text), s.shorten(generic, e.Old), s.shorten(generic, e.New)
	default:
		e.Text = s.shorten(task, e.Text)
	}
	if s.tight {
		e.Command = middle(e.Command, maxCommand)
	}
}

// prose shortens what the agent said.
func (s *session) prose() {
	for i := range s.events {
		if e := &s.events[i]; e.Kind == transcript.Assistant && !s.whole(i) {
			e.Text = said(e.Text, s.tight)
		}
	}
}

// everywhere gives up the zones.
func (s *session) everywhere() {
	s.head, s.tail = 0, len(s.events)
	s.noise()
	s.outputs()
	s.prose()
}

// tighter keeps a quarter, of protected tools too.
func (s *session) tighter() {
	s.tight = true
	s.outputs()
	s.prose()
}

// looks leaves out outputs that say no more than that all was well, until so many bytes are saved.
// That it was well, the event says.
func (s *session) looks(excess int) {
	for i := range s.events {
		e := &s.events[i]
		if excess <= 0 {
			return
		}
		if e.Kind != transcript.Result || e.Outcome != transcript.OK || s.isProtected(e) || e.Action == transcript.Task || troubled(e.Text) {
			continue
		}
		before := len(e.Text)
		leaveOut(&e.Text, "output")
		excess -= before - len(e.Text)
	}
}

// troubled reports whether a line of a text tells of a failure.
func troubled(text string) bool {
	for l := range strings.Lines(text) {
		if tells(l) == 2 {
			return true
		}
	}
	return false
}

func (s *session) shorten(r *rule, text string) string {
	return shortenBy(text, func(string) *rule { return s.fit(r) })
}

func (s *session) fit(r *rule) *rule {
	if s.tight {
		return r.quarter()
	}
	return r
}
