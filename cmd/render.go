package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

func renderCommand(env *Env) *cli.Command {
	var file string
	var check, force bool
	return &cli.Command{
		Name:      "render",
		Usage:     "write memories as Markdown",
		ArgsUsage: "agents-md|memory-md",
		Description: "agents-md maintains one block between two marker lines and leaves the rest of the file alone. The\n" +
			"block records the state it shows, so learning more does not make it stale; --check reports an edited\n" +
			"or torn block. A block that was edited by hand stays as it is, unless --force is given.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "use `FILE` instead of the setting agents.file", Destination: &file},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 1 if the file's block differs from what was rendered", Destination: &check},
			&cli.BoolFlag{Name: "force", Usage: "overwrite a block that was edited by hand; with --file, write outside this worktree", Destination: &force},
		},
		Action: func(c *cli.Context) error {
			view := c.Args().First()
			switch {
			case c.NArg() != 1 || view != "agents-md" && view != "memory-md":
				return exit.Usage("reverie render agents-md", "render takes agents-md or memory-md")
			case view == "memory-md" && (check || force || file != ""):
				return exit.Usage("reverie render memory-md >FILE", "render memory-md writes to standard output: it takes no --file, no --check and no --force")
			case view == "memory-md":
				return env.paged(c.Context, func(w *workspace) error { return runRenderMemory(c.Context, w) })
			}
			m := brief.Managed{Force: force}
			if file != "" {
				m.Path = env.path(file)
			}
			return env.Paged(c.Context, func() error {
				if check {
					return env.with(c.Context, func(w *workspace) error { return runRenderCheck(c.Context, w, m) })
				}
				return env.with(c.Context, func(w *workspace) error { return runRender(c.Context, w, m) })
			})
		},
	}
}

// runRenderMemory prints the shared memories as Markdown.
func runRenderMemory(ctx context.Context, w *workspace) error {
	return w.View(ctx, func(v *record.View) error {
		reader.ReportBad(w.Reader, v)
		given, _, err := brief.Shared(ctx, w.Reader, v, w.env.Now())
		if err != nil {
			return err
		}
		text := brief.Markdown(given, 0, 0)
		switch {
		case w.env.JSON:
			return w.env.Object(map[string]string{"text": text})
		case w.env.Screen:
			w.env.Indent("", strings.TrimSuffix(text, "\n"))
		default:
			w.env.Print("%s", text)
		}
		return nil
	})
}

// runRender writes the managed block of a file.
func runRender(ctx context.Context, w *workspace, m brief.Managed) error {
	done, err := m.Render(ctx, w.Reader)
	tellRendered(w, done, err)
	if err == nil && w.env.JSON {
		return w.env.Object(done)
	}
	return err
}

// maxEdited bounds the printed lines of each sort.
const maxEdited = 20

// tellRendered says whether a block was written, or which edits of a person kept it.
func tellRendered(w *workspace, r brief.Rendered, err error) {
	w.tellHidden(r.Hidden)
	for _, of := range []struct {
		what  string
		lines []string
	}{{"edited: ", r.Added}, {"gone:   ", r.Gone}} {
		for i, line := range of.lines {
			if i == maxEdited {
				w.env.Warn("%s%d more", of.what, len(of.lines)-i)
				break
			}
			w.env.Warn("%s%s", of.what, line)
		}
	}
	switch {
	case w.env.JSON:
	case r.Written:
		w.env.Say("wrote %s", r.File)
	case err == nil:
		w.env.Say("%s is up to date", r.File)
	}
}

type renderCheckJSON struct {
	File    string `json:"file"`
	Current bool   `json:"current"`
}

// runRenderCheck tells whether the block is as it was rendered.
func runRenderCheck(ctx context.Context, w *workspace, m brief.Managed) error {
	file, fault, err := m.Check(ctx, w.Reader)
	if err != nil {
		return err
	}
	if w.env.JSON {
		if err := w.env.Object(renderCheckJSON{file, fault == ""}); err != nil {
			return err
		}
	}
	if fault == "" {
		w.env.Say("%s is as it was rendered", file)
		return nil
	}
	w.env.Warn("%s%s", file, fault)
	return exit.Silent
}
