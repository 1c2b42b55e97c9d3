package cmd

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks/setup/doctor"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

type doctorOptions struct {
	fix bool
}

func doctorCommand(env *Env) *cli.Command {
	var o doctorOptions
	return &cli.Command{
		Name:  "doctor",
		Usage: "find faults in the installation, and repair them",
		Description: "Checks git, the memory, the agents' settings and git's hooks. Without asking, --fix repairs entries\n" +
			"that are missing, duplicated, or call a missing program. It restores lost objects of the memory from\n" +
			"copies of the last writes, or returns to the newest intact state.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "repair what is safe to repair", Destination: &o.fix},
		},
		Action: usage.Alone(func(c *cli.Context) error { return runDoctor(c.Context, env, o) }),
	}
}

// findingJSON is a line of doctor --json.
type findingJSON struct {
	What   string `json:"what"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // something a person can do
}

func runDoctor(ctx context.Context, env *Env, o doctorOptions) error {
	found := examine(ctx, env)
	if o.fix {
		mended := false
		for _, f := range found {
			if f.Mend == nil {
				continue
			}
			notes, err := f.Mend(ctx)
			for _, note := range notes {
				env.Say("%s", note)
			}
			if err != nil {
				env.Warn("repair %s: %v", f.What, err)
				continue
			}
			env.Say("repaired: %s: %s", f.What, f.Detail)
			mended = true
		}
		if mended {
			found = examine(ctx, env)
		}
	}
	broken := 0
	for _, f := range found {
		if f.State == doctor.Broken {
			broken++
		}
	}
	err := rows(env, found, func(f doctor.Finding) findingJSON { return findingJSON{f.What, string(f.State), f.Detail, f.Fix} }, func(f doctor.Finding) { tellFinding(env, f) })
	if err != nil {
		return err
	}
	if broken > 0 {
		return exit.Silent
	}
	return nil
}

// examine runs every check on a clone that is opened for them.
func examine(ctx context.Context, env *Env) []doctor.Finding {
	w, err := env.open(ctx)
	if err != nil {
		return doctor.Run(ctx, doctor.Checks(nil, guard.FilterOf, err))
	}
	return doctor.Run(ctx, doctor.Checks(w.Reader, guard.FilterOf, nil))
}

// detailColumn is the column of a finding's detail.
const detailColumn = 21

func tellFinding(env *Env, f doctor.Finding) {
	state := term.Span("", term.Pad(string(f.State), 7))
	if f.State == doctor.Broken {
		state.Style = term.Bold
	}
	env.Lay(detailColumn, state, term.Span("", " "), term.Span(term.Dim, term.Pad(f.What, 12)), term.Span("", " "+term.Visible(f.Detail)))
	fix := f.Fix
	if f.Mend != nil {
		fix = "reverie doctor --fix"
	}
	if fix != "" && f.State != doctor.OK {
		env.Lay(detailColumn, term.Span("", strings.Repeat(" ", env.Hang(detailColumn))+"next: "+term.Visible(fix)))
	}
}
