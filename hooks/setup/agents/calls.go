package agents

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// key tells our entries in a file apart.
type key struct {
	Event   string // the agent's name of it
	Matcher string // for a call: the tools. The matcher of any other event is the user's own.
	If      string // for a call: the rule that limits it to some
}

func (k key) String() string {
	return strings.TrimSpace(k.Event + " " + cmp.Or(k.If, k.Matcher))
}

// want is an entry that a settings file should have.
type want struct {
	key
	hooks.Delivery
}

// eventWants returns the entries for the events of an agent's sessions.
func eventWants(a hooks.Agent) (all []want) {
	for _, d := range a.Deliveries {
		all = append(all, want{key{Event: d.Name}, d})
	}
	return all
}

// callWants returns the entries for the calls of tools that a filter names.
func callWants(a hooks.Agent, f hooks.Filter) (all []want) {
	for _, d := range a.Calls {
		commands, files, tools := f.Commands, f.Files, f.Tools
		switch {
		case d.Kind == hooks.Called && !a.TellsBefore():
			commands = slices.Concat(commands, f.Failing)
		case d.Kind == hooks.Called:
			commands, files, tools = f.Failing, nil, nil
		}
		has := func(names []string) bool {
			return slices.ContainsFunc(d.Tools, func(tool string) bool { return slices.Contains(names, tool) })
		}
		switch {
		case d.Tools == nil: // about commands alone
			files, tools = nil, nil
		case !has(a.Commands):
			commands = nil
		case !has(a.Edits):
			files = nil
		}
		for _, tool := range tools {
			if !slices.Contains(d.Tools, tool) {
				all = append(all, want{key{d.Name, tool, everyCall}, d})
			}
		}
		switch {
		case a.Filters:
			for _, tool := range d.Tools {
				rules := fileRules(tool, files)
				if slices.Contains(a.Commands, tool) {
					rules = commandRules(tool, commands)
				}
				for _, rule := range rules {
					all = append(all, want{key{d.Name, tool, rule}, d})
				}
			}
		case len(commands)+len(files) > 0:
			all = append(all, want{key{d.Name, strings.Join(d.Tools, "|"), ""}, d})
		}
	}
	return all
}

// maxRules bounds the entries for one event and tool. More become one entry for every call.
const maxRules = 40

// everyCall is the rule of an entry without a rule.
const everyCall = ""

// Text that a client's rule cannot hold, or in which it has a meaning.
var (
	oddText = pattern.New(`[^A-Za-z0-9_./=@%+,-]+`)
	oddPart = pattern.New(`[^A-Za-z0-9_.=@%+,*?-]|^\.\.$`)
)

// commandRules returns rules that start a hook at least for some commands. A client matches the
// words of a simple command, and knows no wrapper such as sudo, folder of a program or global flag.
// Hence a rule only has the words of a pattern in their order, and the hook looks again.
func commandRules(tool string, commands []string) []string {
	return rules(commands, func(command string) string {
		words := strings.Trim(oddText.ReplaceAllString(command, "*"), "*")
		if words == "" {
			return everyCall
		}
		return tool + "(*" + words + "*)"
	})
}

// fileRules returns rules that start a hook at least for some files. A client's globs begin at the
// folder of the session, which may be any in the work tree. Hence a rule allows any folder above.
func fileRules(tool string, files []string) []string {
	return rules(files, func(glob string) string {
		parts := strings.Split(strings.TrimPrefix(path.Clean(glob), "/"), "/")
		for i, part := range parts {
			if oddPart.MatchString(part) {
				parts[i] = "*"
			}
		}
		return tool + "(//**/" + strings.Join(parts, "/") + ")"
	})
}

// rules returns the rules of some patterns, sorted. A rule that limits nothing replaces all.
func rules(patterns []string, rule func(string) string) (all []string) {
	for _, p := range patterns {
		if p != "" {
			all = append(all, rule(p))
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > maxRules || slices.Contains(all, everyCall) {
		return []string{everyCall}
	}
	return all
}
