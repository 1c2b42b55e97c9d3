package agents

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/tailscale/hujson"
)

// entry is one of our commands in a settings file.
type entry struct {
	key
	Group, Index int    // in the event's array, and in the group's, -1 without groups
	Program      string // started by the command
	Command      string
	Timeout      time.Duration // 0: none given
}

// entriesOf returns our entries in the text of a settings file.
func entriesOf(text []byte, a hooks.Agent) ([]entry, error) {
	s, err := parseSettings(text, a)
	if err != nil {
		return nil, err
	}
	return s.entries(a)
}

func (s *settings) entries(a hooks.Agent) ([]entry, error) {
	var found []entry
	events, err := s.hooks()
	if events == nil || err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, m := range events.Members {
		event := name(m)
		if seen[event] {
			return nil, s.fault(m.Name.StartOffset, "%q stands here twice", event)
		}
		seen[event] = true
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			if delivers(a.Deliveries, event) || delivers(a.Calls, event) {
				return nil, s.fault(m.Value.StartOffset, "hooks.%s is not a list", event)
			}
			continue
		}
		for g, group := range groups.Elements {
			list, ok := member(group.Value, "hooks").(*hujson.Array)
			first := 0
			if a.Ungrouped {
				list, ok, first = &hujson.Array{Elements: []hujson.Value{group}}, true, -1
			}
			if !ok {
				continue
			}
			for i, hook := range list.Elements {
				command, _ := member(hook.Value, "command").(hujson.Literal)
				program, ours := ourCommand(literal(command), a.Name)
				if !ours {
					continue
				}
				e := entry{key: key{Event: event}, Group: g, Index: first + i, Program: program, Command: literal(command)}
				if !delivers(a.Deliveries, event) {
					matcher, _ := member(group.Value, "matcher").(hujson.Literal)
					rule, _ := member(hook.Value, "if").(hujson.Literal)
					e.Matcher, e.If = literal(matcher), literal(rule)
				}
				if t, ok := member(hook.Value, "timeout").(hujson.Literal); ok && t.Kind() == '0' {
					e.Timeout = time.Duration(t.Float() * float64(a.Unit))
				}
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// delivers reports whether an event is among deliveries.
func delivers(all []hooks.Delivery, event string) bool {
	return slices.ContainsFunc(all, func(d hooks.Delivery) bool { return d.Name == event })
}

// The form of our entries in the file.
type (
	hookGroup struct {
		Matcher string        `json:"matcher,omitempty"`
		Hooks   []hookCommand `json:"hooks"`
	}
	hookCommand struct {
		Matcher string `json:"matcher,omitempty"` // without groups
		Type    string `json:"type"`
		Name    string `json:"name,omitempty"`
		If      string `json:"if,omitempty"`
		Command string `json:"command"`
		Timeout int64  `json:"timeout"`
	}
)

func commandOf(a hooks.Agent, w want, command string) hookCommand {
	c := hookCommand{Type: "command", If: w.If, Command: command, Timeout: int64(w.Timeout / a.Unit)}
	if a.Named {
		c.Name = "reverie"
	}
	return c
}

// addEntries inserts an entry for each event of an agent, and for each call that a filter names,
// into the text of its settings. It replaces our earlier one, or becomes the last group. now
// extends made by the new containers.
func addEntries(text []byte, a hooks.Agent, command string, f hooks.Filter, made []string) (out []byte, now []string, err error) {
	s, err := parseSettings(text, a)
	if err != nil {
		return nil, nil, err
	}
	if made, err = put(s, a, command, eventWants(a), made, true); err == nil {
		made, err = put(s, a, command, callWants(a, f), made, false)
	}
	if err != nil {
		return nil, nil, err
	}
	return s.bytes(), made, nil
}

// Entries returns a file of hooks for the events of an agent's sessions, as its plugins have it.
func Entries(a hooks.Agent, program string) ([]byte, error) {
	command := strings.Replace(Command(program, a.Name), " hook ", " hook "+hooks.PluginFlag+" ", 1)
	text, _, err := addEntries(nil, a, command, hooks.Filter{}, nil)
	return text, err
}

// refreshCalls is addEntries for the calls alone. A text without an entry for an event stays as it
// is.
func refreshCalls(text []byte, a hooks.Agent, f hooks.Filter, made []string) (out []byte, now []string, err error) {
	s, err := parseSettings(text, a)
	if err != nil {
		return nil, nil, err
	}
	entries, err := s.entries(a)
	at := slices.IndexFunc(entries, func(e entry) bool { return delivers(a.Deliveries, e.Event) })
	if err != nil || at < 0 {
		return text, made, err
	}
	made, err = put(s, a, Command(entries[at].Program, a.Name), callWants(a, f), made, false)
	return s.bytes(), made, err
}

// put makes our entries those of wants. It replaces earlier ones in their place and removes others,
// with the containers in made that become empty. If events is true, wants are all entries for
// events of sessions, else all others. now lists the containers that are ours by then.
func put(s *settings, a hooks.Agent, command string, wants []want, made []string, events bool) (now []string, err error) {
	if err := s.cut(a, func(e entry, before []entry) bool {
		wanted := slices.ContainsFunc(wants, func(w want) bool { return w.key == e.key })
		again := slices.ContainsFunc(before, func(b entry) bool { return b.key == e.key })
		return delivers(a.Deliveries, e.Event) == events && (!wanted || again)
	}, func(container string) bool { return slices.Contains(made, container) }); err != nil {
		return nil, err
	}
	for _, container := range made {
		if _, missing := s.find(strings.Split(container, ".")...); missing == nil {
			now = append(now, container)
		}
	}
	for _, w := range wants {
		entries, err := s.entries(a)
		if err != nil {
			return nil, err
		}
		c := commandOf(a, w, command)
		if i := slices.IndexFunc(entries, func(e entry) bool { return e.key == w.key }); i >= 0 {
			err = s.refresh(entries[i], c, time.Duration(c.Timeout)*a.Unit)
		} else {
			var more []string
			c.Matcher = cmp.Or(w.Matcher, strings.Join(w.Tools, "|"))
			group := any(c)
			if !a.Ungrouped {
				matcher := c.Matcher
				c.Matcher = ""
				group = hookGroup{matcher, []hookCommand{c}}
			}
			more, err = s.add(w.Event, group)
			now = append(now, more...)
		}
		if err != nil {
			return nil, err
		}
	}
	return now, nil
}

// add appends a group, or one hook, to an event's list and returns the new containers.
func (s *settings) add(event string, group any) (made []string, err error) {
	events, err := s.hooks()
	if err != nil {
		return nil, err
	}
	if events == nil {
		return []string{"hooks", "hooks." + event}, s.insert(s.root, "hooks", map[string][]any{event: {group}})
	}
	for _, m := range events.Members {
		if name(m) == event {
			return nil, s.insert(m.Value, "", group)
		}
	}
	in, err := s.find("hooks")
	if err != nil {
		return nil, err
	}
	return []string{"hooks." + event}, s.insert(in, event, []any{group})
}

// refresh gives an entry the command and the timeout it should have. It keeps an entry that has
// them.
func (s *settings) refresh(e entry, want hookCommand, timeout time.Duration) error {
	if e.Timeout != timeout {
		hook, err := s.hook(e)
		if err != nil {
			return err
		}
		members := hook.Value.(*hujson.Object).Members
		at := slices.IndexFunc(members, func(m hujson.ObjectMember) bool { return name(m) == "timeout" })
		if at < 0 {
			err = s.insert(hook, "timeout", want.Timeout)
		} else {
			err = s.replace(members[at].Value, want.Timeout)
		}
		if err != nil {
			return err
		}
	}
	if e.Command == want.Command {
		return nil
	}
	hook, err := s.hook(e)
	if err != nil {
		return err
	}
	members := hook.Value.(*hujson.Object).Members
	at := slices.IndexFunc(members, func(m hujson.ObjectMember) bool { return name(m) == "command" })
	return s.replace(members[at].Value, want.Command)
}

// list returns the commands in an entry's group and its place there, and hook the entry itself.
func (s *settings) list(e entry) (hujson.Value, int, error) {
	groups, err := s.find("hooks", e.Event)
	if err != nil || e.Index < 0 {
		return groups, e.Group, err
	}
	group := groups.Value.(*hujson.Array).Elements[e.Group]
	for _, m := range group.Value.(*hujson.Object).Members {
		if name(m) == "hooks" {
			return m.Value, e.Index, nil
		}
	}
	return group, 0, s.fault(group.StartOffset, "an entry without a list")
}

func (s *settings) hook(e entry) (hujson.Value, error) {
	list, at, err := s.list(e)
	if err != nil {
		return list, err
	}
	return list.Value.(*hujson.Array).Elements[at], nil
}

// cutEntries removes our entries from a text, and the containers that become empty: those in made,
// or all if known is false.
func cutEntries(text []byte, a hooks.Agent, made []string, known bool) ([]byte, error) {
	s, err := parseSettings(text, a)
	if err != nil {
		return nil, err
	}
	entries, err := s.entries(a)
	if err != nil || len(entries) == 0 {
		return text, err
	}
	err = s.cut(a, func(entry, []entry) bool { return true }, func(container string) bool {
		return !known || slices.Contains(made, container)
	})
	return s.bytes(), err
}

// cut removes the entries for which goes is true, and the containers that become empty and that
// drop names. A nil drop removes no container.
func (s *settings) cut(a hooks.Agent, goes func(e entry, before []entry) bool, drop func(container string) bool) error {
	entries, err := s.entries(a)
	if err != nil {
		return err
	}
	var events []string
	for i := len(entries) - 1; i >= 0; i-- { // from the end, so that other positions stay valid
		e := entries[i]
		if !goes(e, entries[:i]) {
			continue
		}
		events = append(events, e.Event)
		list, at, err := s.list(e)
		if err != nil {
			return err
		}
		if e.Index < 0 || len(list.Value.(*hujson.Array).Elements) > 1 {
			err = s.remove(list, at)
		} else if groups, missing := s.find("hooks", e.Event); missing == nil {
			err = s.remove(groups, e.Group)
		} else {
			err = missing
		}
		if err != nil {
			return err
		}
	}
	if drop == nil {
		return nil
	}
	for _, event := range events {
		if err := s.dropEmpty(drop, "hooks", event); err != nil {
			return err
		}
	}
	return s.dropEmpty(drop, "hooks")
}

// dropEmpty removes the container at a path if it is empty, comments included, and drop names it.
func (s *settings) dropEmpty(drop func(string) bool, path ...string) error {
	in, err := s.find(path[:len(path)-1]...)
	if err != nil { // removed with its container
		return nil
	}
	members := in.Value.(*hujson.Object).Members
	at := slices.IndexFunc(members, func(m hujson.ObjectMember) bool { return name(m) == path[len(path)-1] })
	if at < 0 || !drop(strings.Join(path, ".")) {
		return nil
	}
	v := members[at].Value
	if len(bytes.TrimSpace(s.text[v.StartOffset+1:v.EndOffset-1])) > 0 {
		return nil
	}
	return s.remove(in, at)
}
