package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/plural"
)

// agentCheck checks every agent that is found on this machine or has our entries.
type agentCheck struct {
	clone   *clone.Clone // nil outside a repository
	machine agents.Machine
	program string // by which hooks should call us; "" without one
	agent   hooks.Agent

	filterOf func(commonDir string) hooks.Filter // of setup.AgentOptions
}

func (x agentCheck) run(ctx context.Context) (found []Finding) {
	var err error
	if x.machine, err = agents.ThisMachine(); err != nil {
		return []Finding{{State: Broken, Detail: err.Error(), Fix: setup.SetHome}}
	}
	if x.program, err = agents.Program(); err != nil {
		found = append(found, Finding{What: "program", State: Note, Detail: err.Error(), Fix: "run the installed one"})
		x.program = ""
	}
	for _, x.agent = range hooks.Agents {
		found = append(found, x.examine(ctx)...)
	}
	return found
}

func (x agentCheck) installer() agents.Installer {
	return agents.Installer{Dir: x.machine.StateDir(), FilterOf: x.filterOf}
}

func (x agentCheck) finding(state State, detail, fix string) Finding {
	return Finding{What: x.agent.Name, State: state, Detail: detail, Fix: fix}
}

// examine looks at the files of one agent.
func (x agentCheck) examine(ctx context.Context) (found []Finding) {
	targets, top := x.machine.Users(x.agent), ""
	if len(targets) == 0 {
		return nil
	}
	if x.clone != nil && x.clone.Repo.WorkTree != "" {
		top = x.clone.Repo.WorkTree
		targets = append(targets, agents.Projects(x.agent, top)...)
	}
	installed, unread := 0, false
	for _, t := range targets {
		if !t.Hooks() {
			found = append(found, x.tools(t)...)
			continue
		}
		s, err := x.installer().Examine(t)
		if err != nil {
			state := Note // the user's file, without our entries
			if s.Installed {
				state = Broken
			}
			found = append(found, x.finding(state, err.Error(), "mend the file"))
			unread = true
		}
		if s.Installed {
			installed++
		}
		if err == nil && s.Installed {
			found = append(found, x.hooks(ctx, s, top)...)
		}
	}
	switch {
	case installed == 2:
		found = append(found, x.finding(Note, "every event comes twice: your own settings and this project's call Reverie", "reverie uninstall --agent "+x.agent.Name+" --project"))
	case installed == 0 && !x.heard().IsZero() && x.clone.Now().Sub(x.heard()) < recently:
		found = append(found, x.finding(OK, x.agent.Title+" calls Reverie without hooks of init, as a plugin does; last heard of "+plural.Ago(x.clone.Now().Sub(x.heard())), ""))
	case installed == 0 && !unread && x.machine.Has(x.agent):
		found = append(found, x.finding(Note, x.agent.Title+" is here and does not call Reverie", "reverie init --agent "+x.agent.Name))
	}
	return found
}

// hooks checks a file with our hooks.
func (x agentCheck) hooks(ctx context.Context, s agents.Status, top string) []Finding {
	found := x.faults(s)
	for _, h := range x.machine.Hindrances(s, top) {
		state := Broken
		if h.Possible {
			state = Note
		}
		found = append(found, x.finding(state, h.Why, h.Do))
	}
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.State == Broken }) {
		found = append(found, x.silence(ctx, s))
	}
	return found
}

// tools checks a file with our server and no hooks. The user may choose that.
func (x agentCheck) tools(t agents.Target) []Finding {
	s, err := x.installer().Examine(t)
	switch {
	case !s.Installed:
		return nil
	case err != nil:
		return []Finding{x.finding(Broken, err.Error(), "mend the file")}
	}
	if found := x.faults(s); len(found) > 0 {
		return found
	}
	if t.Command() {
		return nil // its server or its hooks are named
	}
	return []Finding{x.finding(OK, "has Reverie's tools from "+t.File, "")}
}

// faults lists the faults of our entries in a file.
func (x agentCheck) faults(s agents.Status) (found []Finding) {
	add := func(state State, safe bool, format string, args ...any) {
		f := x.finding(state, fmt.Sprintf(format, args...)+" in "+s.File, "reverie init --agent "+x.agent.Name)
		if s.Top != "" {
			f.Fix += " --project"
		}
		if x.program == "" {
			f.Fix = "run reverie doctor --fix with the installed program"
		} else if safe {
			t := s.Target
			t.Bare = !s.Serves // of no effect on commands
			f.Mend = func(ctx context.Context) ([]string, error) { return nil, x.install(ctx, t) }
		}
		found = append(found, f)
	}
	calls := "hooks call"
	if !s.Hooks() {
		calls = "has the tools"
	}
	for _, p := range s.Programs {
		info, err := os.Stat(p)
		switch {
		case err != nil || info.IsDir() || info.Mode()&0o111 == 0 && os.PathSeparator == '/':
			add(Broken, true, "the program %s is gone, which %s", p, calls)
		case x.program != "" && p != x.program && !file.Same(p, x.program):
			add(Note, false, "%s is the program that %s, and this is %s,", p, calls, x.program)
		}
	}
	if s.Other {
		add(Note, true, "not as this version writes it,")
	}
	if len(s.Missing) > 0 {
		add(Broken, true, "no hook for %s", strings.Join(s.Missing, ", "))
	}
	if len(s.Twice) > 0 {
		add(Broken, true, "more than one hook of ours for %s", strings.Join(s.Twice, ", "))
	}
	if len(s.Needless) > 0 {
		add(Note, true, "hooks that nothing needs any more: %s,", strings.Join(s.Needless, ", "))
	}
	return found
}

func (x agentCheck) install(ctx context.Context, t agents.Target) error {
	if x.clone == nil {
		return errors.New("outside of a repository: run it in one")
	}
	_, err := x.installer().Install(ctx, t, x.program, x.clone.Repo.CommonDir)
	return err
}

// silence reports an agent's last event. Hooks that do not run show no other fault, so it compares
// that time with the agent's own records of sessions.
func (x agentCheck) silence(ctx context.Context, s agents.Status) Finding {
	ok := x.finding(OK, "calls Reverie from "+s.File, "")
	if x.clone == nil {
		return ok
	}
	heard := x.heard()
	if heard.IsZero() {
		ok.Detail += "; never heard of in this repository"
	} else {
		ok.Detail += "; last heard of " + plural.Ago(x.clone.Now().Sub(heard))
	}
	since := heard
	if info, err := os.Stat(s.File); err == nil && info.ModTime().After(since) {
		since = info.ModTime() // earlier sessions had no hooks, or others
	}
	began, err := ingest.CountStarted(ctx, x.clone.Repo, x.agent.Name, since.Add(slack))
	if err != nil {
		return x.finding(Note, ok.Detail+"; its own records cannot be read: "+err.Error(), "")
	}
	if began == 0 {
		return ok
	}
	return x.finding(Broken, fmt.Sprintf("%s since %s and none was delivered, though hooks are in %s",
		plural.Count(began, "session has begun here", "sessions have begun here"), since.Format(time.DateTime), s.File),
		"restart "+x.agent.Name+"; check that it reads that file, and for "+job.DisableVariable+" in its environment")
}

// heard returns the time of the agent's last event in this clone, or the zero time.
func (x agentCheck) heard() (at time.Time) {
	if x.clone == nil {
		return at
	}
	if info, err := os.Stat(filepath.Join(x.clone.State, hooks.SeenDir, x.agent.Name)); err == nil {
		at = info.ModTime()
	}
	return at
}

// recently bounds the age of an event that shows that an agent still calls us.
const recently = 7 * 24 * time.Hour

// slack bounds the time by which a session may seem to begin after its first event.
const slack = time.Minute
