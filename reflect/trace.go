package reflect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// maxParts bounds the parts of one session that a model is asked about. A longer session is read in
// part: see weighed.
const maxParts = 8

// minRoom is the minimum room for the lines of a session, in bytes: less is not worth reading.
const minRoom = 2000

// lineCost is the overhead of a line, in bytes: its number, speaker and separators.
const lineCost = 32

// failureWeight is the worth of one failure, in bytes of a person's words, when parts are chosen.
const failureWeight = 200

// A line is one event in a question.
type line struct {
	prompts.Line
	user   bool // a person's words
	failed bool
}

// size returns the bytes of a line in a question, which indents the further lines of a text.
func (l line) size() int { return len(l.Text) + 4*strings.Count(l.Text, "\n") + len(l.Who) + lineCost }

// A trace is the part of a session that a model sees: copies of its events without the clients'
// text. It omits injected text, summaries, slash commands, the model's reasoning, and Reverie's own
// output.
type trace struct {
	session transcript.Session
	events  []transcript.Event
	left    int // events that are not in it
}

// traced returns the trace of a session.
func traced(s transcript.Session, events []transcript.Event) trace {
	t := trace{session: s}
	ours := map[string]bool{} // calls of Reverie, by agent and id
	for _, e := range events {
		id := e.Agent + "\x00" + e.CallID
		if e.Kind == transcript.Call {
			ours[id] = ownCommand.MatchString(e.Command) || ownTool.MatchString(e.Tool)
		} else {
			e.Text = transcript.Bare(e.Text)
		}
		blank := strings.TrimSpace(e.Text) == "" && e.Kind != transcript.Call && e.Kind != transcript.Result
		if who(s, &e) == "" || blank || e.Kind == transcript.Result && ours[id] {
			t.left++
			continue
		}
		t.events = append(t.events, e)
	}
	return t
}

// lines returns the events for questions with room bytes each. There are as many questions as the
// session needs at the usual shortening, at most maxParts. The session is then shortened only as
// far as it fits these.
func (t trace) lines(room int) []line {
	cost := lineCost * len(t.events)
	parts := (compress.Size(compress.Session(t.events, compress.Options{}))+cost)/(room*9/10) + 1
	limit := min(parts, maxParts)*room*9/10 - cost
	short := compress.Session(t.events, compress.Options{Limit: max(limit, minRoom)})
	out := make([]line, 0, len(short))
	for i := range short {
		e := &short[i]
		l := line{Line: prompts.Line{N: e.N, Who: who(t.session, e), Text: told(e)}}
		l.user = l.Who == fromUser
		l.failed = e.Kind == transcript.Error || e.Kind == transcript.Result && ending(e) == transcript.Failed
		out = append(out, l)
	}
	return out
}

// Reverie's own output to an agent is not news.
var (
	ownCommand = lazy(`(?:^|[\s;&|(/])reverie(?:\.exe)?["']?(?:\s|$)`)
	ownTool    = lazy(`(?i)(?:^|[_.:/-])reverie(?:$|[_.:/-])`)
)

// fromUser marks a person's typed words.
const fromUser = "user"

// who returns the speaker of an event, or "" for a hidden one. Only a person's own words in a
// top-level session count as the user's.
func who(s transcript.Session, e *transcript.Event) string {
	sub := s.Parent != "" || e.Agent != ""
	of := func(name string) string {
		if sub {
			return "sub-agent " + name
		}
		return name
	}
	switch e.Kind {
	case transcript.User:
		switch {
		case e.Origin == transcript.Delegated, e.Origin == transcript.Typed && sub:
			return "delegated"
		case e.Origin == transcript.Typed:
			return fromUser
		}
	case transcript.Assistant:
		if sub {
			return "sub-agent"
		}
		return "agent"
	case transcript.Call:
		if e.Origin == transcript.Command {
			return "user's call"
		}
		return of("call")
	case transcript.Result:
		name := of("result")
		if e.Outcome != "" {
			name += " " + string(e.Outcome)
		}
		if e.Exit != nil {
			name += fmt.Sprintf(" exit %d", *e.Exit)
		}
		return name
	case transcript.Error:
		return "error"
	}
	return ""
}

// lineEnds splits text that a progress bar overwrote into lines.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// told returns the text of an event without colours.
func told(e *transcript.Event) string {
	if e.Kind != transcript.Call {
		return strings.TrimSpace(lineEnds.Replace(ansi.ReplaceAllString(e.Text, "")))
	}
	var parts []string
	if e.Command == "" {
		parts = append(parts, strings.TrimSpace(e.Tool+" "+strings.Join(e.Paths[:min(len(e.Paths), 8)], " ")))
	}
	for _, text := range []string{e.Command, e.Old, e.New, e.Text} {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// split divides lines into parts of at most room bytes, at the user's turns if possible. An
// oversized turn is split between its events, and each further piece repeats the message that
// opened it. Gaps in long lines are marked.
func split(lines []line, room int) (parts [][]line) {
	var now []line
	size := 0
	end := func() {
		if len(now) > 0 {
			parts = append(parts, now)
		}
		now, size = nil, 0
	}
	add := func(l line) { now, size = append(now, l), size+l.size() }
	for _, turn := range turnsOf(lines, room/3) {
		all := 0
		for _, l := range turn {
			all += l.size()
		}
		if size+all > room {
			end()
		}
		for _, l := range turn {
			if size+l.size() > room {
				end()
				if turn[0].user && l.N != turn[0].N {
					add(turn[0].shortened(room / 8))
				}
			}
			add(l)
		}
	}
	end()
	return parts
}

// turnsOf groups lines, each at most limit bytes long, by the user's messages.
func turnsOf(lines []line, limit int) [][]line {
	var out [][]line
	for i, l := range lines {
		if i == 0 || l.user {
			out = append(out, nil)
		}
		last := len(out) - 1
		out[last] = append(out[last], l.shortened(limit))
	}
	return out
}

// weighed reduces the parts to maxParts. It keeps the first and the last, then the heaviest; on a
// tie, the earlier. left counts the lines in dropped parts.
func weighed(parts [][]line) (kept [][]line, left int) {
	if len(parts) <= maxParts {
		return parts, 0
	}
	last := len(parts) - 1
	order := make([]int, 0, last)
	for i := 1; i < last; i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return weight(parts[b]) - weight(parts[a]) })
	places := append([]int{0, last}, order[:maxParts-2]...)
	slices.Sort(places)
	shown := map[int]bool{}
	for _, at := range places {
		kept = append(kept, parts[at])
		for _, l := range parts[at] {
			shown[l.N] = true
		}
	}
	gone := map[int]bool{}
	for _, part := range parts {
		for _, l := range part {
			if !shown[l.N] {
				gone[l.N] = true
			}
		}
	}
	return kept, len(gone)
}

// weight measures the worth of a part: the bytes of the user's words, plus failures.
func weight(part []line) int {
	n := 0
	for _, l := range part {
		if l.user {
			n += len(l.Text)
		}
		if l.failed {
			n += failureWeight
		}
	}
	return n
}

// shortened returns a line with at most limit bytes of text: its beginning and its end, around a
// mark.
func (l line) shortened(limit int) line {
	if len(l.Text) <= limit {
		return l
	}
	const mark = 48 // bytes
	keep := max(0, limit-mark)
	head := strings.ToValidUTF8(l.Text[:keep*2/3], "")
	tail := strings.ToValidUTF8(l.Text[len(l.Text)-keep/3:], "")
	l.Text = fmt.Sprintf("%s\n[… %d bytes left out]\n%s", head, len(l.Text)-len(head)-len(tail), tail)
	return l
}

// shown returns the lines of a part for a prompt.
func shown(part []line) []prompts.Line {
	out := make([]prompts.Line, 0, len(part))
	for _, l := range part {
		out = append(out, l.Line)
	}
	return out
}
