package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/install"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/rogpeppe/go-internal/diff"
)

// agentInstall is what init --agent is to do: every file, planned before the first is written.
type agentInstall struct {
	program   string
	installer install.Installer
	changes   []install.Change
	generic   bool // say how any other agent calls us
	none      bool // of those that were asked for is here
}

// agentJSON is a file in the answer of init --json.
type agentJSON struct {
	Agent   string `json:"agent"`
	File    string `json:"file"`
	Tools   bool   `json:"tools,omitempty"` // the file has no hooks, but the server of tools
	Changed bool   `json:"changed"`
}

// allAgents stands for those that are found on this machine.
const allAgents = "all"

// hookProgram is the path by which hooks call this program.
func hookProgram() (string, error) {
	program, err := install.Program()
	if errors.Is(err, install.ErrPassing) {
		return "", exit.New(exit.Failed, err, "hooks need a path that stays: go install github.com/reverie-memory/reverie/cmd/reverie@latest, and run that")
	}
	return program, err
}

// planAgents says what init would write for agents by their names, without the server of tools if bare, and changes nothing.
func (w *workspace) planAgents(names []string, project, bare bool) (in agentInstall, err error) {
	if len(names) == 0 {
		switch {
		case bare:
			return in, exit.Usage("reverie init --agent claude --no-mcp", "--no-mcp says what --agent leaves out, and there is no --agent")
		case project:
			return in, exit.Usage("reverie init --agent claude --project", "--project says where --agent writes, and there is no --agent")
		}
		return in, nil
	}
	m, err := install.ThisMachine()
	if err != nil {
		return in, err
	}
	agents, generic, err := chosenAgents(m, names)
	if err != nil {
		return in, err
	}
	if len(agents) == 0 && !generic {
		in.none = true // only of all that are found
		return in, nil
	}
	in.generic, in.installer = generic, install.Installer{Dir: m.StateDir()}
	if in.program, err = hookProgram(); err != nil {
		return in, err
	}
	for _, a := range agents {
		targets := m.Users(a)
		if project {
			if w.Repo.WorkTree == "" {
				return in, exit.New(exit.Failed, errors.New("init --project: there is no work tree here"), "without --project your own settings are written")
			}
			targets = install.Projects(a, w.Repo.WorkTree)
		}
		for _, t := range targets {
			if t.Bare = bare; bare && !t.Hooks() {
				continue
			}
			c, err := in.installer.Plan(t, in.program)
			if err != nil {
				return in, refusedSettings(err, "nothing was changed")
			}
			in.changes = append(in.changes, c)
		}
	}
	return in, nil
}

// chosenAgents finds agents by name, each once.
func chosenAgents(m install.Machine, names []string) (agents []hooks.Agent, generic bool, err error) {
	for _, name := range names {
		a, ok := hooks.Find(name)
		switch {
		case name == allAgents:
			for _, a := range hooks.Agents {
				if m.Has(a) {
					agents = append(agents, a)
				}
			}
		case !ok:
			return nil, false, exit.Usage("known are "+hooks.Names()+", "+allAgents, "--agent %s: no agent of that name is known", name)
		case name == "generic":
			generic = true
		default:
			agents = append(agents, a)
		}
	}
	slices.SortStableFunc(agents, func(a, b hooks.Agent) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(agents, func(a, b hooks.Agent) bool { return a.Name == b.Name }), generic, nil
}

// refusedSettings makes a failure for a person of a file that is not touched, and says what else is not.
func refusedSettings(err error, rest string) error {
	if refused := new(install.RefusedError); errors.As(err, &refused) {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%w; %s", err, rest), "mend the file, or leave that agent out")
	}
	return err
}

// installAgents writes what was planned and says so.
func (w *workspace) installAgents(ctx context.Context, in agentInstall) ([]agentJSON, error) {
	w.tellNone(in)
	if len(in.changes) > 0 { // hooks do nothing in a clone without it
		if _, err := w.Repo.StateDir(); err != nil {
			return nil, err
		}
	}
	var done []agentJSON
	for _, planned := range in.changes {
		c, err := in.installer.Install(ctx, planned.Target, in.program, w.Repo.CommonDir)
		if err != nil {
			return done, refusedSettings(err, "this file was not changed")
		}
		done = append(done, agentJSON{c.Agent.Name, c.File, !c.Hooks(), c.Changed()})
		switch {
		case !c.Hooks() && c.Changed():
			w.env.Say("%s has Reverie's tools from now on: %s", c.Agent.Title, c.File)
		case !c.Hooks():
			w.env.Say("%s has Reverie's tools already: %s", c.Agent.Title, c.File)
		case c.Changed():
			w.env.Say("%s calls Reverie from now on: %s", c.Agent.Title, c.File)
		default:
			w.env.Say("%s calls Reverie already: %s", c.Agent.Title, c.File)
		}
		for _, line := range afterInstall(c) {
			w.env.Say("  %s", line)
		}
	}
	return done, nil
}

// claimAgents notes that this clone relies on the user's own settings of agents, where they call us. That it could not be
// noted stops nothing.
func (w *workspace) claimAgents(ctx context.Context) {
	m, err := install.ThisMachine()
	if err != nil {
		return
	}
	if err := (install.Installer{Dir: m.StateDir()}).Claim(ctx, w.Repo.CommonDir); err != nil {
		w.env.Warn("note that this clone relies on the agents' settings: %v", err)
	}
}

// afterInstall is what else a person has to know or do.
func afterInstall(c install.Change) (lines []string) {
	switch {
	case !c.Changed():
		return nil
	case !c.Hooks() && c.Top == "":
		return nil
	case !c.Hooks() && c.Agent.Name == "claude":
		lines = append(lines, "it asks you once before it starts a server that a project names")
	case !c.Hooks():
	case c.Agent.Name == "codex":
		lines = append(lines, "it runs only hooks that you approved: open codex, and approve them in /hooks")
	case c.Agent.Name == "gemini" && c.Top != "":
		lines = append(lines, "it reads the settings of trusted folders only, and warns of new hooks")
	}
	if c.Top != "" {
		lines = append(lines, "the file has a path of this machine: leave it out of commits")
	}
	if m, err := install.ThisMachine(); err == nil && c.Top != "" && c.Hooks() {
		user, _ := m.User(c.Agent)
		if s, err := install.Examine(user); err == nil && s.Installed {
			lines = append(lines, "your own settings have it too, so every event comes twice: "+user.File)
		}
	}
	return lines
}

// tellAgents prints what init would write, as a diff without secrets.
func (w *workspace) tellAgents(in agentInstall) (would []agentJSON) {
	w.tellNone(in)
	for _, c := range in.changes {
		would = append(would, agentJSON{c.Agent.Name, c.File, !c.Hooks(), c.Changed()})
		switch {
		case w.env.JSON:
		case !c.Changed() && c.Hooks():
			w.env.Say("%s calls Reverie already: %s", c.Agent.Title, c.File)
		case !c.Changed():
			w.env.Say("%s has Reverie's tools already: %s", c.Agent.Title, c.File)
		default:
			if c.Hooks() {
				w.env.Say("would have %s call Reverie: %s", c.Agent.Title, c.File)
			} else {
				w.env.Say("would give %s Reverie's tools: %s", c.Agent.Title, c.File)
			}
			if c.Fresh && !w.env.Verbose {
				w.env.Print("%s\n", term.Visible(fmt.Sprintf("new file %s, %d bytes; -v shows it", c.File, len(c.New))))
				continue
			}
			old, _ := w.Scanner.Text(string(c.Old))
			now, _ := w.Scanner.Text(string(c.New))
			from := c.File
			if c.Fresh {
				from = "/dev/null"
			}
			patch := diff.Diff(from, []byte(old.String()), c.File, []byte(now.String()))
			_, patch, _ = bytes.Cut(patch, []byte("\n")) // a line of its own that no other diff has
			w.env.Print("%s", term.Visible(string(patch)))
		}
	}
	return would
}

// tellNone says that of all agents none is here, which is no fault.
func (w *workspace) tellNone(in agentInstall) {
	if in.none {
		w.env.Say("no agent that Reverie knows was found on this machine; to name one all the same: reverie init --agent NAME")
	}
}

// tellGeneric prints how an agent without a row of its own calls us.
func (w *workspace) tellGeneric(program string) {
	a, _ := hooks.Find("generic")
	var events []string
	for _, d := range a.Deliveries {
		events = append(events, d.Name)
	}
	w.env.Print(`Any agent that can run a command with JSON on its standard input:

    %s EVENT

EVENT is one of: %s.
The object has
    session_id              the session's name; required
    cwd                     the folder it works in, absolute; else it is the one in which the command runs
    transcript_path         the file it is recorded in, absolute, in any format that learn reads
    parent_id               the session that started it, for a sub-agent
    prompt                  what the user typed, for the event prompt
    last_assistant_message  what the agent said last, for the event stop
    source                  what brought it about, in words of your own
What the command prints after start, prompt, compacting and compacted is context for the agent. It exits with 0 whatever happens.
`, install.Command(program, a.Name), strings.Join(events, ", "))
}

// agentTargets are the files in which agents may call us: the user's own, and those of this work tree.
func (w *workspace) agentTargets(m install.Machine) (targets []install.Target) {
	for _, a := range hooks.Agents {
		targets = append(targets, m.Users(a)...)
		if w.Repo.WorkTree != "" {
			targets = append(targets, install.Projects(a, w.Repo.WorkTree)...)
		}
	}
	return targets
}

// agentArtefacts are this clone's claims to agents' files, for uninstall.
func (w *workspace) agentArtefacts() ([]artefact, error) {
	m, err := install.ThisMachine()
	if err != nil {
		return nil, nil // without a home there is nothing in it
	}
	in := install.Installer{Dir: m.StateDir()}
	installed, err := in.Installed(w.Repo.CommonDir, w.agentTargets(m))
	if err != nil {
		return nil, err
	}
	var found []artefact
	for _, i := range installed {
		a, ok := w.agentArtefact(in, i, w.Repo.CommonDir)
		if ok {
			found = append(found, a)
		}
	}
	return found, nil
}

// namedAgentArtefacts are the agents' files that uninstall --agent names. The user's own count in every clone: they go for all.
func (w *workspace) namedAgentArtefacts(names []string, project bool) (found []artefact, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	m, err := install.ThisMachine()
	if err != nil {
		return nil, err
	}
	if project && w.Repo.WorkTree == "" {
		return nil, exit.New(exit.Failed, errors.New("uninstall --project: there is no work tree here"), "without --project your own settings are looked at")
	}
	agents, _, err := chosenAgents(m, names)
	if err != nil {
		return nil, err
	}
	in := install.Installer{Dir: m.StateDir()}
	var targets []install.Target
	for _, a := range agents {
		if project {
			targets = append(targets, install.Projects(a, w.Repo.WorkTree)...)
		} else {
			targets = append(targets, m.Users(a)...)
		}
	}
	for _, t := range targets {
		i, err := in.Everyones(t, w.Repo.CommonDir)
		if err != nil {
			return nil, err
		}
		if i.Fate == install.Refused {
			if s, err := install.Examine(t); err != nil && !s.Installed && !t.Hooks() { // a file of much else, in which nothing of ours is seen
				continue
			}
			return nil, refusedSettings(i.Why, "nothing was changed")
		}
		if i.Fate == install.Gone {
			if t.Hooks() {
				w.env.Say("%s does not call Reverie from %s", t.Agent.Title, t.File)
			}
			continue
		}
		one, ok := w.agentArtefact(in, i, install.Everyone)
		if !ok {
			continue
		}
		if i.Others > 0 {
			one.what += fmt.Sprintf("; %s on it", term.Count(i.Others, "other clone relies", "other clones rely"))
		}
		found = append(found, one)
	}
	return found, nil
}

// agentArtefact is a file of an agent as uninstall tells and removes it; ok is false for one that is passed over.
func (w *workspace) agentArtefact(in install.Installer, i install.Installed, clone string) (a artefact, ok bool) {
	ours, calls := "the hooks", "calls Reverie from "
	if !i.Hooks() {
		ours, calls = "the tools", "has Reverie's tools for "
	}
	switch i.Fate {
	case install.Refused:
		w.env.Warn("passed over: %v", i.Why)
		return a, false
	case install.Stays:
		a.what = fmt.Sprintf("this clone's share in %s, which other clones use too and which stays", i.File)
	case install.Goes:
		a.what = fmt.Sprintf("%s, which %s%s", i.File, calls, i.Agent.Title)
	case install.Returns:
		a.what = fmt.Sprintf("%s in %s, which gets back the bytes it had", ours, i.File)
	case install.Cut:
		a.what = fmt.Sprintf("%s in %s, which was changed since and keeps the rest", ours, i.File)
	case install.Gone:
		a.what = fmt.Sprintf("the note that Reverie wrote to %s", i.File)
	}
	a.shared = i.Top == "" && i.Fate != install.Stays && i.Fate != install.Gone
	a.remove = func(ctx context.Context) error {
		_, err := in.Remove(ctx, i.Target, clone)
		return err
	}
	return a, true
}
