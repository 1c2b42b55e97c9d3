// Package pack selects the content for an agent within a budget of tokens. Begin with Choose: given
// items with values and a budget, it returns the form of each item. The answer depends only on the
// budget and on the items, not on their order. The package keeps no state.
package pack

import (
	"cmp"
	"slices"
)

// Item is a line that may be given.
type Item struct {
	Place int     // position among the others, unique
	Tier  int     // lower comes first: later tiers get only the rest
	Kind  string  // every further item of a kind is worth less
	Value float64 // of the whole item, more than 0
	Whole string  // the line without a line feed
	Short string  // the same in fewer tokens, or ""
	Label string  // other data, without effect on the choice
}

// Form is the rendering of an item.
type Form uint8

const (
	Left   Form = iota // it has no room
	Folded             // another chosen item has the same content
	Short              // shortened
	Whole
)

// shortShare is the value of a shortened item relative to the whole: the first sentence says most
// of a statement.
const shortShare = 0.7

// Choose returns the form of each item. The lines of a tier and all earlier ones, each with a line
// feed, take at most budget(tier) tokens. No tier may have a larger budget than an earlier one.
// says reports whether a second item adds nothing to a first; nil means never.
//
// In each tier Choose first secures the best item of every kind, shortened if possible. Then it
// adds the others and the rest of the shortened ones, the most value per token first. The n-th best
// of a kind counts 1/n. An item that does not fit whole is tried shortened, then skipped.
//
// So no item displaces one of an earlier tier, and many items of one kind do not displace the only
// one of another. A larger budget never gives a worse result, comparing first the kinds' best of
// the first tier, then its others, then the next tier. If a larger budget admits a line, that line
// is worth more than anything else for the room. Nothing behind it has as much value per token.
func Choose(items []Item, budget func(tier int) int, says func(first, second int) bool) []Form {
	c := chooser{items: items, forms: make([]Form, len(items)), says: says}
	for i := range items {
		c.whole, c.short = append(c.whole, cost(items[i].Whole)), append(c.short, cost(items[i].Short))
	}
	last := 0
	for _, tier := range tiers(items) {
		n := budget(items[tier[0]].Tier)
		c.left, last = c.left+n-last, n
		best, rest := c.steps(tier)
		c.take(best)
		c.take(rest)
	}
	return c.forms
}

// tiers returns the indices of the items, each tier in the order of places.
func tiers(items []Item) (out [][]int) {
	all := make([]int, len(items))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(items[a].Tier, items[b].Tier), cmp.Compare(items[a].Place, items[b].Place))
	})
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(i int) bool { return items[i].Tier != items[all[0]].Tier })
		if n < 0 {
			n = len(all)
		}
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

type chooser struct {
	items []Item
	forms []Form
	whole []int // tokens of each whole item
	short []int // likewise shortened
	left  int   // tokens; less than 0 where a tier has a smaller budget than earlier ones took
	taken []int // in the order in which they were
	says  func(first, second int) bool
}

// step changes the form of an item.
type step struct {
	item    int
	form    Form
	density float64 // value a token
}

// steps returns the steps of one tier: for the best of each kind, and for all others, the best
// first.
func (c *chooser) steps(tier []int) (best, rest []step) {
	byValue := slices.Clone(tier)
	slices.SortStableFunc(byValue, func(a, b int) int { return cmp.Compare(c.items[b].Value, c.items[a].Value) })
	known := map[string]int{}
	for _, i := range byValue {
		item := &c.items[i]
		known[item.Kind]++
		n := known[item.Kind]
		worth := item.Value / float64(n)
		whole := step{i, Whole, worth / float64(c.whole[i])}
		if item.Short == "" {
			if n == 1 {
				best = append(best, whole)
			} else {
				rest = append(rest, whole)
			}
			continue
		}
		short := step{i, Short, shortShare * worth / float64(c.short[i])}
		more := step{i, Whole, (1 - shortShare) * worth / float64(max(1, c.whole[i]-c.short[i]))}
		switch {
		case n == 1:
			best, rest = append(best, short), append(rest, more)
		case short.density > whole.density:
			rest = append(rest, short, more)
		default:
			rest = append(rest, whole)
		}
	}
	order := func(a, b step) int {
		return cmp.Or(cmp.Compare(b.density, a.density), cmp.Compare(c.items[a.item].Place, c.items[b.item].Place), cmp.Compare(a.form, b.form))
	}
	slices.SortFunc(best, order)
	slices.SortFunc(rest, order)
	return best, rest
}

// take takes the steps that fit.
func (c *chooser) take(steps []step) {
	for _, s := range steps {
		i := s.item
		switch c.forms[i] {
		case Short:
			if more := c.whole[i] - c.short[i]; s.form == Whole && more <= c.left {
				c.forms[i], c.left = Whole, c.left-more
			}
		case Left:
			form, n := s.form, c.whole[i]
			if c.items[i].Short != "" && (form == Short || n > c.left) {
				form, n = Short, c.short[i]
			}
			switch {
			case n > c.left:
			case c.says != nil && slices.ContainsFunc(c.taken, func(first int) bool { return c.says(first, i) }):
				c.forms[i] = Folded
			default:
				c.forms[i], c.left, c.taken = form, c.left-n, append(c.taken, i)
			}
		}
	}
}

// cost returns the tokens of a line with its line feed.
func cost(line string) int { return Tokens(line) + 1 }
