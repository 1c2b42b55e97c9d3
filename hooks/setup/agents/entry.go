package agents

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/tailscale/hujson"
)

// entry is one of our commands in a settings file.
type entry struct {
	Event        string // the agent's name of it
	Group, Index int    // in the event's array, and in the group's
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
			if delivers(a, event) {
				return nil, s.fault(m.Value.StartOffset, "hooks.%s is not a list", event)
			}
			continue
		}
		for g, group := range groups.Elements {
			list, ok := member(group.Value, "hooks").(*hujson.Array)
			if !ok {
				continue
			}
			for i, hook := range list.Elements {
				command, _ := member(hook.Value, "command").(hujson.Literal)
				program, ours := ourCommand(literal(command), a.Name)
				if !ours {
					continue
				}
				e := entry{Event: event, Group: g, Index: i, Program: program, Command: literal(command)}
				if t, ok := member(hook.Value, "timeout").(hujson.Literal); ok && t.Kind() == '0' {
					e.Timeout = time.Duration(t.Float() * float64(a.Unit))
				}
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// delivers reports whether our entries ask an agent for an event.
func delivers(a hooks.Agent, event string) bool {
	return slices.ContainsFunc(a.Deliveries, func(d hooks.Delivery) bool { return d.Name == event })
}

// The form of our entries in the file.
type (
	hookGroup struct {
		Hooks []hookCommand `json:"hooks"`
	}
	hookCommand struct {
		Type    string `json:"type"`
		Name    string `json:"name,omitempty"`
		Command string `json:"command"`
		Timeout int64  `json:"timeout"`
	}
)

func commandOf(a hooks.Agent, d hooks.Delivery, command string) hookCommand {
	c := hookCommand{Type: "command", Command: command, Timeout: int64(d.Timeout / a.Unit)}
	if a.Named {
		c.Name = "reverie"
	}
	return c
}

// addEntries inserts an entry for each delivery of an agent into the text of its settings. It
// replaces our earlier one, or becomes the last group. made lists the new containers.
func addEntries(text []byte, a hooks.Agent, command string) (out []byte, made []string, err error) {
	s, err := parseSettings(text, a)
	if err != nil {
		return nil, nil, err
	}
	if err := s.cut(a, func(e entry, before []entry) bool {
		again := slices.ContainsFunc(before, func(b entry) bool { return b.Event == e.Event })
		return !delivers(a, e.Event) || again
	}, nil); err != nil {
		return nil, nil, err
	}
	for _, d := range a.Deliveries {
		entries, err := s.entries(a)
		if err != nil {
			return nil, nil, err
		}
		want := commandOf(a, d, command)
		if i := slices.IndexFunc(entries, func(e entry) bool { return e.Event == d.Name }); i >= 0 {
			err = s.refresh(entries[i], want, time.Duration(want.Timeout)*a.Unit)
		} else {
			var more []string
			more, err = s.add(d.Name, hookGroup{[]hookCommand{want}})
			made = append(made, more...)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return s.bytes(), made, nil
}

// add appends a group to an event's list and returns the new containers.
func (s *settings) add(event string, group hookGroup) (made []string, err error) {
	events, err := s.hooks()
	if err != nil {
		return nil, err
	}
	if events == nil {
		return []string{"hooks", "hooks." + event}, s.insert(s.root, "hooks", map[string][]hookGroup{event: {group}})
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
	return []string{"hooks." + event}, s.insert(in, event, []hookGroup{group})
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

// list returns the commands in the group of an entry, and hook the entry itself.
func (s *settings) list(e entry) (hujson.Value, error) {
	groups, err := s.find("hooks", e.Event)
	if err != nil {
		return groups, err
	}
	group := groups.Value.(*hujson.Array).Elements[e.Group]
	for _, m := range group.Value.(*hujson.Object).Members {
		if name(m) == "hooks" {
			return m.Value, nil
		}
	}
	return group, s.fault(group.StartOffset, "an entry without a list")
}

func (s *settings) hook(e entry) (hujson.Value, error) {
	list, err := s.list(e)
	if err != nil {
		return list, err
	}
	return list.Value.(*hujson.Array).Elements[e.Index], nil
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
		list, err := s.list(e)
		if err != nil {
			return err
		}
		if len(list.Value.(*hujson.Array).Elements) > 1 {
			err = s.remove(list, e.Index)
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
