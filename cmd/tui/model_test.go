package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// desk is a model whose commands run at once, and a list that its actions change.
type desk struct {
	*model
	t     *testing.T
	items []Item
	did   []string
	fails error
}

func newDesk(t *testing.T, titles ...string) *desk {
	d := &desk{t: t}
	for i, title := range titles {
		d.items = append(d.items, Item{ID: fmt.Sprint("id", i), Title: title, Note: "note"})
	}
	text := func(what string) func(context.Context, string, int) (string, error) {
		return func(_ context.Context, id string, width int) (string, error) {
			return fmt.Sprintf("%s of %s\n%s", what, id, strings.Repeat("line\n", 30)), nil
		}
	}
	drop := func(_ context.Context, ids []string) (string, error) {
		if d.fails != nil {
			return "", d.fails
		}
		d.did = append(d.did, ids...)
		d.items = slices.DeleteFunc(d.items, func(x Item) bool { return slices.Contains(ids, x.ID) })
		return "dropped\n" + strings.Join(ids, " "), nil
	}
	tabs := []Tab{{
		Name: "things", Empty: "there are none",
		Load:  func(context.Context) ([]Item, error) { return slices.Clone(d.items), d.fails },
		Views: []View{{Text: text("all")}, {Key: "w", Name: "why", Text: text("why"), End: true}},
		Actions: []Action{
			{Key: "y", Name: "drop", Many: true, Do: drop},
			{Key: "x", Name: "drop surely", Confirm: "Drop it?", Do: drop},
			{Key: "u", Name: "undo", Bare: true, Do: func(_ context.Context, ids []string) (string, error) {
				if len(d.did) == 0 || len(ids) > 0 {
					return "", fmt.Errorf("nothing to undo of %q", ids)
				}
				last := d.did[len(d.did)-1]
				d.did, d.items = d.did[:len(d.did)-1], append(d.items, Item{ID: last, Title: "back"})
				return "undone: " + last, nil
			}},
			{Key: "e", Name: "edit", Takes: func(context.Context, string, io.Reader, io.Writer, io.Writer) error { return nil }},
		},
	}, {Name: "others", Empty: "no others", Load: func(context.Context) ([]Item, error) { return nil, nil }, Views: []View{{Text: text("other")}}}}
	d.model = newModel(t.Context(), tabs)
	d.do(d.Init())
	d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
	return d
}

// do runs a command and what follows from it.
func (d *desk) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.do(c)
		}
	default:
		d.send(msg)
	}
}

func (d *desk) send(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		return
	}
	_, cmd := d.Update(msg)
	d.do(cmd)
	rows := strings.Split(d.screen(), "\n")
	if d.width > 0 && len(rows) > d.height {
		d.t.Fatalf("%d rows on a screen of %d", len(rows), d.height)
	}
	for _, row := range rows {
		if w := ansi.StringWidth(row); w > d.width {
			d.t.Fatalf("%q has %d cells on a screen of %d", row, w, d.width)
		}
	}
}

func (d *desk) press(keys ...string) {
	named := map[string]rune{"down": tea.KeyDown, "tab": tea.KeyTab, "space": tea.KeySpace, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace}
	for _, key := range keys {
		msg := tea.KeyPressMsg{Code: named[key]}
		if len(key) == 1 {
			msg = tea.KeyPressMsg{Code: rune(key[0]), Text: key}
		}
		d.send(msg)
	}
}

// shows fails unless the screen has the texts.
func (d *desk) shows(texts ...string) {
	d.t.Helper()
	screen := ansi.Strip(d.screen())
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("the screen has no %q:\n%s", text, screen)
		}
	}
}

func TestSelectedIsShownAndDecided(t *testing.T) {
	d := newDesk(t, "one", "two", "three")
	d.shows("[things (3)]", " others (0)", "> one", "all of id0", " 1/3 ", "y drop")
	d.press("down")
	d.shows("> two", "all of id1", " 2/3 ")
	d.press("y")
	d.shows("> three", "all of id2", "dropped id1", "[things (2)]")
	d.press("x")
	d.shows("Drop it? [y,n]")
	d.press("n")
	d.press("x", "y")
	d.shows("> one", "dropped id2")
	d.press("y", "y")
	d.shows("there are none", "[things (0)]")
	if !slices.Equal(d.did, []string{"id1", "id2", "id0"}) {
		t.Errorf("did %q", d.did)
	}
}

// The last item of a list is gone with a decision, and undo brings it back.
func TestUndoNeedsNoItem(t *testing.T) {
	d := newDesk(t, "one")
	d.press("y")
	d.shows("there are none", "[things (0)]")
	d.press("u")
	d.shows("> back", "[things (1)]", "undone: id0")
	d.press("u")
	d.shows("! nothing to undo")
}

func TestViewsTurnAndScroll(t *testing.T) {
	d := newDesk(t, "one", "two")
	d.press("pgdown")
	d.shows("lines 15–")
	d.press("w")
	d.shows("· why", "of 31")
	if screen := ansi.Strip(d.screen()); strings.Contains(screen, "why of id0") {
		t.Errorf("a log begins at its end:\n%s", screen)
	}
	d.press("w")
	d.shows("all of id0")
	d.press("tab")
	d.shows("[others (0)]", "no others")
	d.press("?")
	d.shows("the next list")
}

func TestAnErrorIsSaidAndNothingIsLost(t *testing.T) {
	d := newDesk(t, "one", "two")
	d.fails = errors.New("the disk\nis full")
	d.press("y")
	d.shows("! the disk is full", "> one", "things (2)")
	d.fails = nil
	d.press("y")
	d.shows("> two", "dropped id0")
}

// An item that replaced another has to be seen before a key decides about it.
func TestOnlyWhatIsInSightIsDecided(t *testing.T) {
	d := newDesk(t, "one", "two")
	d.Update(loaded{0, d.items[1:], nil}) // the text of "two" is on its way
	d.press("y")
	if len(d.did) > 0 {
		t.Errorf("decided %q, which nobody saw", d.did)
	}
}

// Leaving right after a decision waits for it, and for the decisions queued behind it. A failure
// keeps the person here.
func TestLeavingWaitsForWhatWasDecided(t *testing.T) {
	press := func(d *desk, key rune) tea.Cmd {
		_, cmd := d.Update(tea.KeyPressMsg{Code: key})
		return cmd
	}
	quits := func(cmd tea.Cmd) bool {
		if cmd == nil {
			return false
		}
		_, is := cmd().(tea.QuitMsg)
		return is
	}
	for _, test := range []struct {
		name  string
		busy  bool // the tab reads its list when a person decides
		fails bool
	}{{"at work", false, false}, {"waits", true, false}, {"fails", false, true}, {"waits and fails", true, true}} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, "one", "two")
			var work tea.Cmd
			if test.busy {
				work = d.load(0)
				if cmd := press(d, 'y'); cmd != nil {
					t.Fatal("two functions of a tab are at work")
				}
			} else {
				work = press(d, 'y')
			}
			for range 2 {
				if quits(press(d, 'q')) {
					t.Fatal("left, and what was decided is not done")
				}
			}
			d.shows("drop … then leave")
			if test.busy {
				_, work = d.Update(work())
			}
			if test.fails {
				d.fails = errors.New("the disk is full")
			}
			_, next := d.Update(work())
			if test.fails {
				d.shows("! the disk is full")
				d.do(next)
			} else if !slices.Equal(d.did, []string{"id0"}) || !quits(next) {
				t.Fatalf("did %q, and did not leave", d.did)
			}
			if len(d.undone()) > 0 {
				t.Errorf("undone is %q", d.undone())
			}
			if test.fails && !quits(press(d, 'q')) {
				t.Error("a second time there is nothing to wait for")
			}
		})
	}
	d := newDesk(t, "one")
	press(d, 'y')
	press(d, 'q')
	if _, cmd := d.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); !quits(cmd) {
		t.Error("ctrl+c did not leave")
	}
	if !slices.Equal(d.undone(), []string{"drop"}) {
		t.Errorf("undone is %q", d.undone())
	}
}

func TestSmallAndWideScreens(t *testing.T) {
	d := newDesk(t, "提交信息使用英文，并且每次提交只包含一个主题；不要把格式化和功能修改混在一起。", "families 👨‍👩‍👧 stay as they are and go on and on, beyond the edge")
	for _, size := range [][2]int{{80, 24}, {20, 7}, {21, 8}, {19, 30}, {5, 3}, {300, 100}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.press("?", "?", "down", "w", "w", "k")
	}
}

// A log is followed as long as its end is visible. After scrolling back, the visible lines stay,
// even if the first lines of all are gone.
func TestALogIsFollowed(t *testing.T) {
	d := newDesk(t, "one")
	first, last := 1, 100
	d.tabs[0].Every = 1 // what is known may change
	d.tabs[0].Views[1].Text = func(context.Context, string, int) (string, error) {
		var b strings.Builder
		for n := first; n <= last; n++ {
			fmt.Fprintf(&b, "line %d.\n", n)
		}
		return b.String(), nil
	}
	more := func(from, to int) {
		first, last = from, to
		d.do(d.load(0))
	}
	d.press("w")
	d.shows("line 100.", "lines 85–100 of 100")
	more(1, 150)
	d.shows("line 150.")
	more(101, 3000)
	d.shows("line 3000.")
	d.send(tea.WindowSizeMsg{Width: 60, Height: 10})
	d.shows("line 3000.")
	d.press("b")
	d.shows("line 2994.", "lines 2890–2895 of 2900")
	more(2001, 4000)
	d.shows("line 2990.", "line 2995.", "lines 990–995 of 2000")
	more(2001, 4500)
	d.shows("line 2990.", "line 2995.")
	for range 400 {
		d.press("pgdown")
	}
	d.shows("line 4500.")
	more(3001, 5000)
	d.shows("line 5000.")
	d.press("w", "w")
	d.shows("line 5000.")
}

func TestKeysThatHaveNoUse(t *testing.T) {
	d := newDesk(t, "one", "two")
	d.items[0].Not = "y"
	d.do(d.load(0))
	if foot := ansi.Strip(d.keyLine(&d.tabs[0])); strings.Contains(foot, "y drop") {
		t.Errorf("offered is %q", foot)
	}
	d.press("y")
	d.shows("there is nothing to drop", "> one")
	d.press("down", "y")
	if !slices.Equal(d.did, []string{"id1"}) {
		t.Errorf("did %q", d.did)
	}
}

// However narrow the screen is, the way to all keys is in sight.
func TestKeysFitTheScreen(t *testing.T) {
	d := newDesk(t, "one")
	for _, width := range []int{20, 30, 40, 60, 80} {
		d.send(tea.WindowSizeMsg{Width: width, Height: 7})
		if foot := ansi.Strip(d.keyLine(&d.tabs[0])); !strings.Contains(foot, "? keys") || ansi.StringWidth(foot) > width {
			t.Errorf("%d: %q", width, foot)
		}
		d.press("?")
		d.shows("any key: back", "y drop")
		d.press("j")
		d.shows("> one")
	}
}

func TestFitBreaksNothingOff(t *testing.T) {
	text := "    reverie loop start PLAN --agent NAME --audit CMD"
	for width := 20; width < 60; width++ {
		all := ""
		for line := range strings.SplitSeq(fit(text, width), "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("%d: %q", width, line)
			}
			all += line
		}
		if strings.ReplaceAll(all, " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%d: %q", width, all)
		}
	}
}

// A question is seen as a whole, and so is an answer, on a screen that is narrower than they are.
func TestWhatIsSaidIsNotCut(t *testing.T) {
	d := newDesk(t, "one")
	d.send(tea.WindowSizeMsg{Width: 20, Height: 8})
	d.tabs[0].Actions[1].Confirm = "End this loop? Its work stays where it is."
	d.press("x")
	d.shows("End this loop? Its\nwork stays where it\nis. [y,n]")
	if n := strings.Count(ansi.Strip(d.screen()), "\n"); n != 7 {
		t.Errorf("%d lines on a screen of 8", n+1)
	}
	d.fails = errors.New(strings.Repeat("word ", 40))
	d.press("y")
	d.shows("! word word word", "…")
	if n := strings.Count(ansi.Strip(d.screen()), "\n"); n != 7 {
		t.Errorf("%d lines on a screen of 8", n+1)
	}
}

// Escape goes back to what is known of an item, and never leaves.
func TestEscapeGoesBack(t *testing.T) {
	d := newDesk(t, "one")
	d.press("w")
	d.shows(" 1/1 · why ")
	d.do(d.key("esc"))
	d.shows("all of id0")
	if cmd := d.key("esc"); cmd != nil {
		if _, quits := cmd().(tea.QuitMsg); quits {
			t.Error("escape left")
		}
	}
	d.press("?")
	d.shows("esc")
}

func (d *desk) click(x, y int, button tea.MouseButton) {
	d.send(tea.MouseClickMsg{X: x, Y: y, Button: button})
}

// A query narrows the list as it is typed, keys of actions are letters meanwhile, and escape brings
// the whole list back.
func TestAQueryNarrowsTheList(t *testing.T) {
	d := newDesk(t, "one yew", "two", "three yew")
	d.press("/", "y", "e", "w", "x")
	d.shows("[things (0)]", "nothing matches yewx", "/yewx▏")
	d.press("backspace", "enter")
	d.shows("[things (2)]", "/yew", "> one yew")
	if len(d.did) > 0 {
		t.Errorf("a letter of the query did %q", d.did)
	}
	d.press("y")
	d.shows("[things (1)]", "> three yew", "dropped id0")
	d.press("esc")
	d.shows("[things (2)]", "two")
	d.tabs[0].Find = func(_ context.Context, query string) ([]Item, error) {
		return []Item{{ID: "found", Title: "answer to " + query}}, nil
	}
	d.press("/", "q")
	d.shows("[things (1)]", "> answer to q")
}

// Marked items are decided together after a question, and a query and "a" choose them.
func TestMarkedItemsAreDecidedTogether(t *testing.T) {
	d := newDesk(t, "one", "two", "three", "four")
	d.press("space", "down", "space")
	d.shows(" *one", "  two", " *three", "2 marked")
	d.press("y")
	d.shows("drop 2 marked? [y,n]")
	d.press("n")
	if len(d.did) > 0 {
		t.Fatalf("did %q after a no", d.did)
	}
	d.press("y", "y")
	d.shows("[things (2)]", "dropped id0 id2")
	d.press("/", "f", "o", "u", "enter", "a", "y", "y", "esc")
	d.shows("[things (1)]", "two")
	if !slices.Equal(d.did, []string{"id0", "id2", "id3"}) {
		t.Errorf("did %q", d.did)
	}
}

// From 100 columns list and text stand side by side; clicks and the wheel reach both, on either
// screen.
func TestMouseOnWideAndNarrowScreens(t *testing.T) {
	d := newDesk(t, "one", "two", "three")
	for _, test := range []struct{ width, top, text int }{{60, 1, 10}, {120, 2, 60}} {
		d.send(tea.WindowSizeMsg{Width: test.width, Height: 20})
		d.click(5, test.top+1, tea.MouseLeft)
		d.shows("> two", "all of id1")
		d.send(tea.MouseWheelMsg{X: 5, Y: test.top, Button: tea.MouseWheelDown})
		d.shows("> three", "all of id2")
		d.send(tea.MouseWheelMsg{X: test.text, Y: 10, Button: tea.MouseWheelDown})
		d.shows("> three", "lines 4–")
		d.click(5, test.top, tea.MouseRight)
		d.shows(">*one", "1 marked")
		d.click(5, test.top, tea.MouseRight)
		d.click(16, 0, tea.MouseLeft)
		d.shows("[others (0)]")
		d.click(2, 0, tea.MouseLeft)
		d.shows("[things (3)]")
	}
	first := strings.Split(ansi.Strip(d.screen()), "\n")[2]
	if !strings.Contains(first, "one") || !strings.Contains(first, "│ all of id0") {
		t.Errorf("side by side: %q", first)
	}
}

// An empty list shows what Blank knows.
func TestAnEmptyListShowsSomethingUseful(t *testing.T) {
	d := newDesk(t, "one")
	d.tabs[0].Blank = func(context.Context, int) (string, error) { return "known: 3 memories", nil }
	d.press("y")
	d.shows("there are none", "known: 3 memories")
	d.press("u")
	d.shows("> back", "all of id0")
}
