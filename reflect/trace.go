package reflect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// maxParts bounds the parts of one session that a model is asked about, unless the words of its
// person need more. A longer session is read in part: see parted.
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
	mended int // of a failed call and its result: the number of the event that shows the fix, or 0
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
	fixes := fixesOf(actsOf(t.session, t.events))
	out := make([]line, 0, len(short))
	for i := range short {
		e := &short[i]
		l := line{Line: prompts.Line{N: e.N, Who: who(t.session, e), Text: told(e)}}
		l.user = l.Who == fromUser
		l.failed = e.Kind == transcript.Error || e.Kind == transcript.Result && ending(e) == transcript.Failed
		l.mended = fixes[e.N]
		out = append(out, l)
	}
	return out
}

// fixesOf returns, for each failed call and its result, the number of the result in which the same
// command passed.
func fixesOf(v *view) map[int]int {
	fixes := map[int]int{}
	failed := map[string][]int{} // numbers of the events of failures, by command
	for _, a := range v.acts {
		key := a.step.key
		switch {
		case a.edit || key == "" || looks(a.step):
		case a.outcome == transcript.Failed:
			failed[key] = append(failed[key], v.events[a.call].N, v.events[a.result].N)
		case a.outcome == transcript.OK:
			for _, n := range failed[key] {
				fixes[n] = v.events[a.result].N
			}
			delete(failed, key)
		}
	}
	return fixes
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
	for _, text := range []string{e.Command, eachLine("- ", e.Old), eachLine("+ ", e.New), e.Text} {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// eachLine returns a text with a mark before each line, as in a diff.
func eachLine(mark, text string) string {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return ""
	}
	return mark + strings.ReplaceAll(text, "\n", "\n"+mark)
}

// split divides lines into parts of at most room bytes, at the user's turns if possible. An
// oversized turn is split between its events, and each further piece repeats the message that
// opened it. A part that holds the fix of a failure repeats the failure. Gaps in long lines are
// marked.
func split(lines []line, room int) (parts [][]line) {
	var now []line
	size := 0
	add := func(l line) { now, size = append(now, l), size+l.size() }
	// begin ends a part before the event n, and begins the next with the message that opened the turn.
	begin := func(n int, opening *line) {
		if len(now) == 0 {
			return
		}
		var open []line // failures that are put right later
		for _, l := range now {
			if l.mended >= n {
				open = append(open, l)
			}
		}
		parts = append(parts, now)
		now, size = nil, 0
		if opening != nil {
			add(opening.shortened(room / 8))
		}
		open = open[max(0, len(open)-maxRepeated):]
		for _, l := range open {
			add(l.shortened(min(room/12, room/3/len(open)-lineCost)))
		}
	}
	for _, turn := range turnsOf(lines, room/3) {
		all := 0
		for _, l := range turn {
			all += l.size()
		}
		if size+all > room {
			begin(turn[0].N, nil)
		}
		for i, l := range turn {
			if size+l.size() > room {
				if i > 0 && turn[0].user {
					begin(l.N, &turn[0])
				} else {
					begin(l.N, nil)
				}
			}
			add(l)
		}
	}
	if len(now) > 0 {
		parts = append(parts, now)
	}
	return parts
}

// maxRepeated bounds the repeated lines of failures in a part: a call and its result, five times.
const maxRepeated = 10

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

// parted is split for at most maxParts parts. If there are more, it leaves out lines of the
// lightest ones: everything but a person's words, and a fix or failure whose counterpart is kept.
// Then it cuts the person's words, each with both ends kept, down to leastTyped. They all stay,
// even if that takes more parts. left counts the lines in no part.
func parted(lines []line, room int) (parts [][]line, left int) {
	all := split(lines, room)
	if len(all) <= maxParts {
		return all, 0
	}
	order := heaviest(all)
	kept := lines
	for whole := maxParts; whole >= 0 && (parts == nil || len(parts) > maxParts); whole-- {
		kept = chosen(lines, all, order[:whole])
		parts = split(kept, room)
	}
	for limit := room / 8; len(parts) > maxParts && limit >= leastTyped; limit /= 2 {
		short := slices.Clone(kept)
		for i := range short {
			short[i] = short[i].shortened(limit)
		}
		parts = split(short, room)
	}
	return parts, len(lines) - len(kept)
}

// leastTyped is the length, in bytes, to which a person's words are cut for want of room.
const leastTyped = 200

// heaviest returns the places of parts: the first, the last, then the heaviest; on a tie, the
// earlier.
func heaviest(parts [][]line) []int {
	last := len(parts) - 1
	order := []int{0, last}
	for i := 1; i < last; i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order[2:], func(a, b int) int { return weight(parts[b]) - weight(parts[a]) })
	return order
}

// fixLines is the number of lines that show a fix: the last steps, and the command that passed.
const fixLines = 4

// chosen returns the lines of some parts, a person's words in all of them, and the counterparts of
// the failures and fixes among these.
func chosen(lines []line, parts [][]line, places []int) []line {
	keep := map[int]bool{}
	for _, at := range places {
		for _, l := range parts[at] {
			keep[l.N] = true
		}
	}
	for kept := -1; kept != len(keep); { // a step of a fix may be another fix
		kept = len(keep)
		shows := map[int]bool{} // kept fixes, and those of kept failures
		for _, l := range lines {
			if l.mended != 0 && (keep[l.N] || keep[l.mended]) {
				keep[l.N], shows[l.mended] = true, true
			}
		}
		for i, l := range lines {
			for _, step := range lines[max(0, i+1-fixLines) : i+1] {
				if shows[l.N] {
					keep[step.N] = true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return !l.user && !keep[l.N] })
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
