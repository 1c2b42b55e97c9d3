package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func checkCommand(env *Env) *cli.Command {
	var deep bool
	var o checkDiffOptions
	return &cli.Command{
		Name:  "check",
		Usage: "check the memory for damage, or a pull request against it",
		Description: "--diff checks a change of the memory instead, for a pull request: form, duplicates, contradictions,\n" +
			"secrets, instructions to agents, and files that do not belong there. A...B is the change of B since\n" +
			"it left A; A alone is the change from A to the newest state.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "deep", Usage: "read the bytes of every object in history", Destination: &deep},
			&cli.StringFlag{Name: "diff", Usage: "check the change `BASE...HEAD`", Destination: &o.span},
			&cli.BoolFlag{Name: "sarif", Usage: "with --diff: print SARIF 2.1.0", Destination: &o.sarif},
			&cli.BoolFlag{Name: "github", Usage: "with --diff: print annotations for GitHub Actions", Destination: &o.github},
			&cli.BoolFlag{Name: "strict", Usage: "with --diff: count warnings as errors", Destination: &o.strict},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 0:
				return exit.Usage("", "check takes no arguments")
			case c.IsSet("diff") && deep:
				return exit.Usage("", "--deep checks everything, --diff one change: choose one")
			case c.IsSet("diff"):
				return runCheckDiff(c.Context, env, o)
			case o.sarif || o.github || o.strict:
				return exit.Usage("reverie check --diff BASE...HEAD, two states of the memory branch", "--sarif, --github and --strict belong to --diff")
			}
			return runCheck(c.Context, env, deep)
		},
	}
}

func runCheck(ctx context.Context, env *Env, deep bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if _, err := w.Repo.RestoreRecent(ctx); err != nil {
		env.Warn("%v", err)
	}
	problems := 0
	var writeErr error
	tell := func(where, what string) {
		problems++
		if env.JSON {
			writeErr = errors.Join(writeErr, env.Object(map[string]string{"where": where, "problem": what}))
			return
		}
		env.Print("%s: %s\n", where, term.Visible(what))
	}
	stores := map[string]*gitstore.Store{
		w.Branch(): w.Memory, "journal": gitstore.Open(w.Repo, clone.JournalRef), "inbox": gitstore.Open(w.Repo, clone.InboxRef),
	}
	for _, name := range []string{w.Branch(), "journal", "inbox"} {
		err := stores[name].Check(ctx, deep, func(p gitstore.Problem) { tell(name, p.String()) })
		switch {
		case errors.Is(err, gitstore.ErrDeleted), name == w.Branch() && err != nil:
			return err
		case err != nil && !errors.Is(err, gitstore.ErrNoStore):
			return fmt.Errorf("check %s: %w", name, err)
		}
	}
	if err := checkFiles(ctx, w, tell); err != nil {
		return err
	}
	if err := checkRecords(ctx, w, tell); err != nil {
		return err
	}
	checkState(w, tell)
	if writeErr != nil {
		return writeErr
	}
	if err := noteStale(ctx, w); err != nil {
		return err
	}
	if problems > 0 {
		env.Warn("%s found", plural.Count(problems, "problem", "problems"))
		return exit.Silent
	}
	env.Say("no problem found")
	return nil
}

// checkRecords looks at what the files say. If that cannot be viewed at all, that is a problem too.
func checkRecords(ctx context.Context, w *workspace, tell func(where, what string)) error {
	err := w.View(ctx, func(v *record.View) error {
		for _, bad := range v.Bad() {
			tell(w.Branch(), bad.Error())
		}
		for _, m := range v.Memories() {
			for _, text := range m.Anchors {
				if _, err := record.ParseAnchor(text); err != nil {
					tell(w.Branch(), m.Path()+": "+err.Error())
				}
			}
			for _, id := range m.Supersedes {
				if _, ok := v.Blob(id); !ok && !v.Purged(id) {
					tell(w.Branch(), m.Path()+": supersedes "+id+", which is not there")
				}
			}
		}
		_, operr := v.Operations()
		_, rejerr := v.Rejections()
		_, referr := v.Reflections()
		_, everr := v.Evidence()
		_, skillerr := v.Skills()
		for _, e := range record.Errors(skillerr) {
			tell(w.Branch(), e.Error())
		}
		_, dreamerr := v.Dreams()
		_, cperr := v.Checkpoints("")
		_, scperr := v.SharedCheckpoints("")
		for _, err := range []error{operr, rejerr, referr, everr, dreamerr, cperr, scperr, v.BadPurges()} {
			for _, e := range record.Errors(err) {
				tell("journal or inbox", e.Error())
			}
		}
		return nil
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, config.ErrNewer) {
		return err
	}
	for _, e := range record.Errors(err) {
		tell(w.Branch(), "cannot be viewed: "+e.Error())
	}
	return nil
}

// noteStale lists memories whose code is gone, which is no problem of the store.
func noteStale(ctx context.Context, w *workspace) error {
	err := w.View(ctx, func(v *record.View) error {
		standings, err := w.Caveats(ctx, v)
		if err != nil {
			return err
		}
		for _, m := range v.Memories() {
			if !m.Live(w.env.Now()) || !standings(m).Stale {
				continue
			}
			for _, what := range w.Code.Here(ctx).Gone(ctx, m) {
				if w.env.JSON {
					err = errors.Join(err, w.env.Object(map[string]string{"where": w.Branch(), "note": m.Path() + ": stale: " + what}))
					continue
				}
				w.env.Print("%s: note: %s: stale: %s\n", w.Branch(), m.Path(), term.Visible(what))
			}
		}
		return err
	})
	if ctx.Err() == nil {
		return nil // what cannot be viewed was told as a problem
	}
	return err
}

// checkState reads the files of the state folder that cannot be made again.
func checkState(w *workspace, tell func(where, what string)) {
	approved := w.Judge.Check()
	_, known := remotes.Read(w.State)
	for _, err := range []error{approved, known} {
		if err != nil {
			_, next := hint.For(err)
			tell("state", err.Error()+"; "+next)
		}
	}
}

// checkFiles names files of the memory branch that do not belong there, and memories with an
// unfinished merge. Unreadable files were named before.
func checkFiles(ctx context.Context, w *workspace, tell func(where, what string)) error {
	err := w.Memory.View(ctx, func(t *gitstore.Tree) error {
		return t.Walk("", func(path string, _ gitstore.ID) error {
			if !check.Known(path) {
				tell(w.Branch(), path+": nothing of Reverie's; remove it from the branch")
			}
			if !strings.HasPrefix(path, "memories/") {
				return nil
			}
			data, err := t.Read(path)
			if line := check.Conflict(data); err == nil && line > 0 {
				tell(w.Branch(), fmt.Sprintf("%s:%d: contains conflict markers; keep the correct text and remove them", path, line))
			}
			return ctx.Err()
		})
	})
	var entries gitstore.EntryErrors
	if errors.As(err, &entries) || errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, git.ErrBrokenRef) {
		return nil
	}
	return err
}
