package pack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// words returns a line of n-1 words.
func words(n int) string { return strings.TrimSuffix(strings.Repeat("word ", n-1), " ") }

// flat returns one budget for all tiers.
func flat(budget int) func(int) int { return func(int) int { return budget } }

// Forty well supported conventions leave room for the only constraint and the failures.
func TestShelfPushesNothingElseOut(t *testing.T) {
	var items []Item
	for i := range 40 {
		items = append(items, Item{Place: i, Tier: 1, Kind: "convention", Value: 6, Whole: words(12)})
	}
	items = append(items,
		Item{Place: 40, Tier: 0, Kind: "constraint", Value: 1, Whole: words(60)},
		Item{Place: 41, Tier: 1, Kind: "failure", Value: 1, Whole: words(50), Short: words(20)},
		Item{Place: 42, Tier: 1, Kind: "failure", Value: 1, Whole: words(12)},
		Item{Place: 43, Tier: 1, Kind: "note", Value: 0.5, Whole: words(12)})
	forms := Choose(items, flat(400), nil)
	n := 0
	for _, f := range forms[:40] {
		if f == Whole {
			n++
		}
	}
	if forms[40] != Whole || forms[42] != Whole || forms[43] != Whole || n < 8 {
		t.Errorf("constraint %d, failures %d and %d, note %d, %d conventions", forms[40], forms[41], forms[42], forms[43], n)
	}
	items[42].Value = 0.5 // the long one is the better failure
	if forms = Choose(items, flat(400), nil); forms[41] == Left || forms[40] != Whole {
		t.Errorf("the best failure is left out: %v", forms[40:])
	}
}

// By hand: the budget of each is its own tokens and a line feed. Whole it has no room, its first
// sentence has; with more room it is whole; then the next one comes in.
func TestWholeThenShortThenLeft(t *testing.T) {
	// They take 9 and 4 tokens with line feeds.
	a := Item{Place: 0, Kind: "fact", Value: 2, Whole: "aaaa bbbb cccc dddd eeee ffff", Short: "aaaa bbbb"}
	// They take 6 and 3 tokens.
	b := Item{Place: 1, Kind: "fact", Value: 1, Whole: "gggg hhhh iiii jjjj", Short: "gggg"}
	if ca, sa, cb, sb := cost(a.Whole), cost(a.Short), cost(b.Whole), cost(b.Short); ca != 9 || sa != 4 || cb != 6 || sb != 2 {
		t.Fatalf("the costs are %d %d %d %d", ca, sa, cb, sb)
	}
	for budget, want := range map[int][]Form{
		1: {Left, Left}, 2: {Left, Short}, 3: {Left, Short}, 4: {Short, Left}, 6: {Short, Short}, 8: {Short, Short}, 10: {Short, Whole}, 11: {Whole, Short}, 15: {Whole, Whole},
	} {
		if diff := cmp.Diff(want, Choose([]Item{a, b}, flat(budget), nil)); diff != "" {
			t.Errorf("budget %d: %s", budget, diff)
		}
	}
}

func TestSecondThatSaysTheSameIsFolded(t *testing.T) {
	items := []Item{{Place: 0, Value: 1, Whole: words(10)}, {Place: 1, Value: 2, Whole: words(10)}, {Place: 2, Value: 3, Whole: words(10)}}
	even := func(first, second int) bool { return first%2 == second%2 }
	if diff := cmp.Diff([]Form{Folded, Whole, Whole}, Choose(items, flat(100), even)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Form{Folded, Left, Whole}, Choose(items, flat(2*cost(items[0].Whole)-1), even)[:3]); diff == "" {
		t.Error("one that has no room is folded")
	}
}

// shelf draws items of several kinds, tiers and lengths.
func shelf(t *rapid.T) []Item {
	n := rapid.IntRange(0, 30).Draw(t, "items")
	items := make([]Item, n)
	for i := range items {
		item := Item{Place: i, Tier: rapid.IntRange(0, 2).Draw(t, "tier"), Kind: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "kind"),
			Value: float64(rapid.IntRange(1, 20).Draw(t, "value")), Whole: fmt.Sprintf("%02d ", i) + words(rapid.IntRange(2, 60).Draw(t, "length"))}
		if rapid.Bool().Draw(t, "has a short form") {
			item.Short = item.Whole[:rapid.IntRange(1, len(item.Whole)-1).Draw(t, "short")]
		}
		items[i] = item
	}
	return rapid.Permutation(items).Draw(t, "order")
}

// same returns a relation of equal items: equal values in one tier.
func same(items []Item) func(a, b int) bool {
	return func(a, b int) bool { return items[a].Value == items[b].Value && items[a].Value > 15 }
}

func lines(items []Item, forms []Form) (out []string) {
	byPlace := map[int]string{}
	for i, f := range forms {
		if f == Short || f == Whole {
			byPlace[items[i].Place] = line(items[i], f)
		}
	}
	for i := range items {
		if l, ok := byPlace[i]; ok {
			out = append(out, l)
		}
	}
	return out
}

func line(item Item, f Form) string {
	if f == Short {
		return item.Short
	}
	return item.Whole
}

func TestNeverOverBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, budget := shelf(t), rapid.IntRange(-5, 800).Draw(t, "budget")
		forms := Choose(items, flat(budget), same(items))
		text := strings.Join(lines(items, forms), "\n")
		if text != "" && Tokens(text+"\n") > budget {
			t.Fatalf("%d tokens of %d", Tokens(text), budget)
		}
		for i, f := range forms {
			if f == Short && items[i].Short == "" {
				t.Fatalf("%d has no short form", i)
			}
		}
	})
}

// The answer depends on the items, not on their order.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, budget := shelf(t), rapid.IntRange(0, 800).Draw(t, "budget")
		again := rapid.Permutation(items).Draw(t, "again")
		if diff := cmp.Diff(lines(items, Choose(items, flat(budget), same(items))), lines(again, Choose(again, flat(budget), same(again)))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// No tier omits an item that would fit without the later tiers. No other item displaces the best of
// a kind.
func TestNoTierTakesFromAnEarlierOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, first, less := shelf(t), rapid.IntRange(0, 400).Draw(t, "budget"), rapid.IntRange(0, 40).Draw(t, "less for the next tier")
		budget := func(tier int) int { return first - tier*less }
		all := Choose(items, budget, nil)
		for tier := range 3 {
			var few []Item
			var want []Form
			for i, item := range items {
				if item.Tier <= tier {
					few, want = append(few, item), append(want, all[i])
				}
			}
			if diff := cmp.Diff(want, Choose(few, budget, nil), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("up to tier %d: %s", tier, diff)
			}
			left := budget(tier)
			for i, f := range want {
				switch f {
				case Whole:
					left -= cost(few[i].Whole)
				case Short:
					left -= cost(few[i].Short)
				}
			}
			for i, f := range want {
				if f == Left && (cost(few[i].Whole) <= left || few[i].Short != "" && cost(few[i].Short) <= left) {
					t.Fatalf("%d is left out, though %d tokens are free", i, left)
				}
			}
		}
	})
}

// worths returns the value of a choice by tier: first the best of each kind, as far as its secured
// form, then all others. The n-th of a kind counts 1/n.
func worths(items []Item, forms []Form) (out [6]float64) {
	for _, tier := range tiers(items) {
		c := chooser{items: items, whole: make([]int, len(items)), short: make([]int, len(items))}
		for i := range items {
			c.whole[i], c.short[i] = cost(items[i].Whole), cost(items[i].Short)
		}
		best, rest := c.steps(tier)
		for phase, steps := range [][]step{best, rest} {
			for _, s := range steps {
				f, item := forms[s.item], items[s.item]
				switch {
				case s.form == Whole && hasShort(best, rest, s.item): // the rest of a short form
					if f != Whole {
						continue
					}
					out[2*item.Tier+phase] += s.density * float64(max(1, cost(item.Whole)-cost(item.Short)))
				case (f == Whole || f == Short) && s.form == Short:
					out[2*item.Tier+phase] += s.density * float64(cost(item.Short))
				case f == Whole:
					out[2*item.Tier+phase] += s.density * float64(cost(item.Whole))
				case f == Short: // instead of the whole
					out[2*item.Tier+phase] += shortShare * s.density * float64(cost(item.Whole))
				}
			}
		}
	}
	return out
}

func hasShort(best, rest []step, item int) bool {
	short := func(s step) bool { return s.item == item && s.form == Short }
	return slices.ContainsFunc(best, short) || slices.ContainsFunc(rest, short)
}

func TestLargerBudgetIsNeverWorthLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, budget := shelf(t), rapid.IntRange(0, 600).Draw(t, "budget")
		more := budget + rapid.IntRange(1, 80).Draw(t, "more")
		a, b := worths(items, Choose(items, flat(budget), same(items))), worths(items, Choose(items, flat(more), same(items)))
		for i := range a {
			if b[i] > a[i]+1e-9 {
				return
			}
			if b[i] < a[i]-1e-9 {
				t.Fatalf("with %d: %v, with %d: %v", budget, a, more, b)
			}
		}
	})
}

// FuzzTokens: lines together never take less than their text, and no text less than a quarter of
// its bytes.
func FuzzTokens(f *testing.F) {
	f.Add("a  b", "用中文。\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		if whole, parts := Tokens(a+"\n"+b), cost(a)+Tokens(b); whole > parts {
			t.Errorf("%q and %q take %d, together %d", a, b, parts, whole)
		}
		if 4*Tokens(a) < len(a) {
			t.Errorf("%q: %d", a, Tokens(a))
		}
	})
}

// Worked out by hand from the rule.
func TestTokens(t *testing.T) {
	for text, want := range map[string]int{
		"":                   0,
		"never push to main": 4 + 1, // 18 bytes are 4½
		"parseHeader":        1 + 2, // parse, Header
		"os.Exit(1)":         1 + 1 + 1 + 1 + 1 + 1,
		"3f9a":               1 + 1 + 1 + 1,
		"20261121":           4,
		"用中文。":               7, // 3 × 1¾, and half of 3 bytes: 6¾
		"テスト":                4, // 3 × 1¼
		"한국어":                5, // 3 × 1½
		"Grüße":              4, // Gr, ü and ß at ¾ each, e: 3½
		"😀":                  2,
	} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
