package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// What an agent is given is one element, so that it can be told from what its user says, and cut out of the transcript
// that it comes back in. The text is a function of what is packed: no clock, no chance.

// memoryElement is the name of the element. Its beginning is what reflect/transcript looks for.
const memoryElement = "reverie-memory"

// maxInjected is the longest text that is given at once, in bytes: one client cuts at 10,000 characters, one in the
// middle of what has more than 2,500 tokens, of four bytes each.
const maxInjected = 9000

// maxLabelled is the longest line that says how many older versions there are, in bytes.
const maxLabelled = 120

// framed reports whether a text that was kept is nothing, or still one element that nothing inside it ends and that hides nothing.
func framed(text string) bool {
	if text == "" {
		return true
	}
	open, rest, ok := strings.Cut(text, ">\n")
	inner, closed := strings.CutSuffix(rest, "</"+memoryElement+">\n")
	for line := range strings.Lines(inner) { // as it was made harmless: line by line
		ok = ok && attack.Untag(line) == line && unseen.Reveal(term.Visible(line)) == line
	}
	return ok && closed && strings.HasPrefix(open, "<"+memoryElement+" ") && attack.Untag(open[1:]) == open[1:] && len(text) <= maxInjected+maxLabelled
}

// parcel is what becomes one element.
type parcel struct {
	attributes string // of the opening tag
	intro      string // says what it is
	items      []pack.Item
	left       int    // how many more there would be
	tail       string // follows the lines; may be empty
	more       string // follows the number of those that are left out
	budget     int    // tokens of all but the tail
}

// pack is the element with what is chosen of the items, in the order of their places. Where that is none and there is no
// tail, it is nothing. forms say how each item is in.
//
// What a line takes is never less than a quarter of its bytes, so the room in tokens bounds the bytes too.
func (p parcel) pack(says func(first, second int) bool) (text string, forms []pack.Form) {
	open, end := p.frame()
	tail := ""
	if p.tail != "" {
		tail = "\n" + p.tail + "\n"
	}
	room := func(more string) int {
		return min(p.budget-pack.Tokens(open+more+end), (maxInjected-len(open+more+tail+end))/4)
	}
	all, some := room(""), func(tier int) int { return room(p.saidAtMost(tier)) }
	if forms = pack.Choose(p.items, func(int) int { return all }, says); p.left > 0 || slices.Contains(forms, pack.Left) || slices.Contains(forms, pack.Short) {
		forms = pack.Choose(p.items, some, says)
	}
	lines := make([]string, len(p.items)) // by place
	given, cut, short := 0, p.left, 0
	for i, item := range p.items {
		switch forms[i] {
		case pack.Whole:
			lines[item.Place] = item.Whole
			given++
		case pack.Short:
			lines[item.Place] = item.Short
			given++
			short++
		case pack.Left:
			cut++
		}
	}
	if given == 0 && p.tail == "" {
		return "", forms
	}
	said := p.said(cut, short)
	older := p.label(lines, p.budget-pack.Tokens(open+said+end), maxInjected-len(open+said+tail+end))
	var b strings.Builder
	for _, line := range lines {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return open + b.String() + older + said + tail + end, forms
}

// label puts the labels of items behind their lines, where all of them have room, in tokens and bytes. Otherwise one line tells how many have
// one: what others changed must not take the place of a memory.
func (p parcel) label(lines []string, tokens, size int) (instead string) {
	n, labels := 0, make([]string, len(lines))
	for _, item := range p.items {
		if line := lines[item.Place]; line != "" {
			if item.Label != "" {
				labels[item.Place] = item.Label
				n++
			}
			line += labels[item.Place] + "\n"
			tokens, size = tokens-pack.Tokens(line), size-len(line)
		}
	}
	switch {
	case n == 0:
		return ""
	case tokens < 0 || size < 0:
		return fmt.Sprintf("%d of these were changed or removed by people not trusted here: these are the versions before.\n", n)
	}
	for i := range lines {
		lines[i] += labels[i]
	}
	return ""
}

// frame is what stands before and behind the lines.
func (p parcel) frame() (open, end string) {
	return "<" + memoryElement + " " + p.attributes + ">\n" + p.intro + "\n", "</" + memoryElement + ">\n"
}

// saidAtMost is the longest that said may be where no item of a later tier is shortened: what it takes to say that of
// those is no reason to leave out one of this tier.
func (p parcel) saidAtMost(tier int) string {
	short := 0
	for _, item := range p.items {
		if item.Short != "" && item.Tier <= tier {
			short++
		}
	}
	return p.said(p.left+len(p.items), short)
}

// least is the smallest budget with which some item has room: all of them, or the shortest line and what is said of the rest.
func (p parcel) least() int {
	open, end := p.frame()
	cost := func(line string) int { return pack.Tokens(line) + 1 } // as Choose counts
	all, some := 0, 0
	for i, item := range p.items {
		line := cost(item.Whole)
		all += line
		if item.Short != "" {
			line = min(line, cost(item.Short))
		}
		if line += pack.Tokens(open + p.saidAtMost(item.Tier) + end); i == 0 || line < some {
			some = line
		}
	}
	if p.left > 0 {
		return some
	}
	return min(some, pack.Tokens(open+end)+all)
}

// said is the line that tells what was left out and what was shortened, or nothing.
func (p parcel) said(cut, short int) string {
	var parts []string
	if cut > 0 {
		parts = append(parts, fmt.Sprintf("%d more%s", cut, p.more))
	}
	if short > 0 {
		parts = append(parts, fmt.Sprintf("… marks %d shortened: `reverie show ID`", short))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "\n"
}

// maxNext is how many of those that did not fit are named in the ledger.
const maxNext = 20

// maxOfKind is how many candidates of one kind and tier are tried, the most valuable: as many short lines as fit into
// an injection, some 17 tokens each.
const maxOfKind = 128

// fill packs candidates, the most valuable first, and says in the injection what became of each.
func fill(in *injection, all []candidate, p parcel) {
	type shelf struct {
		tier int
		kind record.Kind
	}
	known := map[shelf]int{}
	var tried []int // in all
	for i, c := range all {
		s := shelf{c.tier, c.m.Kind}
		if known[s]++; known[s] > maxOfKind {
			p.left++
			continue
		}
		p.items = append(p.items, pack.Item{Place: len(tried), Tier: c.tier, Kind: string(c.m.Kind), Value: c.value(), Whole: c.line(), Short: c.short(), Label: c.s.Older})
		tried = append(tried, i)
	}
	prints := make([]record.Fingerprint, len(tried))
	printed := func(i int) record.Fingerprint {
		if m := all[tried[i]].m; prints[i] == (record.Fingerprint{}) {
			prints[i] = record.Print(m.Text)
		}
		return prints[i]
	}
	text, forms := p.pack(func(first, second int) bool {
		return all[tried[first]].covers(all[tried[second]]) && printed(first).Same(printed(second))
	})
	became := make([]pack.Form, len(all))
	for i, form := range forms {
		became[tried[i]] = form
	}
	for i, c := range all {
		switch became[i] {
		case pack.Short:
			in.Items = append(in.Items, given{ID: c.m.ID, Why: append(slices.Clip(c.why), "shortened"), Short: true})
		case pack.Whole:
			in.Items = append(in.Items, given{ID: c.m.ID, Why: c.why})
		case pack.Folded:
			in.Cut[cutAlike]++
		default:
			if in.Cut[cutBudget]++; len(in.Next) < maxNext {
				in.Next = append(in.Next, c.m.ID)
			}
		}
	}
	if text == "" && len(p.items) > 0 {
		in.Least = p.least()
	}
	in.setText(text)
}
