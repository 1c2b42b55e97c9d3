package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

type exportOptions struct {
	filter
	private bool
	format  string // jsonl, json or markdown
	file    string // empty is standard output
	force   bool   // a file outside of the work tree is replaced
	limit   int    // 0 is all
	offset  int
}

func exportCommand(env *Env) *cli.Command {
	var o exportOptions
	return &cli.Command{
		Name:  "export",
		Usage: "export memories as JSONL, JSON or Markdown",
		Description: "Writes every field of each memory, in the order of ids; only --limit bounds their number. Private\n" +
			"memories are left out. --private writes them alone, and they stay private when imported.",
		Flags: append(o.flags(true),
			&cli.BoolFlag{Name: "private", Usage: "export only private memories", Destination: &o.private},
			&cli.StringFlag{Name: "format", Value: "jsonl", Usage: "write this `FORMAT`: jsonl, json, markdown", Destination: &o.format},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, replacing it at once", Destination: &o.file},
			&cli.BoolFlag{Name: "force", Usage: "with --output: replace a file outside this worktree", Destination: &o.force},
			&cli.IntFlag{Name: "limit", Usage: "print at most `N` memories; 0: no limit", Destination: &o.limit},
			&cli.IntFlag{Name: "offset", Usage: "skip the first `N` memories", Destination: &o.offset},
		),
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 0:
				return exit.Usage("reverie export >FILE, or reverie export -o FILE", "export takes no arguments")
			case o.format != "jsonl" && o.format != "json" && o.format != "markdown":
				return exit.Usage("reverie export --format markdown", "export writes jsonl, json or markdown, not %q", o.format)
			case env.JSON && o.format == "markdown":
				return exit.Usage("leave one of them out", "Markdown is not JSON")
			}
			return runExport(c.Context, env, o)
		},
	}
}

func runExport(ctx context.Context, env *Env, o exportOptions) error {
	var lines []transfer.Line
	var w *workspace
	err := o.read(ctx, env, func(opened *workspace, found []record.Memory, _ func(record.Memory) reader.Caveats) error {
		w = opened
		for _, m := range found {
			if m.Private == o.private {
				lines = append(lines, transfer.Of(m))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	lines = lines[min(o.offset, len(lines)):]
	if o.limit > 0 {
		lines = lines[:min(o.limit, len(lines))]
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	switch o.format {
	case "markdown":
		err = transfer.WriteMarkdown(&out, lines)
	case "json":
		enc.SetIndent("", "  ")
		err = enc.Encode(append([]transfer.Line{}, lines...))
	default:
		for _, l := range lines {
			if err = enc.Encode(l); err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if o.file == "" || o.file == "-" {
		if env.Screen && o.format == "markdown" {
			env.Indent("", strings.TrimSuffix(out.String(), "\n"))
			return nil
		}
		_, err = env.Out.Write(out.Bytes())
		return err
	}
	to, err := clone.FindDestination(w.Repo, env.path(o.file))
	if err == nil && to.There && !to.Inside {
		if !o.force {
			err = to.Refuse()
		} else {
			err = w.WantPerson("export --force")
		}
	}
	if err != nil {
		return err
	}
	write := to.Write
	if o.private {
		write = to.WritePrivate
	}
	if err := write(out.Bytes()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	env.Say("%s written to %s", plural.Count(len(lines), "memory", "memories"), o.file)
	return nil
}
