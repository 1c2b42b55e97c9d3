package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type importOptions struct {
	from   string // a format; empty looks at the file
	accept bool
	dryRun bool
	store  storeOptions
}

func importCommand(env *Env) *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "import statements from files and other tools",
		ArgsUsage: "FILE|-|PLACE",
		Description: "FILE is JSONL, a JSON array, or Markdown as export writes it. Each statement is one object: text\n" +
			"(required), body, kind, paths, tags, ref, private, and the other fields that export writes. A ref is\n" +
			"your own key: importing it again changes that memory instead of adding one. One bad statement stops\n" +
			"the whole import. A memory retired in the source is to be retired here too.\n\n" +
			"--from TOOL reads the store of another tool, at its usual place or at PLACE: opencode-mem's server,\n" +
			"true-mem's or opencode-lcm's database, simple-memory's folder; all reads every store it finds. If a\n" +
			"statement is gone from the store at the next import, that import proposes to retire it.\n\n" +
			"--from instructions reads CLAUDE.md, AGENTS.md, GEMINI.md, .cursorrules, .cursor/rules and\n" +
			".github/copilot-instructions.md. claude-memory, codex-memory and gemini-memory read the notes that\n" +
			"these agents keep of this repository. opencode-dream, deep-memory and opencode-memory read the files\n" +
			"of these plug-ins. Each bullet or rule becomes a statement, with its file and line as source.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "read this `FORMAT` (default: detected), or the store of a tool: " + fromHelp(), Destination: &o.from},
			&cli.BoolFlag{Name: "accept", Usage: "accept the statements as reviewed, without the inbox", Destination: &o.accept},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "probe", Usage: "with a tool: list the contents of its store, and import nothing", Destination: &o.store.probe},
			&cli.StringFlag{Name: "filter", Usage: "with a tool: import only statements that contain `TEXT`", Destination: &o.store.filter},
			&cli.IntFlag{Name: "max-length", Value: defaultChars, Usage: "with a tool: cut texts after `N` characters", Destination: &o.store.most},
			&cli.BoolFlag{Name: "allow-remote", Usage: "with opencode-mem: allow a server on another machine", Destination: &o.store.remote},
		},
		Action: func(c *cli.Context) error {
			isStore := o.from == "all" || slices.Contains(foreign.Tools, o.from)
			switch {
			case o.from != "" && !isStore && !slices.Contains(intake.Formats, o.from):
				return exit.Usage("it is one of "+fromHelp(), "--from %s is neither a format nor a tool", o.from)
			case !isStore && (o.store.probe || o.store.filter != "" || o.store.remote || c.IsSet("max-length")):
				return exit.Usage("reverie import --from true-mem --probe", "--probe, --filter, --max-length and --allow-remote are for a tool's store")
			case !isStore && c.NArg() != 1:
				return exit.Usage("to read standard input: reverie import -", "import takes exactly one file")
			case isStore && (c.NArg() > 1 || c.NArg() == 1 && o.from == "all"):
				return exit.Usage("reverie import --from TOOL [PLACE]", "import --from %s takes %s", o.from, map[bool]string{true: "no place", false: "one place"}[o.from == "all"])
			case o.store.most < 1 || o.store.most > intake.MaxChars:
				return exit.Usage(fmt.Sprintf("it is 1 to %d", intake.MaxChars), "--max-length is %d", o.store.most)
			case isStore:
				return env.with(c.Context, func(w *workspace) error { return runImportStores(c.Context, w, c.Args().First(), o) })
			}
			return env.with(c.Context, func(w *workspace) error { return runImport(c.Context, w, c.Args().First(), o) })
		},
	}
}

// fromHelp names everything that --from takes.
func fromHelp() string {
	return strings.Join(append(slices.Clone(intake.Formats), foreign.Tools...), ", ") + " or all"
}

func runImport(ctx context.Context, w *workspace, file string, o importOptions) error {
	if o.accept && !o.dryRun {
		if err := w.WantPerson("import --accept"); err != nil {
			return err
		}
	}
	from, why := w.env.In, "imported from standard input"
	if file != "-" {
		f, err := w.env.openNamed(ctx, file)
		if err != nil {
			return fmt.Errorf("import %s: %w", file, err)
		}
		defer f.Close()
		from, why = f, "imported from "+file
	}
	memories, err := intake.Read(file, o.from, from, w.env.Now())
	if err != nil {
		return err
	}
	in := w.intake()
	res, err := in.Take(ctx, intake.Batch{Memories: in.Clean(memories), Why: why}, o.intake())
	if err != nil {
		return err
	}
	if !o.dryRun {
		afterImport(ctx, w)
	}
	return tellImport(w, res, o)
}

// intake returns how statements come into this clone. Its notes go to the terminal.
func (w *workspace) intake() *intake.Intake {
	return &intake.Intake{Reader: w.Reader, Report: w.tellIntake, Create: w.create}
}

func (o importOptions) intake() intake.Options {
	return intake.Options{Accept: o.accept, DryRun: o.dryRun, Filter: o.store.filter, MaxChars: o.store.most}
}

// afterImport does the upkeep that follows an import.
func afterImport(ctx context.Context, w *workspace) {
	w.tidy(ctx)
	noteStated(ctx, w)
}

// tellIntake words a note of an intake.
func (w *workspace) tellIntake(n intake.Note) {
	warn := w.env.Warn
	switch n := n.(type) {
	case intake.Missing:
		w.env.Say("%v", n.Err)
	case intake.Failed:
		warn("%v", n.Err)
	case intake.Redacted:
		warn("%s redacted from the import", plural.Count(int(n), "secret was", "secrets were"))
	case intake.Unreadable:
		warn("%s: %s cannot be read and passed over", n.Tool, plural.Count(n.N, "entry", "entries"))
	case intake.Doubled:
		warn("%s: second entry with key %q: passed over", n.Tool, n.Key)
	case intake.Refused:
		warn("%s: %s: %v: passed over", n.Tool, term.Visible(n.Key), n.Err)
	case intake.Shortened:
		warn("%s: %s cut after %d characters; --max-length allows up to %d", n.Tool, plural.Count(n.N, "text was", "texts were"), n.Max, intake.MaxChars)
	case intake.Nothing:
		warn("%s: found no statements to import at %s; nothing was written", n.Tool, term.Visible(n.Place))
	}
}

// tellImport is the answer of an import of a file.
func tellImport(w *workspace, res transfer.Result, o importOptions) error {
	defer tellWaiting(w, res, o)
	if w.env.JSON {
		return w.env.Object(res)
	}
	w.env.Print("%s\n", importLine(res, o))
	return nil
}

// tellWaiting says what is next for what waits in the inbox.
func tellWaiting(w *workspace, res transfer.Result, o importOptions) {
	switch {
	case o.dryRun:
	case o.accept && res.Waiting > 0:
		w.env.Say("retirements are pending; next: reverie review")
	case !o.accept && res.Added+res.Changed+res.Retired > 0:
		w.env.Say("they are pending; next: reverie review, or reverie accept --all")
	}
}

func importLine(res transfer.Result, o importOptions) string {
	would, rest := "", ""
	if o.dryRun {
		would = "would be "
	}
	if res.Retired > 0 {
		rest = fmt.Sprintf(", %d %sretired", res.Retired, would)
	}
	if res.Waiting > 0 {
		rest += fmt.Sprintf(", %d %sproposed to be retired", res.Waiting, would)
	}
	if res.Refused > 0 {
		rest += fmt.Sprintf(", %d refused: retired or rejected before", res.Refused)
	}
	return fmt.Sprintf("%d %sadded, %d %schanged, %d known already%s", res.Added, would, res.Changed, would, res.Known, rest)
}
