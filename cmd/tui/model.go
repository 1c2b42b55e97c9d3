package tui

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// model is the state of the screen. Only Update changes it, on one goroutine; slow work is a
// tea.Cmd and comes back as a message.
type model struct {
	ctx           context.Context
	tabs          []tab
	now           int // the tab in sight
	width, height int // of the terminal, in cells; 0 until it is known
	said          string
	wrong         bool     // said is an error
	asks          *request // waits for a person's y
	leaves        bool     // a person wants to leave, once what was decided is done
	keys          bool     // all keys are shown in the place of the lists
	clusters      bool     // the terminal knows what one character is
}

// tab is a Tab and where a person is in it.
type tab struct {
	Tab
	items    []Item
	loaded   bool
	busy     bool   // one of the tab's functions is at work
	doing    string // the action that is
	again    bool   // the list changed meanwhile: load it when that is done
	at       int    // the selected item
	top      int    // the first item in sight
	view     int
	text     string   // of the view
	of       shown    // what text belongs to
	fitted   []string // text, in lines of fittedTo cells; nil until it is asked for
	fittedTo int
	scroll   int  // lines of the text above the screen
	follow   bool // the last lines stay in sight, whatever comes
	pending  *request
}

// shown names the item that a text belongs to.
type shown struct {
	id          string
	view, width int
}

// request is an action on an item.
type request struct {
	action Action
	id     string
}

// Messages from functions at work, each for the tab of that number.
type (
	loaded struct {
		tab   int
		items []Item
		err   error
	}
	known struct {
		tab  int
		of   shown
		text string
		err  error
	}
	done struct {
		tab  int
		said string
		err  error
	}
	due struct{ tab int }
)

func newModel(ctx context.Context, tabs []Tab) *model {
	m := &model{ctx: ctx}
	for _, t := range tabs {
		m.tabs = append(m.tabs, tab{Tab: t})
	}
	return m
}

// Init loads every tab, for their numbers of items are in sight.
func (m *model) Init() tea.Cmd {
	var all []tea.Cmd
	for i := range m.tabs {
		all = append(all, m.load(i), m.tick(i))
	}
	return tea.Batch(all...)
}

func (m *model) tick(i int) tea.Cmd {
	if m.tabs[i].Every <= 0 {
		return nil
	}
	return tea.Tick(m.tabs[i].Every, func(time.Time) tea.Msg { return due{i} })
}

// load reads a tab's list, at once or when what is at work there is done.
func (m *model) load(i int) tea.Cmd {
	t := &m.tabs[i]
	if t.busy || m.leaves {
		t.again = true
		return nil
	}
	t.busy, t.again = true, false
	return func() tea.Msg {
		items, err := t.Load(m.ctx)
		return loaded{i, items, err}
	}
}

// look reads what is known of a tab's selected item, if that is not in sight.
func (m *model) look(i int) tea.Cmd {
	t := &m.tabs[i]
	of, ok := m.wanted(i)
	if !ok || t.busy || m.width == 0 || t.of == of {
		return nil
	}
	t.busy = true
	text := t.Views[t.view].Text
	return func() tea.Msg {
		lines, err := text(m.ctx, of.id, of.width)
		return known{i, of, lines, err}
	}
}

func (m *model) wanted(i int) (shown, bool) {
	t := &m.tabs[i]
	if len(t.items) == 0 {
		return shown{}, false
	}
	return shown{t.items[t.at].ID, t.view, m.width}, true
}

// next goes on with what waits in a tab after one of its functions is done.
func (m *model) next(i int) tea.Cmd {
	t := &m.tabs[i]
	if t.busy {
		return nil
	}
	if r := t.pending; r != nil {
		t.pending = nil
		return m.act(i, *r)
	}
	if m.leaves {
		return m.leave()
	}
	if t.again {
		return m.load(i)
	}
	return m.look(i)
}

// act does an action, at once or when what is at work in the tab is done.
func (m *model) act(i int, r request) tea.Cmd {
	t := &m.tabs[i]
	if t.busy {
		t.pending = &r
		return nil
	}
	t.busy, t.again, t.doing = true, true, r.action.Name
	if r.action.Takes != nil {
		return tea.Exec(&taking{ctx: m.ctx, r: r}, func(err error) tea.Msg { return done{tab: i, err: err} })
	}
	return func() tea.Msg {
		said, err := r.action.Do(m.ctx, r.id)
		return done{i, said, err}
	}
}

// undone are the actions that a person has decided on and that have not come to an end.
func (m *model) undone() (names []string) {
	for _, t := range m.tabs {
		if t.doing != "" {
			names = append(names, t.doing)
		}
		if t.pending != nil {
			names = append(names, t.pending.action.Name)
		}
	}
	return names
}

// leave ends the program, at once or when all decisions are done. A failure until then keeps the
// person here.
func (m *model) leave() tea.Cmd {
	m.leaves = len(m.undone()) > 0
	if m.leaves {
		return nil
	}
	return tea.Quit
}

// taking is an action that has the terminal meanwhile.
type taking struct {
	ctx      context.Context
	r        request
	in       io.Reader
	out, err io.Writer
}

func (t *taking) SetStdin(r io.Reader)  { t.in = r }
func (t *taking) SetStdout(w io.Writer) { t.out = w }
func (t *taking) SetStderr(w io.Writer) { t.err = w }
func (t *taking) Run() error            { return t.r.action.Takes(t.ctx, t.r.id, t.in, t.out, t.err) }

// Update takes in what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.next(m.now)
	case tea.KeyPressMsg:
		return m, m.key(msg.Keystroke())
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore {
			m.clusters = msg.Value == ansi.ModeSet || msg.Value == ansi.ModeReset || msg.Value == ansi.ModePermanentlySet
		}
	case due:
		return m, tea.Batch(m.load(msg.tab), m.tick(msg.tab))
	case loaded:
		m.take(msg)
		return m, m.next(msg.tab)
	case known:
		t := &m.tabs[msg.tab]
		t.busy = false
		m.show(t, msg)
		return m, m.next(msg.tab)
	case done:
		t := &m.tabs[msg.tab]
		t.busy, t.doing, t.of = false, "", shown{}
		m.said, m.wrong = msg.said, false
		if msg.err != nil {
			m.said, m.wrong, m.leaves = msg.err.Error(), true, false
		}
		return m, m.next(msg.tab)
	}
	return m, nil
}

// show replaces the text. If it is of the same view, the visible lines stay in place, or the last
// ones do.
func (m *model) show(t *tab, k known) {
	before, fresh := t.lines(m.width), t.of.id != k.of.id || t.of.view != k.of.view
	if t.of, t.text, t.fitted = k.of, k.text, nil; k.err != nil {
		t.text = k.err.Error()
	}
	t.text = display(t.text, m.clusters)
	switch {
	case fresh:
		t.scroll, t.follow = 0, t.Views[k.of.view].End
	case !t.follow && t.scroll > 0:
		t.scroll = moved(before, t.lines(m.width), t.scroll)
	}
}

// moved returns the new place of the lines from at on: a later text may have lost lines at its
// beginning.
func moved(before, after []string, at int) int {
	const known = 4 // lines by which a place is known again
	seen := before[min(at, len(before)):min(at+known, len(before))]
	for i := min(at, len(after)-len(seen)); i >= 0; i-- {
		if slices.Equal(after[i:i+len(seen)], seen) {
			return i
		}
	}
	return at
}

// take puts a list in the place of the one before. The same item stays selected, or the one that
// has its place now.
func (m *model) take(l loaded) {
	t := &m.tabs[l.tab]
	t.busy, t.loaded = false, true
	if l.err != nil {
		m.said, m.wrong = l.err.Error(), true
		return
	}
	id := ""
	if len(t.items) > 0 {
		id = t.items[t.at].ID
	}
	t.items = slices.Clone(l.items)
	for i, x := range t.items {
		t.items[i].Title, t.items[i].Note = display(x.Title, m.clusters), display(x.Note, m.clusters)
	}
	if at := slices.IndexFunc(t.items, func(x Item) bool { return x.ID == id }); at >= 0 {
		t.at = at
	}
	t.at = max(0, min(t.at, len(t.items)-1))
	if t.Every > 0 {
		t.of.width = 0 // what is known of it may be other now
	}
}

// key handles a key press.
func (m *model) key(key string) tea.Cmd {
	if m.leaves && key != "ctrl+z" {
		if key == "ctrl+c" {
			return tea.Quit
		}
		return nil
	}
	if r := m.asks; r != nil && key != "ctrl+z" {
		m.asks, m.said, m.wrong = nil, "", false
		if key == "y" {
			return m.act(m.now, *r)
		}
		return nil
	}
	if m.keys && key != "ctrl+c" && key != "ctrl+z" {
		m.keys = false
		return nil
	}
	m.said, m.wrong = "", false
	t := &m.tabs[m.now]
	switch key {
	case "q", "ctrl+c":
		return m.leave()
	case "esc":
		t.view = 0
		return m.next(m.now)
	case "ctrl+z":
		return tea.Suspend
	case "?":
		m.keys = true
	case "tab", "right":
		return m.turn(1)
	case "shift+tab", "left":
		return m.turn(len(m.tabs) - 1)
	case "down", "j":
		return m.move(1)
	case "up", "k":
		return m.move(-1)
	case "home", "g":
		return m.move(-len(t.items))
	case "end", "shift+g":
		return m.move(len(t.items))
	case "pgdown", "space", "ctrl+f":
		m.roll(m.room() - 1)
	case "pgup", "b", "ctrl+b":
		m.roll(1 - m.room())
	default:
		return m.own(key)
	}
	return nil
}

// own is a key of the tab's.
func (m *model) own(key string) tea.Cmd {
	t := &m.tabs[m.now]
	for _, a := range t.Actions {
		if a.Key == key && a.Bare {
			return m.act(m.now, request{action: a})
		}
	}
	if len(t.items) == 0 {
		return nil
	}
	for i, v := range t.Views {
		if v.Key == key {
			if i == t.view {
				i = 0
			}
			t.view = i
			return m.next(m.now)
		}
	}
	for _, a := range t.Actions {
		if a.Key != key {
			continue
		}
		if strings.Contains(t.items[t.at].Not, key) {
			m.said = "there is nothing to " + a.Name
			return nil
		}
		r := request{a, t.items[t.at].ID}
		// it has just replaced another item, and the person has not seen it
		if t.of.id != r.id {
			m.said = "look at it first, and press " + key + " again"
			return nil
		}
		if a.Confirm != "" {
			m.asks, m.said = &r, a.Confirm+" [y,n]"
			return nil
		}
		return m.act(m.now, r)
	}
	return nil
}

func (m *model) turn(by int) tea.Cmd {
	m.now = (m.now + by) % len(m.tabs)
	return m.next(m.now)
}

func (m *model) move(by int) tea.Cmd {
	t := &m.tabs[m.now]
	t.at = max(0, min(t.at+by, len(t.items)-1))
	return m.next(m.now)
}

func (m *model) roll(by int) {
	t := &m.tabs[m.now]
	end := max(0, len(t.lines(m.width))-m.room())
	t.scroll = max(0, min(m.place(t)+by, end))
	t.follow = t.Views[t.view].End && t.scroll == end
}

// place counts the lines of the text above the screen.
func (m *model) place(t *tab) int {
	if end := max(0, len(t.lines(m.width))-m.room()); t.follow || t.scroll > end {
		return end
	}
	return t.scroll
}

// display returns a text as a terminal can show it that draws whole clusters of characters, or does
// not.
func display(text string, clusters bool) string {
	if clusters {
		return text
	}
	return even(text)
}

// lines returns the visible text, fitted to a width.
func (t *tab) lines(width int) []string {
	if t.fitted == nil || t.fittedTo != width {
		t.fitted, t.fittedTo = strings.Split(fit(strings.TrimRight(t.text, "\n"), width), "\n"), width
	}
	return t.fitted
}
