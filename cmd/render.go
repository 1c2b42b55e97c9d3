package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

type renderOptions struct {
	view  string // agents-md or memory-md
	file  string
	check bool
	force bool             // what was edited by hand goes
	done  func(renderJSON) // takes what would be the answer in JSON; nil writes it
}

func renderCommand(env *Env) *cli.Command {
	var o renderOptions
	return &cli.Command{
		Name:      "render",
		Usage:     "write memories as Markdown",
		ArgsUsage: "agents-md|memory-md",
		Description: "agents-md maintains one block between two marker lines and leaves the rest of the file alone. The\n" +
			"block records the state it shows, so learning more does not make it stale; --check reports an edited\n" +
			"or torn block. A block that was edited by hand stays as it is, unless --force is given.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "use `FILE` instead of the setting agents.file", Destination: &o.file},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 1 if the file's block differs from what was rendered", Destination: &o.check},
			&cli.BoolFlag{Name: "force", Usage: "overwrite a block that was edited by hand; with --file, write outside this work tree", Destination: &o.force},
		},
		Action: func(c *cli.Context) error {
			o.view = c.Args().First()
			if c.NArg() != 1 || o.view != "agents-md" && o.view != "memory-md" {
				return exit.Usage("reverie render agents-md", "render takes agents-md or memory-md")
			}
			if o.view == "memory-md" && (o.check || o.force || o.file != "") {
				return exit.Usage("reverie render memory-md >FILE", "render memory-md writes to standard output: it takes no --file, no --check and no --force")
			}
			return env.Paged(c.Context, func() error { return runRender(c.Context, env, o) })
		},
	}
}

func runRender(ctx context.Context, env *Env, o renderOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.view == "memory-md" {
		return w.View(ctx, func(v *record.View) error {
			w.tellBad(v)
			given, _, err := brief.Shared(ctx, w.Reader, v, env.Now())
			if err != nil {
				return err
			}
			text := brief.Markdown(given, 0, 0)
			if env.JSON {
				return env.Object(map[string]string{"text": text})
			}
			if env.Screen {
				env.Indent("", strings.TrimSuffix(text, "\n"))
			} else {
				env.Print("%s", text)
			}
			return nil
		})
	}
	file := env.path(o.file)
	if o.file == "" {
		if w.Repo.WorkTree == "" {
			return exit.New(exit.Failed, errors.New("render agents-md: a bare repository has no AGENTS.md"), "name a file: reverie render agents-md --file FILE")
		}
		file = w.AgentsFile()
	}
	to, err := clone.FindDestination(w.Repo, file)
	if err != nil {
		return err
	}
	if !to.Inside && !o.check {
		if !o.force || o.file == "" {
			return to.Refuse()
		}
		if err := w.WantPerson("render agents-md --force"); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(to.Real)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("render: %w", err)
	}
	b := block.Find(string(old))
	if b.State != block.OK && b.State != block.Absent {
		return b.Refuse(file)
	}
	if o.check {
		return checkBlock(ctx, w, file, b, string(old))
	}
	return w.View(ctx, func(v *record.View) error {
		w.tellBad(v)
		now := env.Now().UTC().Truncate(time.Second) // as precise as the block tells it
		given, kept, err := brief.Shared(ctx, w.Reader, v, now)
		if err != nil {
			return err
		}
		held, err := w.Held(ctx, v)
		if err != nil {
			return err
		}
		w.tellHidden(len(slices.DeleteFunc(held, func(h reader.Held) bool { return h.Private || h.Given != nil })))
		body := brief.Markdown(given, brief.MaxBody, 0)
		current := b.State == block.OK && b.Body(string(old)) == body
		if !current {
			if o.force && brief.Edited(b, string(old)) {
				if err := w.WantPerson("render agents-md --force"); err != nil {
					return err
				}
			}
			if !o.force && brief.Edited(b, string(old)) {
				added, gone, err := brief.HandEdits(ctx, w.Reader, v, b, string(old), given)
				if err != nil {
					return err
				}
				if len(added)+len(gone) > 0 {
					return refuseEdited(w, file, added, gone)
				}
			}
			attributes := fmt.Sprintf("v1 tree=%s at=%s sum=%s", v.Tree(), now.Format(time.RFC3339), derived.Sum([]byte(body)))
			if kept > 0 {
				attributes += fmt.Sprintf(" withheld=%d", kept)
			}
			if err := to.Write([]byte(b.Put(string(old), attributes, body))); err != nil {
				return fmt.Errorf("render: %w", err)
			}
		}
		switch {
		case env.JSON && o.done != nil:
			o.done(renderJSON{file, !current})
		case env.JSON:
			return env.Object(renderJSON{file, !current})
		case current:
			env.Say("%s is up to date", file)
		default:
			env.Say("wrote %s", file)
		}
		return nil
	})
}

type renderJSON struct {
	File    string `json:"file"`
	Written bool   `json:"written"` // false: it was up to date
}

type renderCheckJSON struct {
	File    string `json:"file"`
	Current bool   `json:"current"`
}

// checkBlock tells whether the block is what was rendered into it.
func checkBlock(ctx context.Context, w *workspace, file string, b block.Block, text string) error {
	var wrong string
	err := w.View(ctx, func(now *record.View) (err error) {
		fault, err := brief.FaultOf(ctx, w.Reader, now, b, text)
		wrong = blockFault(w, fault, b)
		return err
	})
	if err != nil {
		return err
	}
	if w.env.JSON {
		if err := w.env.Object(renderCheckJSON{file, wrong == ""}); err != nil {
			return err
		}
	}
	if wrong == "" {
		w.env.Say("%s is as it was rendered", file)
		return nil
	}
	w.env.Warn("%s%s", file, wrong)
	return exit.Silent
}

// blockFault says what is wrong with a block, or "".
func blockFault(w *workspace, f brief.Fault, b block.Block) string {
	const again = "; write it again: reverie render agents-md"
	switch f {
	case brief.NoBlock:
		return " has no reverie block"
	case brief.Stateless:
		return ": the block does not name its state and time" + again
	case brief.Unknown:
		return ": the block shows a state that " + w.Branch() + " never had here" + again
	case brief.HandEdited:
		return fmt.Sprintf(": the block was edited by hand or torn (lines %d to %d)", b.Lines[0], b.Lines[1]) + "; to see the edits: reverie render agents-md"
	case brief.ShowsForeign:
		return ": the block shows changes by untrusted people; next: reverie trust, or" + again[1:]
	}
	return ""
}
