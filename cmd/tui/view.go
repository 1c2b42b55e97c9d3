package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Styles that need no colour.
const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	plain = "\x1b[m"
)

// The least screen that something can be done on, in cells.
const (
	leastWidth  = 20
	leastHeight = 7
)

// View is the whole screen: the tabs, a list, a line, what is known of the selected item, and what
// was said or the keys.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}

func (m *model) screen() string {
	if m.width == 0 {
		return ""
	}
	if m.width < leastWidth || m.height < leastHeight {
		return ansi.Truncate("the terminal is too small", m.width, "")
	}
	t := &m.tabs[m.now]
	rows := []string{m.head()}
	if l := m.layout(); m.keys {
		rows = append(rows, m.allKeys(t)...)
	} else if l.beside {
		rows = append(rows, m.rule(t))
		list, text := m.list(t), m.below(t)
		for i := range l.room {
			left := ""
			if i < len(list) {
				left = ansi.Truncate(list[i], l.list, "…")
			}
			rows = append(rows, left+plain+strings.Repeat(" ", l.list-ansi.StringWidth(left))+faint+" │ "+plain+text[i])
		}
	} else {
		rows = append(rows, m.list(t)...)
		rows = append(rows, m.rule(t))
		rows = append(rows, m.below(t)...)
	}
	foot := m.foot(t)
	rows = append(rows[:min(len(rows), m.height-len(foot))], foot...)
	for i := range rows {
		rows[i] = ansi.Truncate(rows[i], m.width, "…") + plain
	}
	return strings.Join(rows, "\n")
}

// leastBeside is the width from which list and text stand side by side.
const leastBeside = 100

// layout holds the sizes of the screen's parts, in cells.
type layout struct {
	beside              bool // list and text stand side by side
	list, rows, listTop int  // width and height of the list, and its first line
	text, room          int  // width and height of the text
}

// layout divides the screen. On a narrow one the list has a third, or less for a short list.
func (m *model) layout() layout {
	if m.width >= leastBeside {
		room := max(1, m.height-3)
		list := min(m.width*2/5, 80)
		return layout{true, list, room, 2, m.width - list - 3, room}
	}
	rows := min(max(1, len(m.tabs[m.now].items)), max(3, (m.height-3)/3))
	return layout{false, m.width, rows, 1, m.width, max(1, m.height-3-rows)}
}

// span holds the first cell of something on a line, and the cell after it.
type span struct{ from, to int }

// label returns a tab's name with the number of its items.
func label(t *tab, here bool) string {
	name := t.Name
	if t.loaded {
		name += fmt.Sprintf(" (%d)", len(t.items))
	}
	if here {
		return "[" + name + "]"
	}
	return " " + name + " "
}

// heads returns the places of the tabs' names on the first line.
func heads(tabs []tab, now int) (all []span) {
	at := 0
	for i := range tabs {
		end := at + ansi.StringWidth(label(&tabs[i], i == now))
		all, at = append(all, span{at, end}), end+1
	}
	return all
}

func (m *model) head() string {
	var names []string
	for i := range m.tabs {
		name := label(&m.tabs[i], i == m.now)
		if i == m.now {
			name = bold + name + plain
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (m *model) list(t *tab) (rows []string) {
	if len(t.items) == 0 {
		if !t.loaded {
			return []string{faint + "  …"}
		}
		first, _, _ := strings.Cut(t.Empty, "\n")
		if t.query != "" {
			first = "nothing matches " + t.query
		}
		return []string{"  " + first}
	}
	l := m.layout()
	n := min(l.rows, len(t.items))
	t.top = max(0, min(t.top, t.at, len(t.items)-n))
	t.top = max(t.top, t.at-n+1)
	for i := t.top; i < t.top+n; i++ {
		rows = append(rows, row(t.items[i], i == t.at, t.marked[t.items[i].ID], l.list))
	}
	return rows
}

// row returns an item's line: its marks, its title, and its note at the right.
func row(x Item, selected, marked bool, width int) string {
	mark, begin := " ", ""
	if selected {
		mark, begin = ">", bold
	}
	if marked {
		mark += "*"
	} else {
		mark += " "
	}
	note := ansi.Truncate(x.Note, width/3, "…")
	room := width - len(mark)
	if note != "" {
		room -= ansi.StringWidth(note) + 1
	}
	lead := ""
	if x.Lead != "" {
		lead = ansi.Truncate(x.Lead, room, "…") + " "
	}
	title := ansi.Truncate(x.Title, max(0, room-len(lead)), "…")
	gap := strings.Repeat(" ", max(0, room-ansi.StringWidth(lead)-ansi.StringWidth(title)))
	if note != "" {
		gap += " "
	}
	return begin + mark + x.Style + lead + plain + begin + title + plain + gap + faint + note
}

// rule divides the list from what is known of the selected item, and says where one is in both.
func (m *model) rule(t *tab) string {
	where := ""
	if n := len(t.items); n > 0 {
		where = fmt.Sprintf(" %d/%d ", t.at+1, n)
		if marked := len(t.markedIDs()); marked > 0 {
			where += fmt.Sprintf("· %d marked ", marked)
		}
		if name := t.Views[t.view].Name; name != "" {
			where += "· " + name + " "
		}
		l := m.layout()
		if all := len(t.lines(l.text)); all > l.room {
			at := m.place(t)
			where += fmt.Sprintf("· lines %d–%d of %d ", at+1, min(at+l.room, all), all)
		}
	}
	if t.query != "" {
		where = " /" + ansi.Truncate(t.query, m.width/3, "…") + where
	}
	return faint + "──" + where + strings.Repeat("─", max(0, m.width-2-ansi.StringWidth(where)))
}

func (m *model) below(t *tab) []string {
	l := m.layout()
	var lines []string
	_, more, _ := strings.Cut(t.Empty, "\n")
	switch of, ok := m.wanted(m.now); {
	case ok && t.of.id == of.id && t.of.view == of.view:
		lines = t.lines(l.text)[m.place(t):]
	case len(t.items) == 0 && t.loaded && more != "" && t.query == "":
		lines = strings.Split(fit(more, l.text), "\n")
	}
	for len(lines) < l.room {
		lines = append(lines, "")
	}
	return lines[:l.room]
}

// allKeys fills the screen between head and foot with all keys, one a line, or as running text
// where there is no room for that.
func (m *model) allKeys(t *tab) (lines []string) {
	room := m.height - 2
	var short []string
	tell := func(key, what string) {
		lines = append(lines, fmt.Sprintf("  %-20s %s", key, what))
		short = append(short, key+" "+what)
	}
	for _, a := range t.Actions {
		tell(a.Key, a.Name)
	}
	for _, v := range t.Views[1:] {
		tell(v.Key, v.Name+", and back")
	}
	tell("up down, k j", "another item")
	tell("home end, g G", "the first, the last")
	tell("pgup pgdn, b ctrl+f", "turn the text")
	tell("/", "search; enter keeps the query, esc clears it")
	tell("space", "mark an item")
	tell("a", "mark all that the list shows, or none")
	if len(m.tabs) > 1 {
		tell("tab", "the next list")
	}
	tell("esc", "back to what is known")
	tell("ctrl+z", "to the shell")
	tell("q", "leave")
	if len(lines) > room {
		lines = strings.Split(fit(strings.Join(short, " · "), m.width), "\n")
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return lines[:room]
}

// foot returns the last message, in as many lines as it needs and fit, or the keys.
func (m *model) foot(t *tab) []string {
	if m.said == "" {
		return []string{m.keyLine(t)}
	}
	said, style := oneLine(m.said), ""
	if m.wrong {
		said, style = "! "+said, bold
	}
	lines := strings.Split(fit(said, m.width), "\n")
	if most := m.height - 4; len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	for i := range lines {
		lines[i] = style + lines[i]
	}
	return lines
}

// keyLine returns the pending question, the work of the tab, or the keys.
func (m *model) keyLine(t *tab) string {
	switch {
	case m.typing:
		return "/" + t.query + "▏" + faint + "  enter: keep · esc: clear"
	case m.leaves:
		return faint + strings.Join(m.undone(), ", ") + " … then leave; ctrl+c leaves it undone"
	case t.doing != "":
		return faint + t.doing + " …"
	case t.pending != nil:
		return faint + t.pending.action.Name + " …"
	case m.keys:
		return faint + "any key: back"
	}
	var keys []string
	for _, a := range t.Actions {
		if a.Bare || len(t.items) > 0 && !strings.Contains(t.items[t.at].Not, a.Key) {
			keys = append(keys, a.Key+" "+a.Name)
		}
	}
	if len(t.items) > 0 {
		for _, v := range t.Views[1:] {
			keys = append(keys, v.Key+" "+v.Name)
		}
	}
	last := []string{"? keys", "q leave"}
	if len(m.tabs) > 1 {
		last = append(last, "tab "+m.tabs[(m.now+1)%len(m.tabs)].Name)
	}
	last = append(last, "/ search", "space mark")
	line := func() string { return strings.Join(slices.Concat(keys, last), " · ") }
	// ? shows the keys without room here
	for ansi.StringWidth(line()) > m.width && len(keys)+len(last) > 1 {
		if len(last) > 1 {
			last = last[:len(last)-1]
		} else {
			keys = keys[:len(keys)-1]
		}
	}
	return faint + line()
}

// fit breaks lines that are wider than the screen between words, and words that are wider within.
func fit(text string, width int) string {
	lines := strings.Split(ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), max(1, width), " "), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ") // that at which it was broken would be one cell too much
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// even is text of which all terminals think that it is as wide: where they do not agree, a line
// ends somewhere else than the screen is drawn for, and pieces of what was there before stay. Emoji
// that are made of several are shown as these, flags as their letters. A terminal that says that it
// knows what one character is (mode 2027) needs none of it.
func even(text string) string {
	if strings.IndexFunc(text, uneven) < 0 {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		next, _ := utf8.DecodeRuneInString(text)
		switch {
		case r >= flagA && r <= flagA+25:
			b.WriteRune('A' + r - flagA)
		case r == joiner && next < 0x2190: // of letters: those of some scripts need it
			b.WriteRune(r)
		case !uneven(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	joiner = '\u200d'
	flagA  = '\U0001f1e6' // the first of 26 letters, two of which are a flag
)

// uneven reports what joins or varies emoji.
func uneven(r rune) bool {
	return r == joiner || r == '\ufe0f' || r == '\u20e3' || r >= '\U0001f3fb' && r <= '\U0001f3ff' || r >= flagA && r <= flagA+25
}
