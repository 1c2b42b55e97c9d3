package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/install"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/term"
)

// examineAgents looks at every agent that is found on this machine or installed for. w is nil outside of a repository.
func (env *Env) examineAgents(ctx context.Context, w *workspace) []examined {
	m, err := install.ThisMachine()
	if err != nil {
		return []examined{{What: "agents", State: stateBroken, Detail: err.Error()}}
	}
	program, err := install.Program()
	var rows []examined
	if err != nil {
		rows = append(rows, examined{What: "program", State: stateNote, Detail: err.Error(), Fix: "run the installed one"})
		program = ""
	}
	for _, a := range hooks.Agents {
		rows = append(rows, agentExam{env, w, m, a, program}.rows(ctx)...)
	}
	return rows
}

// agentExam is the look at one agent.
type agentExam struct {
	env     *Env
	w       *workspace // or nil
	m       install.Machine
	agent   hooks.Agent
	program string // by which hooks should call us; "" if there is none
}

func (x agentExam) row(state, detail, fix string) examined {
	return examined{What: x.agent.Name, State: state, Detail: detail, Fix: fix}
}

func (x agentExam) rows(ctx context.Context) (rows []examined) {
	targets, top := x.m.Users(x.agent), ""
	if len(targets) == 0 {
		return nil
	}
	if x.w != nil && x.w.Repo.WorkTree != "" {
		top = x.w.Repo.WorkTree
		targets = append(targets, install.Projects(x.agent, top)...)
	}
	installed, unread := 0, false
	for _, t := range targets {
		if !t.Hooks() {
			rows = append(rows, x.tools(t)...)
			continue
		}
		s, err := install.Examine(t)
		if err != nil {
			state := stateNote // it is the user's, and we are not in it
			if s.Installed {
				state = stateBroken
			}
			rows = append(rows, x.row(state, err.Error(), "mend the file"))
			unread = true
		}
		if !s.Installed {
			continue
		}
		installed++
		if err != nil {
			continue
		}
		faults := x.faults(s)
		for _, h := range x.m.Hindrances(s, top) {
			state := stateBroken
			if h.Possible {
				state = stateNote
			}
			faults = append(faults, x.row(state, h.Why, h.Do))
		}
		if !slices.ContainsFunc(faults, func(r examined) bool { return r.State == stateBroken }) {
			faults = append(faults, x.silence(ctx, s))
		}
		rows = append(rows, faults...)
	}
	switch {
	case installed == 2:
		rows = append(rows, x.row(stateNote, "every event comes twice: your own settings and this project's call Reverie", "reverie uninstall --agent "+x.agent.Name+" --project"))
	case installed == 0 && !unread && x.m.Has(x.agent):
		rows = append(rows, x.row(stateNote, x.agent.Title+" is here and does not call Reverie", "reverie init --agent "+x.agent.Name))
	}
	return rows
}

// tools looks at a file that has our server and no hooks. That it has none is the user's choice.
func (x agentExam) tools(t install.Target) []examined {
	s, err := install.Examine(t)
	switch {
	case !s.Installed:
		return nil
	case err != nil:
		return []examined{x.row(stateBroken, err.Error(), "mend the file")}
	}
	if rows := x.faults(s); len(rows) > 0 {
		return rows
	}
	return []examined{x.row(stateOK, "has Reverie's tools from "+t.File, "")}
}

// faults are those of the entries in a file.
func (x agentExam) faults(s install.Standing) (rows []examined) {
	add := func(state string, safe bool, format string, args ...any) {
		row := x.row(state, fmt.Sprintf(format, args...)+" in "+s.File, "reverie init --agent "+x.agent.Name)
		if s.Top != "" {
			row.Fix += " --project"
		}
		if x.program == "" {
			row.Fix = "run reverie doctor --fix with the installed program"
		} else if safe {
			t := s.Target
			t.Bare = !s.Serves
			row.mend = func(ctx context.Context) error { return x.install(ctx, t) }
		}
		rows = append(rows, row)
	}
	calls := "hooks call"
	if !s.Hooks() {
		calls = "has the tools"
	}
	for _, p := range s.Programs {
		info, err := os.Stat(p)
		switch {
		case err != nil || info.IsDir() || info.Mode()&0o111 == 0 && os.PathSeparator == '/':
			add(stateBroken, true, "the program %s is gone, which %s", p, calls)
		case x.program != "" && p != x.program && !file.Same(p, x.program):
			add(stateNote, false, "%s is the program that %s, and this is %s,", p, calls, x.program)
		}
	}
	if s.Other {
		add(stateNote, true, "the plugin is not as this version writes it,")
	}
	if len(s.Missing) > 0 {
		add(stateBroken, true, "no hook for %s", strings.Join(s.Missing, ", "))
	}
	if len(s.Twice) > 0 {
		add(stateBroken, true, "more than one hook of ours for %s", strings.Join(s.Twice, ", "))
	}
	return rows
}

func (x agentExam) install(ctx context.Context, t install.Target) error {
	if x.w == nil {
		return errors.New("outside of a repository: run it in one")
	}
	_, err := install.Installer{Dir: x.m.StateDir()}.Install(ctx, t, x.program, x.w.Repo.CommonDir)
	return err
}

// silence says when an agent was last heard of, and finds the fault that nothing else shows: hooks that are there and
// do not run, though the agent's own records have newer sessions.
func (x agentExam) silence(ctx context.Context, s install.Standing) examined {
	ok := x.row(stateOK, "calls Reverie from "+s.File, "")
	if x.w == nil {
		return ok
	}
	heard := time.Time{}
	info, err := os.Stat(filepath.Join(x.w.State, hooks.SeenDir, x.agent.Name))
	switch {
	case err == nil:
		heard = info.ModTime()
		ok.Detail += "; last heard of " + ago(x.env.Now().Sub(heard))
	case errors.Is(err, fs.ErrNotExist):
		ok.Detail += "; never heard of in this repository"
	}
	since := heard
	if info, err := os.Stat(s.File); err == nil && info.ModTime().After(since) {
		since = info.ModTime() // sessions from before that had no hooks, or others
	}
	began, err := ingest.CountStarted(ctx, x.w.Repo, x.agent.Name, since.Add(slack))
	if err != nil {
		return x.row(stateNote, ok.Detail+"; its own records cannot be read: "+err.Error(), "")
	}
	if began == 0 {
		return ok
	}
	return x.row(stateBroken, fmt.Sprintf("%s since %s and none was delivered, though hooks are in %s",
		term.Count(began, "session has begun here", "sessions have begun here"), since.Format(time.DateTime), s.File),
		"start "+x.agent.Name+" anew; look whether it reads that file, and for "+job.DisableVariable+" in its environment")
}

// slack is how much later than its first event a session may seem to begin.
const slack = time.Minute

// ago says a time that has passed in the largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return term.Count(int(d/time.Minute), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return term.Count(int(d/time.Hour), "hour", "hours") + " ago"
	}
	return term.Count(int(d/(24*time.Hour)), "day", "days") + " ago"
}
