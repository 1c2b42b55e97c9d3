// Package pack chooses what an agent is given when not all has room. Choose is the entry: items
// with a value, and a budget in tokens, to the form in which each is given. It knows no memories,
// no clock and no chance: the same items, in any order, and the same budget have the same answer.
// It keeps no state.
package pack

import (
	"cmp"
	"slices"
)

// Item is a line that may be given.
type Item struct {
	Place int     // where it would stand among the others: every item has its own
	Tier  int     // the lower, the sooner: what a tier takes, no later one can have
	Kind  string  // items of one kind are worth less the more of them there are
	Value float64 // of the whole, more than 0
	Whole string  // the line without a line feed
	Short string  // the same in fewer tokens, "" where there is none
	Label string  // what else there is to say of it, which plays no part in the choice
}

// Form is how an item is given.
type Form uint8

const (
	Left   Form = iota // it has no room
	Folded             // another one that is given says the same
	Short              // shortened
	Whole
)

// shortShare is what a shortened item is worth, of the whole: the first sentence of a statement
// says most of it.
const shortShare = 0.7

// Choose gives each item its form, such that the lines of those of a tier and of all earlier ones
// that are given, each with a line feed, take at most budget(tier) tokens; no tier's budget is
// larger than an earlier one's. says reports whether a second item says nothing that a first does
// not; nil is never.
//
// It goes from tier to tier. In each it first makes sure of the best item of every kind, shortened
// where it can be, and then takes all others and what the shortened ones lack, the most value for a
// token first. The n-th best of a kind counts 1/n. What does not fit whole is tried shortened, and
// what does not fit at all is passed over for what does.
//
// So no item keeps one of an earlier tier from being given, a shelf of one kind does not push out
// the only item of another, and a larger budget is never worth less, if first of all the kinds'
// best of the first tier count, then the others of it, then those of the next tier, and so on:
// where a larger budget first takes a line that had no room before, this line alone is worth more
// than all that could have been put into that room, for nothing behind it is worth as much a token.
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

// tiers are the indices of the items, each tier in the order of places.
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
	whole []int // what each takes whole, in tokens
	short []int // likewise shortened
	left  int   // tokens; less than 0 where a tier has a smaller budget than earlier ones took
	taken []int // in the order in which they were
	says  func(first, second int) bool
}

// step is to give an item in a form, instead of what it has.
type step struct {
	item    int
	form    Form
	density float64 // value a token
}

// steps are those of one tier: for the best of each kind, and all others, the best first.
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

// cost is what a line takes with its line feed.
func cost(line string) int { return Tokens(line) + 1 }
