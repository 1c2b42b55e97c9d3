// Package compress shortens the long outputs and old turns of a session for a model. It needs no
// model: its rules are fixed, and equal text gives equal bytes. Begin with Output for one output of
// a tool, or Session for a whole session. Store keeps the original outputs.
//
// Promises:
//   - The kept text is part of the original, byte for byte and in order, so that a quote from it can
//     be found in the event.
//   - A line of its own marks each gap: see IsMarker. No rule reads such lines, so an output gains
//     nothing by faking one.
//   - The first and last lines about a failure and the last with an exit code are kept, in the output
//     of programs and agents. In files, searches, lists, instructions and diffs such words mean
//     nothing. A JSON array keeps up to four items that report a failure or look unlike the others.
//     Exit never changes, and Command only in stage 5.
//   - A person's words stay whole up to MaxTyped bytes.
//   - A text is shortened only if that saves at least 200 bytes and leaves less than 85 %.
//   - A shortened text is not shortened again: Output of an Output, or Session without a Limit,
//     changes nothing. With a Limit, a session that fits is unchanged.
//   - Time and memory are linear in the text. Valid UTF-8 stays valid. All functions are safe for
//     concurrent use.
//
// Deliberate differences from common rules:
//   - An old failure is not cut to its first hundred bytes: a session teaches mostly by its errors,
//     and the telling line is seldom the first. The first, last and telling lines stay.
//   - The end of a command's output is not enough, because the first error causes the later ones.
//   - The input of a failed call is shortened, not removed: a failed replacement explains itself.
//   - A long JSON array keeps a fixed number of items, not a share, which would still be too long. It
//     also keeps items of another shape and items that report a failure.
//   - A truncated output never counts as equal to another: the missing parts may differ.
//   - The later of two equal outputs refers to the earlier, so that no event refers forward.
package compress

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

// MaxTyped bounds a person's words in one event, in bytes. Longer ones keep the first two thirds
// and the last third of that.
const MaxTyped = 4 << 10

// Options control the shortening of a session. The zero value has the defaults.
type Options struct {
	// Limit bounds the texts of all events together, in bytes, as Size counts them. Stages run until
	// the session fits; a session that fits is unchanged. It may stay longer, because only rules
	// remove text. Without a limit the first three stages run:
	//
	// 1. text that teaches nothing: reasoning, injected text, repeated outputs
	// 2. outputs, inputs of failed calls, typed words beyond MaxTyped
	// 3. the agent's prose
	// 4. both also at the session's beginning and end
	// 5. both to a quarter, with texts of edits, long commands and protected tools
	// 6. whole outputs of successful calls without a line about a failure, oldest first, until the
	//    session fits
	Limit int

	// Head is the number of events at the session's beginning that stay whole until stage 4, except
	// for injected text and overlong typed words. 0 means 3, usually the task; a negative value
	// disables it.
	Head int

	// Tail is the number of bytes at the session's end that stay whole as with Head: the last events
	// that add up to it. 0 means 16 KiB, about 4,000 tokens; a negative value disables it.
	Tail int

	// Protected names tools whose calls and results stay whole until stage 5. Case, dashes and
	// underscores do not count. nil means DefaultProtected. Edits are protected by their action, under
	// any tool's name.
	Protected []string
}

// DefaultProtected names tools whose calls state decisions, plans or knowledge in few bytes.
var DefaultProtected = []string{"question", "askuserquestion", "askuser", "todowrite", "todoread", "todo", "updateplan", "exitplanmode",
	"memorystore", "memorysearch", "memoryforget", "savememory"}

// Size returns the bytes of a session's texts, as a model reads it. The command of a call counts
// once, although its result repeats it.
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

// Session returns copies of the events with shorter texts, in the same number, order and numbering.
// Only Text, Old, New and, in stage 5, Command change.
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

// session is a session being shortened.
type session struct {
	events    []transcript.Event
	protected map[string]bool // tools, by toolName
	head      int             // events before it are left whole,
	tail      int             // from here on, events stay whole too
	tight     bool
}

func toolName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

func (s *session) zones(o Options) {
	o.Head = cmp.Or(o.Head, 3)
	o.Tail = cmp.Or(o.Tail, 16<<10)
	s.head = min(max(o.Head, 0), len(s.events))
	room := o.Tail
	for s.tail = len(s.events); s.tail > 0; s.tail-- {
		if room -= size(&s.events[s.tail-1]); room < 0 {
			break
		}
	}
}

// whole reports whether an event stays unchanged because of its position.
func (s *session) whole(i int) bool { return i < s.head || i >= s.tail }

func (s *session) isProtected(e *transcript.Event) bool {
	return e.Action == transcript.Edit || s.protected[toolName(e.Tool)]
}

// noise removes text that teaches nothing.
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

// outputs shortens outputs of tools, inputs of failed calls, and long texts in the user's role.
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

// maxInput bounds the kept input of a failed call, in bytes; maxCommand bounds a command in stage
// 5.
const (
	maxInput   = 400
	maxCommand = 1 << 10
)

// input shortens the input of a call. Search terms and places are short and stay.
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

// prose shortens the agent's words.
func (s *session) prose() {
	for i := range s.events {
		if e := &s.events[i]; e.Kind == transcript.Assistant && !s.whole(i) {
			e.Text = said(e.Text, s.tight)
		}
	}
}

// everywhere removes the protected zones.
func (s *session) everywhere() {
	s.head, s.tail = 0, len(s.events)
	s.noise()
	s.outputs()
	s.prose()
}

// tighter keeps a quarter, also of protected tools.
func (s *session) tighter() {
	s.tight = true
	s.outputs()
	s.prose()
}

// looks drops outputs that report only success, until excess bytes are saved. The event itself
// records the success.
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

// troubled reports whether a line of a text reports a failure.
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
