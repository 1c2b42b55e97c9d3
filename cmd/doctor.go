package cmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type doctorOptions struct {
	fix bool
}

func doctorCommand(env *Env) *cli.Command {
	var o doctorOptions
	return &cli.Command{
		Name:  "doctor",
		Usage: "find faults in the installation, and repair them",
		Description: "Looks at git, the memory, and whatever calls Reverie: the agents' settings and git's hooks. --fix mends what can\n" +
			"be mended without asking: entries that call a program that is gone, that are missing or there twice; objects of the\n" +
			"memory that are gone, from those that are kept of the last writes, or by going back to the newest state that is whole.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "mend what is safe to mend", Destination: &o.fix},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("", "doctor takes no arguments")
			}
			return runDoctor(c.Context, env, o)
		},
	}
}

// The states of what doctor looked at.
const (
	stateOK     = "ok"
	stateNote   = "note" // worth knowing, and no fault
	stateBroken = "broken"
)

// examined is one thing that doctor looked at.
type examined struct {
	What   string `json:"what"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what a person can do

	mend func(context.Context) error // what doctor can; nil for nothing
}

func runDoctor(ctx context.Context, env *Env, o doctorOptions) error {
	rows := env.examine(ctx)
	if o.fix {
		mended := false
		for _, row := range rows {
			if row.mend == nil {
				continue
			}
			if err := row.mend(ctx); err != nil {
				env.Warn("mend %s: %v", row.What, err)
				continue
			}
			env.Say("mended: %s: %s", row.What, row.Detail)
			mended = true
		}
		if mended {
			rows = env.examine(ctx)
		}
	}
	broken := 0
	for _, row := range rows {
		if row.State == stateBroken {
			broken++
		}
		if env.JSON {
			if err := env.Object(row); err != nil {
				return err
			}
			continue
		}
		env.tellExamined(row)
	}
	if broken > 0 {
		return exit.Silent
	}
	return nil
}

// factAt is where what was found stands in a line of doctor.
const factAt = 21

func (env *Env) tellExamined(row examined) {
	state := term.Span("", term.Pad(row.State, 7))
	if row.State == stateBroken {
		state.Style = term.Bold
	}
	env.Lay(factAt, state, term.Span("", " "), term.Span(term.Dim, term.Pad(row.What, 12)), term.Span("", " "+term.Visible(row.Detail)))
	fix := row.Fix
	if row.mend != nil {
		fix = "reverie doctor --fix"
	}
	if fix != "" && row.State != stateOK {
		env.Lay(factAt, term.Span("", strings.Repeat(" ", env.Hang(factAt))+"next: "+term.Visible(fix)))
	}
}

// examine looks at everything. What it cannot look at is a row too.
func (env *Env) examine(ctx context.Context) []examined {
	rows := []examined{examineGit(ctx)}
	if job.Disabled() {
		rows = append(rows, examined{What: "hooks", State: stateNote, Detail: "turned off in this shell by " + job.DisableVariable + " or " + job.Depth})
	}
	w, err := env.open(ctx)
	if err != nil {
		_, hint := explain(err)
		rows = append(rows, examined{What: "repository", State: stateBroken, Detail: err.Error(), Fix: hint})
	} else {
		memory := w.examineMemory(ctx)
		rows = append(rows, memory)
		rows = append(rows, w.examineObjects(ctx)...)
		if memory.State == stateOK {
			rows = append(rows, w.examineIndex(ctx))
		}
		rows = append(rows, w.examineTrust(ctx)...)
	}
	rows = append(rows, env.examineAgents(ctx, w)...)
	if w != nil {
		rows = append(rows, w.examineGitHooks(ctx)...)
		rows = append(rows, w.examineHooks()...)
		rows = append(rows, w.examinePrompts()...)
		rows = append(rows, w.examineModel(ctx)...)
	}
	return rows
}

func examineGit(ctx context.Context) examined {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return examined{What: "git", State: stateBroken, Detail: err.Error(), Fix: "install git, and have it in PATH"}
	}
	return examined{What: "git", State: stateOK, Detail: strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")}
}

// examineIndex brings the index up to date, and looks whether the next process finds it so.
func (w *workspace) examineIndex(ctx context.Context) examined {
	if err := w.RefreshIndex(ctx); err != nil {
		return examined{What: "index", State: stateBroken, Detail: "every search indexes all memories again: " + err.Error(), Fix: "look who may write to " + filepath.Join(w.State, reader.CatalogFile) + ", or remove it"}
	}
	return examined{What: "index", State: stateOK, Detail: "up to date"}
}

// examineTrust looks whether agents are given what is known. Before there is a memory there is nothing to say.
func (w *workspace) examineTrust(ctx context.Context) []examined {
	held, err := w.AllHeld(ctx)
	row := examined{What: "trust", State: stateOK, Detail: "nothing is withheld from agents for its author"}
	switch {
	case clone.NoMemory(err):
		return nil
	case err != nil:
		row.State, row.Detail = stateBroken, err.Error()
		_, row.Fix = explain(err)
	case len(held) > 0:
		row.State, row.Detail, row.Fix = stateNote, heldLine(held), "reverie trust"
	case w.Settings.Trust.Text != nil:
		row.State, row.Detail, row.Fix = stateNote, w.whySettings(), "reverie trust approve "+trust.SettingsPath
	}
	if _, err := w.Memory.Tip(ctx); err != nil && len(held) == 0 {
		return nil
	}
	return []examined{row}
}

// examineObjects looks whether everything is here that the stores reach. A row is for a store of which it is not.
func (w *workspace) examineObjects(ctx context.Context) (rows []examined) {
	for _, o := range []struct{ name, ref, lane string }{{w.Branch(), w.Config.Ref, "memory"}, {"the journal", clone.JournalRef, "journal"}, {"the inbox", clone.InboxRef, "inbox"}} {
		store := gitstore.Open(w.Repo, o.ref)
		broken, err := store.Broken(ctx)
		if err == nil && !broken {
			continue
		}
		row := examined{What: "objects", State: stateBroken, Detail: o.name + " reaches objects that are gone"}
		if err != nil {
			row.Detail, row.Fix = o.name+": "+err.Error(), "reverie check --deep"
			rows = append(rows, row)
			continue
		}
		row.mend = func(ctx context.Context) error {
			done, err := store.Repair(ctx, "refs/reverie/remotes/*/"+o.lane)
			if done.Restored > 0 {
				w.env.Say("%s: restored %s from those kept of the last writes", o.name, term.Count(done.Restored, "object", "objects"))
			}
			if done.To != "" {
				w.env.Say("%s: went back from %.12s, of which objects are gone, to %.12s, which %s has: what was written between is lost here; reverie sync brings what a remote has of it",
					o.name, done.From, done.To, done.Source)
			}
			return err
		}
		rows = append(rows, row)
	}
	return rows
}

// examineMemory looks whether there is a memory, and reads every record of it.
func (w *workspace) examineMemory(ctx context.Context) examined {
	row := examined{What: "memory", State: stateOK}
	err := w.view(ctx, func(v *record.View) error {
		row.Detail = fmt.Sprintf("%s, %s", w.Branch(), term.Count(len(v.Memories()), "memory", "memories"))
		if len(v.Bad()) > 0 {
			row.State, row.Detail = stateBroken, row.Detail+", and "+term.Count(len(v.Bad()), "file", "files")+" that cannot be read"
			row.Fix = "reverie check"
		}
		return nil
	})
	switch {
	case clone.NoMemory(err):
		row.State, row.Detail, row.Fix = stateNote, "none in this repository: hooks do nothing here", "reverie init"
	case err != nil:
		_, row.Fix = explain(err)
		row.State, row.Detail = stateBroken, err.Error()
	default:
		if info, err := os.Lstat(w.State); row.State == stateOK && (err != nil || !info.IsDir()) {
			row.State, row.Detail, row.Fix = stateNote, row.Detail+"; not started in this clone: hooks do nothing here", "reverie init"
		}
	}
	return row
}
