package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
)

func TestMergeLines(t *testing.T) {
	for _, c := range []struct{ origin, a, b, want string }{
		{"1 2 3 4", "1! 2 3 4", "1 2 3! 4", "1! 2 3! 4"},
		{"1 2 3 4", "1! 2 3 4", "1 2! 3 4", ""}, // they touch
		{"1 2 3 4", "1! 2! 3 4", "1! 2! 3 4", "1! 2! 3 4"},
		{"1 2 3 4", "1! 2 3 4", "1? 2 3 4", ""},
		{"1 2 3", "1 2 3 4", "1 2 3 5", ""}, // at one place
		{"1 2 3", "0 1 2 3", "1 2 3 4", "0 1 2 3 4"},
		{"1 2 3 4 5", "1 4 5", "1 2 3 4 5!", "1 4 5!"},
		{"1 2 3 4 5", "1 4 5", "1 2 3! 4 5", ""},
		{"1 2 3", "1 2 3", "1 2", "1 2"},
	} {
		lines := func(s string) string { return strings.ReplaceAll(s, " ", "\n") }
		for _, sides := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			got, ok := mergeLines(lines(c.origin), lines(sides[0]), lines(sides[1]))
			if ok != (c.want != "") || ok && got != lines(c.want) {
				t.Errorf("from %s: %s and %s: %q, %v; want %q", c.origin, sides[0], sides[1], got, ok, c.want)
			}
		}
	}
	if _, ok := mergeLines(strings.Repeat("x\n", maxMergeLines), "y", "z"); ok {
		t.Error("a text of too many lines was compared")
	}
}

// after returns a life by hand, of a text that replaced others.
func after(length int, over ...string) life {
	l := life{length: length, over: over}
	if len(over) == 1 {
		l.origin = over[0]
	}
	return l
}

// textLives returns lives of texts alone.
func textLives(values map[string]life) lives {
	l := newLives(&joins{})
	l.of[textField] = values
	return l
}

func TestTextsWhereNoneIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		lives map[string]life
		want  []string
	}{
		"one is there":         {map[string]life{"a": after(1), "b": after(4)}, []string{"a"}},
		"the longest":          {map[string]life{"a": after(2), "b": after(4)}, []string{"b"}},
		"not what it replaced": {map[string]life{"a": after(2), "b": after(2, "a"), "c": after(2, "a")}, []string{"b", "c"}},
		"nor what it settled":  {map[string]life{"a": after(2), "b": after(2), "c": after(2, "a", "b"), "d": after(2, "c"), "e": after(2, "c")}, []string{"d", "e"}},
		"each replaced other":  {map[string]life{"a": after(2, "b"), "b": after(2, "a")}, []string{"a", "b"}},
	} {
		if d := cmp.Diff(c.want, textLives(c.lives).standing(textField)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A conflict that was settled, by another text or by one of its own, stays so if a later one is
// settled differently on two sides.
func TestSettledTextsStayAway(t *testing.T) {
	text := func(texts ...string) facts { return facts{textField: texts, thereField: {"yes"}} }
	side := func(l lives, texts ...string) lives {
		l = l.clone()
		l.observe(text(texts...))
		return l
	}
	both := func(l lives, a, b string) lives { return meet(side(l, a), side(l, b)) }
	for _, settled := range []string{"settled", "a"} {
		l := side(newLives(&joins{}), "first")
		l = side(both(l, "a", "b"), settled)
		l = both(l, "c", "d")
		if d := cmp.Diff([]string{"c", "d"}, l.visible()[textField]); d != "" {
			t.Fatalf("%s: %s", settled, d)
		}
		l = both(l, "c", "d")
		if d := cmp.Diff([]string{"c", "d"}, l.visible()[textField]); d != "" {
			t.Errorf("%s: %s", settled, d)
		}
	}
}

// Two clones that replace different texts with the same one agree on its origin.
func TestMeetingIsTheSameFromBothSides(t *testing.T) {
	a, b := textLives(map[string]life{"x": after(1, "a")}), textLives(map[string]life{"x": after(1, "b")})
	if d := cmp.Diff(meet(a, b).of, meet(b, a).of, cmp.AllowUnexported(life{})); d != "" {
		t.Error(d)
	}
}

func TestFilesThatCannotBeReadGiveWay(t *testing.T) {
	m := New(Memory{Kind: Fact, Text: "Good.", Source: Source{By: "human", How: Written}})
	good := string(m.Format())
	for _, c := range []struct{ ours, theirs, want string }{
		{"bad", good, good}, {good, "bad", good}, {"bad", "worse", "worse"}, {"bad", "", "bad"},
	} {
		for _, sides := range [][2]string{{c.ours, c.theirs}, {c.theirs, c.ours}} {
			merged, dropped, err := MergeFiles(m.Path(), []byte(good), bytesOrNil(sides[0]), bytesOrNil(sides[1]))
			if err != nil || string(merged) != c.want || !dropped {
				t.Errorf("%q and %q: %q, %v, %v", sides[0], sides[1], merged, dropped, err)
			}
		}
	}
}

func bytesOrNil(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// Many long texts that replaced one are not compared with each other, and a cancelled merge ends.
func TestMergeOfManyLongTextsEnds(t *testing.T) {
	m := New(Memory{Kind: Fact, Text: "First.", Source: Source{By: "human", How: Written}})
	content := func(n int) gitstore.ID {
		m.Text, m.Body = fmt.Sprintf("Text %d.", n), strings.Repeat(fmt.Sprintf("%d\n", n), 9000)
		return gitstore.ID(m.Format())
	}
	h := gitstore.History{Versions: []gitstore.Version{{ID: content(0)}}, Read: func(id gitstore.ID) ([]byte, error) { return []byte(id), nil }}
	for n := range 24 {
		h.Versions = append(h.Versions, gitstore.Version{ID: content(n + 1), Parents: []int{0}})
	}
	h.Versions = append(h.Versions, gitstore.Version{ID: content(30), Parents: []int{1, 2, 3}})
	h.Ours, h.Theirs = 25, 24
	o, err := resolve(t.Context(), m.Path(), h)
	if err != nil || !strings.Contains(o.Text.String(), "Text 30.") {
		t.Errorf("merged: %.80s, %v", o.Text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := resolve(ctx, m.Path(), h); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
