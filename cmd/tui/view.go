package tui

import (
	"fmt"
	"slices"
	"strings"

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
	if m.keys {
		rows = append(rows, m.allKeys(t)...)
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

// listed counts the lines of the list: a third of the screen, or fewer for a short list.
func (m *model) listed(t *tab) int { return min(max(1, len(t.items)), max(3, (m.height-3)/3)) }

// room counts the lines for the details of an item.
func (m *model) room() int { return max(1, m.height-3-m.listed(&m.tabs[m.now])) }

func (m *model) head() string {
	var names []string
	for i, t := range m.tabs {
		name := t.Name
		if t.loaded {
			name += fmt.Sprintf(" (%d)", len(t.items))
		}
		if i == m.now {
			name = bold + "[" + name + "]" + plain
		} else {
			name = " " + name + " "
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
		return []string{"  " + first}
	}
	n := m.listed(t)
	t.top = max(0, min(t.top, t.at, len(t.items)-n))
	t.top = max(t.top, t.at-n+1)
	for i := t.top; i < t.top+n; i++ {
		rows = append(rows, m.row(t.items[i], i == t.at))
	}
	return rows
}

// row is an item's line: its mark, its title, and its note at the right.
func (m *model) row(x Item, selected bool) string {
	mark, begin := "  ", ""
	if selected {
		mark, begin = "> ", bold
	}
	note := ansi.Truncate(x.Note, m.width/3, "…")
	room := m.width - len(mark)
	if note != "" {
		room -= ansi.StringWidth(note) + 1
	}
	title := ansi.Truncate(x.Title, room, "…")
	gap := strings.Repeat(" ", max(0, room-ansi.StringWidth(title)))
	if note != "" {
		gap += " "
	}
	return begin + mark + title + plain + gap + faint + note
}

// rule divides the list from what is known of the selected item, and says where one is in both.
func (m *model) rule(t *tab) string {
	where := ""
	if n := len(t.items); n > 0 {
		where = fmt.Sprintf(" %d/%d ", t.at+1, n)
		if name := t.Views[t.view].Name; name != "" {
			where += "· " + name + " "
		}
		if all := len(t.lines(m.width)); all > m.room() {
			at := m.place(t)
			where += fmt.Sprintf("· lines %d–%d of %d ", at+1, min(at+m.room(), all), all)
		}
	}
	return faint + "──" + where + strings.Repeat("─", max(0, m.width-2-ansi.StringWidth(where)))
}

func (m *model) below(t *tab) []string {
	var lines []string
	_, more, _ := strings.Cut(t.Empty, "\n")
	switch {
	case len(t.items) > 0 && t.of.id == t.items[t.at].ID && t.of.view == t.view:
		lines = t.lines(m.width)[m.place(t):]
	case len(t.items) == 0 && t.loaded && more != "":
		lines = strings.Split(fit(more, m.width), "\n")
	}
	for len(lines) < m.room() {
		lines = append(lines, "")
	}
	return lines[:m.room()]
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
	tell("pgup pgdn, b space", "turn the text below")
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
