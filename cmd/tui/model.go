package tui

import (
	"context"
	"fmt"
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
	typing        bool     // keys go into the query of the tab in sight
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
	query    string // that the items answer
	marked   map[string]bool
	at       int // the selected item
	top      int // the first item in sight
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

// request is an action on items.
type request struct {
	action Action
	ids    []string
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
	query := t.query
	return func() tea.Msg {
		if query != "" && t.Find != nil {
			items, err := t.Find(m.ctx, query)
			return loaded{i, items, err}
		}
		items, err := t.Load(m.ctx)
		return loaded{i, matching(items, query), err}
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
	text := t.Views[of.view].Text
	if len(t.items) == 0 {
		text = func(ctx context.Context, _ string, width int) (string, error) { return t.Blank(ctx, width) }
	}
	return func() tea.Msg {
		lines, err := text(m.ctx, of.id, of.width)
		return known{i, of, lines, err}
	}
}

func (m *model) wanted(i int) (shown, bool) {
	t := &m.tabs[i]
	if len(t.items) == 0 {
		return shown{width: m.layout().text}, t.Blank != nil && t.loaded && t.query == ""
	}
	return shown{t.items[t.at].ID, t.view, m.layout().text}, true
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
		said, err := r.action.Do(m.ctx, r.ids)
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
func (t *taking) Run() error            { return t.r.action.Takes(t.ctx, t.r.ids[0], t.in, t.out, t.err) }

// Update takes in what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.next(m.now)
	case tea.KeyPressMsg:
		if m.typing && m.tabs[m.now].edit(msg.Key()) {
			return m, m.load(m.now)
		}
		return m, m.key(msg.Keystroke())
	case tea.MouseClickMsg:
		return m, m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		return m, m.wheel(msg.Mouse())
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
		t.busy, t.doing, t.of = false, "", shown{view: -1}
		m.said, m.wrong = msg.said, false
		if msg.err != nil {
			m.said, m.wrong, m.leaves = msg.err.Error(), true, false
		} else {
			t.marked = nil
		}
		if m.leaves {
			return m, m.next(msg.tab)
		}
		all := []tea.Cmd{m.next(msg.tab)}
		for i := range m.tabs {
			if i != msg.tab { // a decision may change what they list
				all = append(all, m.load(i))
			}
		}
		return m, tea.Batch(all...)
	}
	return m, nil
}

// show replaces the text. If it is of the same view, the visible lines stay in place, or the last
// ones do.
func (m *model) show(t *tab, k known) {
	width := m.layout().text
	before, fresh := t.lines(width), t.of.id != k.of.id || t.of.view != k.of.view
	if t.of, t.text, t.fitted = k.of, k.text, nil; k.err != nil {
		t.text = k.err.Error()
	}
	t.text = display(t.text, m.clusters)
	switch {
	case fresh:
		t.scroll, t.follow = 0, t.Views[k.of.view].End
	case !t.follow && t.scroll > 0:
		t.scroll = moved(before, t.lines(width), t.scroll)
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
	if len(t.items) == 0 || t.of.id == "" {
		t.of.view = -1
	}
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
	case "enter":
		m.typing = false
	case "esc":
		m.typing = false
		switch {
		case t.view > 0:
			t.view = 0
		case len(t.marked) > 0:
			t.marked = nil
		case t.query != "":
			t.query = ""
			return m.load(m.now)
		}
		return m.next(m.now)
	case "/":
		m.typing = true
	case "space":
		t.mark()
		return m.next(m.now)
	case "a":
		t.markAll()
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
	case "pgdown", "ctrl+f":
		m.roll(m.layout().room - 1)
	case "pgup", "b", "ctrl+b":
		m.roll(1 - m.layout().room)
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
		r := request{a, []string{t.items[t.at].ID}}
		if a.Many && len(t.marked) > 0 {
			r.ids = t.markedIDs()
			m.asks, m.said = &r, fmt.Sprintf("%s %d marked? [y,n]", a.Name, len(r.ids))
			return nil
		}
		// it has just replaced another item, and the person has not seen it
		if t.of.id != r.ids[0] {
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
	m.now, m.typing = (m.now+by)%len(m.tabs), false
	return m.next(m.now)
}

func (m *model) move(by int) tea.Cmd {
	t := &m.tabs[m.now]
	t.at = max(0, min(t.at+by, len(t.items)-1))
	return m.next(m.now)
}

func (m *model) roll(by int) {
	t := &m.tabs[m.now]
	l := m.layout()
	end := max(0, len(t.lines(l.text))-l.room)
	t.scroll = max(0, min(m.place(t)+by, end))
	t.follow = t.Views[t.view].End && t.scroll == end
}

// place counts the lines of the text above the screen.
func (m *model) place(t *tab) int {
	l := m.layout()
	if end := max(0, len(t.lines(l.text))-l.room); t.follow || t.scroll > end {
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

// matching returns the items that have all words of a query.
func matching(items []Item, query string) []Item {
	words := strings.Fields(strings.ToLower(query))
	return slices.DeleteFunc(slices.Clone(items), func(x Item) bool {
		text := strings.ToLower(x.Lead + " " + x.Title + " " + x.Note)
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// edit changes the query by a key, and reports whether the key belongs to it.
func (t *tab) edit(key tea.Key) bool {
	switch {
	case key.Code == tea.KeyBackspace:
		if r := []rune(t.query); len(r) > 0 {
			t.query = string(r[:len(r)-1])
		}
	case key.Text != "":
		t.query += key.Text
	default:
		return false
	}
	t.at, t.top = 0, 0
	return true
}

// mark marks the selected item or takes its mark away, and goes to the next one.
func (t *tab) mark() {
	if len(t.items) == 0 {
		return
	}
	id := t.items[t.at].ID
	if t.marked[id] {
		delete(t.marked, id)
	} else {
		if t.marked == nil {
			t.marked = map[string]bool{}
		}
		t.marked[id] = true
	}
	t.at = min(t.at+1, len(t.items)-1)
}

// markAll marks all items in the list, or none if all are marked.
func (t *tab) markAll() {
	all := len(t.markedIDs()) == len(t.items)
	t.marked = map[string]bool{}
	for _, x := range t.items {
		if !all {
			t.marked[x.ID] = true
		}
	}
}

// markedIDs returns the marked items in the order of the list. Items that left it do not count.
func (t *tab) markedIDs() (ids []string) {
	for _, x := range t.items {
		if t.marked[x.ID] {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// row returns the item at a place of the screen, or -1.
func (l layout) row(t *tab, x, y int) int {
	i := t.top + y - l.listTop
	if y < l.listTop || y >= l.listTop+l.rows || x >= l.list || i >= len(t.items) {
		return -1
	}
	return i
}

// click selects a tab or an item. The right button marks the item.
func (m *model) click(at tea.Mouse) tea.Cmd {
	if m.keys || m.asks != nil || m.leaves {
		return nil
	}
	if at.Y == 0 {
		for i, span := range heads(m.tabs, m.now) {
			if at.X >= span.from && at.X < span.to {
				m.now, m.typing = i, false
			}
		}
		return m.next(m.now)
	}
	t := &m.tabs[m.now]
	if i := m.layout().row(t, at.X, at.Y); i >= 0 {
		if t.at = i; at.Button == tea.MouseRight {
			t.mark()
			t.at = i
		}
	}
	return m.next(m.now)
}

// wheel moves the selection over the list, and turns the text elsewhere.
func (m *model) wheel(at tea.Mouse) tea.Cmd {
	by := 1
	switch {
	case m.keys || m.asks != nil || m.leaves:
		return nil
	case at.Button == tea.MouseWheelUp:
		by = -1
	case at.Button != tea.MouseWheelDown:
		return nil
	}
	if l := m.layout(); at.X < l.list && at.Y < l.listTop+l.rows {
		return m.move(by)
	}
	m.roll(3 * by)
	return nil
}
