package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Promises of the gate, independent of the search for its memories.

// shelfOf returns memories of the texts among 40 unrelated ones, so that a word in a few of them is
// rare.
func shelfOf(texts ...string) []record.Memory {
	var others []string
	for i := range 40 {
		others = append(others, fmt.Sprintf("Gadget%d rotates anticlockwise with ratchet%d", i, i))
	}
	return append(memories(texts...), memories(others...)...)
}

func texts(t testing.TB, all []record.Memory, prompt string) (out []string) {
	t.Helper()
	for _, r := range relevant(t, all, prompt) {
		out = append(out, r.Memory.Text)
	}
	return out
}

// Each rule with a prompt on either side of it.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		rule     string
		memories []string
		prompt   string
		want     []string
	}{
		{"two plain words are enough where they are half of the prompt", []string{"Widgets need lacquer"}, "lacquer widgets", []string{"Widgets need lacquer"}},
		{"one plain word is not", []string{"Widgets need lacquer"}, "the lacquer", nil},
		{"words that nobody has say that it is about something else", []string{"Widgets need lacquer"}, "lacquer widgets beside porcelain teacups", nil},
		{"one of them does not", []string{"Widgets need lacquer"}, "lacquer widgets, teacups", []string{"Widgets need lacquer"}},
		{"three words are enough where they hold two fifths of what is asked", []string{"Widgets need lacquer and varnish"}, "lacquer, varnish and widgets beside porcelain teacups", []string{"Widgets need lacquer and varnish"}},
		{"a name is enough alone", []string{"`parseHeader` must not allocate"}, "speed up parseHeader", []string{"`parseHeader` must not allocate"}},
		{"also in a long prompt, where few have it", []string{"`parseHeader` must not allocate"},
			"please speed up parseHeader because the customers complained about latency yesterday during lunch", []string{"`parseHeader` must not allocate"}},
		{"a name written otherwise counts half", []string{"The parseheader must not allocate"}, "speed up parseHeader", nil},
		{"words of any work are no reason", []string{"Fix tests before you commit code"}, "fix the tests and commit the code", nil},
		{"a long prompt that says half of a statement again", []string{"Orders are kept in Postgres because refunds need transactions"},
			"the accountants asked whether orders and refunds could share transactions in postgres", []string{"Orders are kept in Postgres because refunds need transactions"}},
		{"and one that says a third of it", []string{"Orders are kept in Postgres because refunds need transactions, receipts, ledgers and vouchers"},
			"the accountants, auditors, lawyers, cashiers and bakers asked yesterday evening whether orders and refunds could share postgres or elsewhere", nil},
		{"four pairs of Han characters", []string{"订单保存在数据库里"}, "订单保存在哪里", []string{"订单保存在数据库里"}},
		{"a pair is not enough", []string{"订单保存在数据库里"}, "订单呢", nil},
		{"letters of another case", []string{"Widgets need LACQUER"}, "widgets lacquer", []string{"Widgets need LACQUER"}},
	} {
		if diff := cmp.Diff(c.want, texts(t, shelfOf(c.memories...), c.prompt)); diff != "" {
			t.Errorf("%s: %q\n%s", c.rule, c.prompt, diff)
		}
	}
}

func TestGateLooksAtFields(t *testing.T) {
	build := func(m record.Memory) []record.Memory {
		m.Kind = record.Fact
		return append(shelfOf(), record.New(m))
	}
	for _, c := range []struct {
		what   string
		memory record.Memory
		prompt string
		want   bool
	}{
		{"a tag counts whole", record.Memory{Text: "Sand it first", Tags: []string{"lacquer", "widgets"}}, "lacquer widgets", true},
		{"the body counts half", record.Memory{Text: "Sand it first", Body: "Else the lacquer of widgets peels."}, "lacquer widgets", false},
		{"of the body four words are enough", record.Memory{Text: "Sand it first", Body: "Else the lacquer of widgets peels and blisters."}, "lacquer widgets blisters peels", true},
		{"a path that a glob covers", record.Memory{Text: "Sand it first", Paths: []string{"shop/**"}}, "tidy up shop/cart.tsx for me", true},
		{"one beside it", record.Memory{Text: "Sand it first", Paths: []string{"shop/**"}}, "tidy up shops/cart.tsx for me", false},
		{"a folder", record.Memory{Text: "Sand it first", Paths: []string{"shop"}}, "tidy up shop/cart.tsx for me", true},
		{"a glob of some files", record.Memory{Text: "Sand it first", Paths: []string{"shop/app*.ts"}}, "tidy up shop/cart.tsx for me", false},
		{"and of these", record.Memory{Text: "Sand it first", Paths: []string{"shop/app*.ts"}}, "tidy up ./shop/app2.ts for me", true},
		{"a file of its own", record.Memory{Text: "Sand it first", Paths: []string{"shop/cart.tsx"}}, "shop/cart.tsx:14:5: tidy this up for me", true},
		{"and a line of it on a forge", record.Memory{Text: "Sand it first", Paths: []string{"shop/cart.tsx"}}, "tidy up shop/cart.tsx#L10-L12 for me", true},
		{"and as a compiler says it", record.Memory{Text: "Sand it first", Paths: []string{"shop/cart.tsx"}}, "tidy up shop/cart.tsx(14,5) for me", true},
		{"a glob of everything says nothing", record.Memory{Text: "Sand it first", Paths: []string{"**", "*.tsx"}}, "tidy up shop/cart.tsx for me", false},
		{"any text of a contested one", record.Memory{Text: "Sand it first", Status: record.Contested, Variants: []record.Variant{{Text: "Widgets need lacquer"}}}, "lacquer widgets", true},
	} {
		all := build(c.memory)
		if got := slices.Contains(texts(t, all, c.prompt), "Sand it first"); got != c.want {
			t.Errorf("%s: %q: %v", c.what, c.prompt, got)
		}
	}
}

// The order of reading does not affect the result. A memory that shares no word with the prompt
// affects only how rare words are.
func TestGateIsIndependentOfOrderAndBystanders(t *testing.T) {
	all := shelfOf("Widgets need lacquer", "`parseHeader` must not allocate", "Lacquer widgets twice in winter", "订单保存在数据库里")
	chance := rand.New(rand.NewPCG(1, 2))
	for _, prompt := range []string{"lacquer widgets", "speed up parseHeader", "订单保存在哪里", "Gadget7 rotates", "lacquer the widgets with parseHeader"} {
		want := texts(t, all, prompt)
		if len(want) == 0 {
			t.Errorf("%q finds nothing", prompt)
		}
		sorted := slices.Sorted(slices.Values(want))
		for range 5 {
			mixed := slices.Clone(all)
			chance.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if diff := cmp.Diff(sorted, slices.Sorted(slices.Values(texts(t, mixed, prompt)))); diff != "" {
				t.Errorf("%q in another order: %s", prompt, diff)
			}
		}
		more := append(slices.Clone(all), memories("Kettles whistle", "Spoons bend", "茶杯很漂亮")...)
		if diff := cmp.Diff(want, texts(t, more, prompt)); diff != "" {
			t.Errorf("%q beside what has nothing to do with it: %s", prompt, diff)
		}
	}
}

// The first answer weighs most, and every answer names its words.
func TestGateSaysWhy(t *testing.T) {
	all := shelfOf("`parseHeader` is called for lacquer", "Widgets in `parseHeader` need lacquer")
	got := relevant(t, all, "why do widgets of parseHeader want lacquer")
	if len(got) != 2 || !strings.Contains(got[0].Memory.Text, "Widgets") || got[0].Weight <= got[1].Weight {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"parseHeader", "widgets", "lacquer"}, got[0].Words); diff != "" {
		t.Error(diff)
	}
}

// The gate reads the beginning of a long prompt.
func TestGateReadsTheBeginning(t *testing.T) {
	all := shelfOf("Widgets need lacquer")
	filler := strings.Repeat("the and of ", maxPrompt/11+1)
	if got := texts(t, all, "lacquer widgets "+filler); len(got) != 1 {
		t.Errorf("at the beginning: %q", got)
	}
	if got := texts(t, all, filler+"lacquer widgets"); len(got) != 0 {
		t.Errorf("behind %d bytes: %q", maxPrompt, got)
	}
}
