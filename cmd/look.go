package cmd

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/report"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/period"
	"github.com/reverie-memory/reverie/internal/preview"
	"github.com/urfave/cli/v2"
)

type lookOptions struct {
	past   backfillOptions
	within string
	html   string // file, - for standard output
	force  bool
}

// Items that a section shows on a terminal, and on a page.
const (
	maxLooked = 3
	maxPaged  = 20
)

func lookCommand(env *Env) *cli.Command {
	o := lookOptions{within: "10s"}
	var agents cli.StringSlice
	return &cli.Command{
		Name:  "look",
		Usage: "show what learning from past sessions would give",
		Description: "Reads the sessions that OpenCode, Claude Code, Codex, Gemini CLI, Copilot CLI, Qwen Code and Aider\n" +
			"kept of this repository, the latest first. It prints what learn would find: the rules that you said,\n" +
			"the failures that came back, and contradictions in the files that your agents read. It needs no\n" +
			"init and writes nothing, except the page of --html.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "html", Usage: "write a web page to `FILE` instead; - is standard output", Destination: &o.html},
			&cli.BoolFlag{Name: "force", Usage: "with --html: replace FILE", Destination: &o.force},
			&cli.StringFlag{Name: "within", Usage: "stop reading after `TIME`: 30s, 5m", Value: o.within, Destination: &o.within},
			&cli.StringFlag{Name: "since", Usage: "read only sessions written since `WHEN`: 2026-11-01, 30d, 2w, 12h", Destination: &o.past.since},
			&cli.StringSliceFlag{Name: "agent", Usage: "read only sessions of agent `NAME`; may be repeated", Destination: &agents},
		},
		Action: func(c *cli.Context) error {
			o.past.agents = agents.Value()
			switch {
			case c.NArg() > 0:
				return exit.Usage("to learn from a file: reverie learn FILE", "look takes no arguments")
			case o.force && o.html == "":
				return exit.Usage("reverie look --html FILE --force", "--force needs --html")
			case o.html != "" && env.JSON:
				return exit.Usage("leave one of them out", "a page is not JSON")
			}
			return env.paged(c.Context, func(w *workspace) error { return runLook(c.Context, w, o) })
		},
	}
}

func runLook(ctx context.Context, w *workspace, o lookOptions) error {
	w.env.opened = nil // it starts no worker, which would write
	q, err := o.past.query(w.env.Now())
	if err != nil {
		return err
	}
	within, ok := period.Parse(o.within)
	if !ok || within == 0 {
		return exit.Usage("use 30s or 5m", "--within %q is not a length of time", o.within)
	}
	var to clone.Destination
	if o.html != "" && o.html != "-" {
		if to, err = pageFile(w, o); err != nil {
			return err
		}
	}
	from := preview.Source{Reader: w.Reader, Ingester: ingester(w), Step: steps(w)}
	p, err := preview.Look(ctx, from, preview.Options{Since: q.Since, Agents: q.Agents, Within: within})
	if err != nil {
		return err
	}
	switch {
	case w.env.JSON:
		return w.env.Object(p)
	case o.html == "":
		if places := p.Vain(); len(places) > 0 {
			tellNowhere(w, places)
		}
		report.Word(p, maxLooked, w.Started()).Show(&w.env.Terminal)
		return nil
	}
	page, err := report.Word(p, maxPaged, w.Started()).HTML(w.env.Now())
	if err != nil {
		return err
	}
	if o.html == "-" {
		_, err = w.env.Out.Write(page)
		return err
	}
	if err := to.WritePrivate(page); err != nil {
		return fmt.Errorf("look: %w", err)
	}
	w.env.Say("wrote %s", o.html)
	return nil
}

// pageFile finds the file of a page. It replaces none without force.
func pageFile(w *workspace, o lookOptions) (to clone.Destination, err error) {
	if to, err = clone.FindDestination(w.Repo, w.env.path(o.html)); err != nil || !to.There {
		return to, err
	}
	if !o.force {
		return to, exit.New(exit.NeedsPerson, fmt.Errorf("%s: exists already; nothing was changed", o.html), "name another file, or add --force")
	}
	if !to.Inside {
		err = w.WantPerson("look --force")
	}
	return to, err
}
