package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// An agent gets one element, distinct from the words of its user and easy to cut out of a
// transcript. The text is a pure function of the items.

// Element is the name of the element. reflect/transcript looks for its beginning.
const Element = "reverie-memory"

// MaxInjected bounds the text of one injection, in bytes. One client cuts at 10,000 characters.
// Another cuts out the middle of texts with more than 2,500 tokens, of four bytes each.
const MaxInjected = 9000

// maxLabelled bounds the line that counts older versions, in bytes.
const maxLabelled = 120

// Framed reports whether a text is empty, or one element that nothing inside it ends and that hides
// nothing.
func Framed(text string) bool {
	if text == "" {
		return true
	}
	open, rest, ok := strings.Cut(text, ">\n")
	inner, closed := strings.CutSuffix(rest, "</"+Element+">\n")
	for line := range strings.Lines(inner) { // as it was made harmless: line by line
		ok = ok && attack.Untag(line) == line && unseen.Reveal(unseen.Visible(line)) == line
	}
	return ok && closed && strings.HasPrefix(open, "<"+Element+" ") && attack.Untag(open[1:]) == open[1:] && len(text) <= MaxInjected+maxLabelled
}

// Parcel holds the parts of one element.
type Parcel struct {
	Attributes string // of the opening tag
	Intro      string // describes the content
	Items      []pack.Item
	Left       int    // how many more there would be
	Gone       int    // how many more are withheld, because code that they name has changed
	Tail       string // follows the lines; may be empty
	More       string // follows the number of items left out
	Budget     int    // tokens of all but the tail
}

// Pack returns the element with the chosen items in the order of their places, "" without any and
// without a tail. forms say how each item is in. says reports whether two items say the same; it
// may be nil.
//
// A line costs at least a quarter of its bytes in tokens, so the room in tokens bounds the bytes
// too.
func (p Parcel) Pack(says func(first, second int) bool) (text string, forms []pack.Form) {
	open, end := p.frame()
	tail := ""
	if p.Tail != "" {
		tail = "\n" + p.Tail + "\n"
	}
	room := func(more string) int {
		return min(p.Budget-pack.Tokens(open+more+end), (MaxInjected-len(open+more+tail+end))/4)
	}
	all, some := room(""), func(tier int) int { return room(p.saidAtMost(tier)) }
	if forms = pack.Choose(p.Items, func(int) int { return all }, says); p.Left > 0 || slices.Contains(forms, pack.Left) || slices.Contains(forms, pack.Short) {
		forms = pack.Choose(p.Items, some, says)
	}
	lines := make([]string, len(p.Items)) // by place
	given, cut, short := 0, p.Left, 0
	for i, item := range p.Items {
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
	if given == 0 && p.Tail == "" {
		return "", forms
	}
	said := p.said(cut, short)
	older := p.label(lines, p.Budget-pack.Tokens(open+said+end), MaxInjected-len(open+said+tail+end))
	var b strings.Builder
	for _, line := range lines {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return open + b.String() + older + said + tail + end, forms
}

// label puts the labels of items behind their lines, if all of them have room in tokens and bytes.
// Otherwise one line counts them: changes by others must not take the place of a memory.
func (p Parcel) label(lines []string, tokens, size int) (instead string) {
	n, labels := 0, make([]string, len(lines))
	for _, item := range p.Items {
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

// frame returns the text before and behind the lines.
func (p Parcel) frame() (open, end string) {
	return "<" + Element + " " + p.Attributes + ">\n" + p.Intro + "\n", "</" + Element + ">\n"
}

// saidAtMost returns the longest text of said without shortened items in later tiers. A note about
// those must not displace an item of this tier.
func (p Parcel) saidAtMost(tier int) string {
	short := 0
	for _, item := range p.Items {
		if item.Short != "" && item.Tier <= tier {
			short++
		}
	}
	return p.said(p.Left+len(p.Items), short)
}

// least returns the smallest budget with which some item has room: all of them, or the shortest
// line and the note on the rest.
func (p Parcel) least() int {
	open, end := p.frame()
	cost := func(line string) int { return pack.Tokens(line) + 1 } // as Choose counts
	all, some := 0, 0
	for i, item := range p.Items {
		line := cost(item.Whole)
		all += line
		if item.Short != "" {
			line = min(line, cost(item.Short))
		}
		if line += pack.Tokens(open + p.saidAtMost(item.Tier) + end); i == 0 || line < some {
			some = line
		}
	}
	if p.Left > 0 {
		return some
	}
	return min(some, pack.Tokens(open+end)+all)
}

// said returns the line that counts omitted and shortened items, or "".
func (p Parcel) said(cut, short int) string {
	var parts []string
	if cut > 0 {
		parts = append(parts, fmt.Sprintf("%d more%s", cut, p.More))
	}
	if p.Gone > 0 {
		parts = append(parts, fmt.Sprintf("%d withheld: code that they name has changed", p.Gone))
	}
	if short > 0 {
		parts = append(parts, fmt.Sprintf("… marks %d shortened: `reverie show ID`", short))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "\n"
}

// maxNext bounds the memories without room that the ledger names.
const maxNext = 20

// maxOfKind bounds the candidates of one kind and tier to try, the most valuable. As many short
// lines, of about 17 tokens each, fit into an injection.
const maxOfKind = 128

// fill packs candidates, the most valuable first, and notes the fate of each in the injection.
func fill(in *Injection, all []candidate, p Parcel) {
	type class struct {
		tier int
		kind record.Kind
	}
	known := map[class]int{}
	var tried []int // in all
	for i, c := range all {
		s := class{c.tier, c.m.Kind}
		if known[s]++; known[s] > maxOfKind {
			p.Left++
			continue
		}
		p.Items = append(p.Items, pack.Item{Place: len(tried), Tier: c.tier, Kind: string(c.m.Kind), Value: c.value(), Whole: c.line(), Short: c.short(), Label: c.s.Older})
		tried = append(tried, i)
	}
	prints := make([]record.Fingerprint, len(tried))
	printed := func(i int) record.Fingerprint {
		if m := all[tried[i]].m; prints[i] == (record.Fingerprint{}) {
			prints[i] = record.Print(m.Text)
		}
		return prints[i]
	}
	text, forms := p.Pack(func(first, second int) bool {
		return all[tried[first]].covers(all[tried[second]]) && printed(first).Same(printed(second))
	})
	became := make([]pack.Form, len(all))
	for i, form := range forms {
		became[tried[i]] = form
	}
	for i, c := range all {
		switch became[i] {
		case pack.Short:
			in.Items = append(in.Items, Given{ID: c.m.ID, Why: append(slices.Clip(c.why), "shortened"), Short: true})
		case pack.Whole:
			in.Items = append(in.Items, Given{ID: c.m.ID, Why: c.why})
		case pack.Folded:
			in.Cut[CutAlike]++
		default:
			if in.Cut[CutBudget]++; len(in.Next) < maxNext {
				in.Next = append(in.Next, c.m.ID)
			}
		}
	}
	if text == "" && len(p.Items) > 0 {
		in.Least = p.least()
	}
	in.SetText(text)
}
