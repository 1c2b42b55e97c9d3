package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/redact"
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
		Description: "A file is JSONL, an array in JSON, or Markdown as export writes it. One object a statement: text (required), body, kind, paths,\n" +
			"tags, ref, private, and all else that export writes. A ref is your own key: importing it again changes that memory instead of\n" +
			"adding one. All come in together, or none if one is bad. What was retired where it comes from is to be retired here.\n\n" +
			"--from TOOL reads another tool's store, where that tool has it or at PLACE: opencode-mem's server, true-mem's or opencode-lcm's\n" +
			"database, simple-memory's folder; all: those that are there. What the next import finds gone there is proposed to be retired.\n\n" +
			"--from instructions reads CLAUDE.md, AGENTS.md, GEMINI.md, .cursorrules, .cursor/rules and .github/copilot-instructions.md; claude-memory,\n" +
			"codex-memory and gemini-memory what these agents remember of this repository; opencode-dream, deep-memory and opencode-memory\n" +
			"the files of these plug-ins. A bullet or a rule is a statement, with its file and line as source.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "a file's `FORMAT`, else it is told by how it begins, or a tool: " + fromHelp(), Destination: &o.from},
			&cli.BoolFlag{Name: "accept", Usage: "they were reviewed: no inbox", Destination: &o.accept},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would come in", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "probe", Usage: "with a tool: list what its store has, and take in nothing", Destination: &o.store.probe},
			&cli.StringFlag{Name: "filter", Usage: "with a tool: only what has `TEXT` in it", Destination: &o.store.filter},
			&cli.IntFlag{Name: "max-length", Value: mostOfItem, Usage: "with a tool: cut a longer text after `N` characters", Destination: &o.store.most},
			&cli.BoolFlag{Name: "allow-remote", Usage: "with opencode-mem: its server may be of another machine", Destination: &o.store.remote},
		},
		Action: func(c *cli.Context) error {
			isStore := o.from == "all" || slices.Contains(foreign.Tools, o.from)
			switch {
			case o.from != "" && !isStore && !slices.Contains(importFormats, o.from):
				return exit.Usage("it is one of "+fromHelp(), "--from %s is neither a format nor a tool", o.from)
			case !isStore && (o.store.probe || o.store.filter != "" || o.store.remote || c.IsSet("max-length")):
				return exit.Usage("reverie import --from true-mem --probe", "--probe, --filter, --max-length and --allow-remote are for a tool's store")
			case !isStore && c.NArg() != 1:
				return exit.Usage("to read standard input: reverie import -", "import wants exactly one file")
			case isStore && (c.NArg() > 1 || c.NArg() == 1 && o.from == "all"):
				return exit.Usage("reverie import --from TOOL [PLACE]", "import --from %s takes %s", o.from, map[bool]string{true: "no place", false: "one place"}[o.from == "all"])
			case o.store.most < 1 || o.store.most > maxOfItem:
				return exit.Usage(fmt.Sprintf("it is 1 to %d", maxOfItem), "--max-length is %d", o.store.most)
			case isStore:
				return runImportStores(c.Context, env, c.Args().First(), o)
			}
			return runImport(c.Context, env, c.Args().First(), o)
		},
	}
}

// maxWhole is the longest array or Markdown that is read, in bytes: it is held as a whole.
const maxWhole = 64 << 20

// importFormats are what --from takes for files.
var importFormats = []string{"jsonl", "json", "markdown", "om"}

// fromHelp names everything that --from takes.
func fromHelp() string {
	return strings.Join(append(slices.Clone(importFormats), foreign.Tools...), ", ") + " or all"
}

// numbered reads the lines of a file, in the format that it has, or in that named by from; tool is whose export it is.
func numbered(name, from string, r io.Reader) (lines iter.Seq[transfer.Numbered], tool string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if from == "" {
		head, _ := in.Peek(64 << 10)
		switch text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n"); {
		case foreign.IsOM(text):
			from = "om"
		case strings.HasPrefix(text, "["):
			from = "json"
		case transfer.IsMarkdown(text), strings.HasSuffix(strings.ToLower(name), ".md"):
			from = "markdown"
		default:
			from = "jsonl"
		}
	}
	if from == "jsonl" {
		return transfer.ReadJSONL(in), "jsonl", nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxWhole+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("import %s: %w", name, file.Bare(err))
	case len(data) > maxWhole:
		return nil, "", exit.New(exit.Failed, fmt.Errorf("import %s: is longer than %d MiB", name, maxWhole>>20), "import it in parts, or as JSONL")
	case from == "om":
		found, err := foreign.OM(string(data))
		if err != nil {
			return nil, "", exit.New(exit.Failed, fmt.Errorf("import %s: %w", name, err), "nothing was imported; mend this and import again")
		}
		return func(yield func(transfer.Numbered) bool) {
			for n, item := range found.Items {
				if !yield(transfer.Numbered{N: n + 1, Line: itemLine(item)}) {
					return
				}
			}
		}, "om", nil
	case from == "markdown":
		return transfer.ReadMarkdown(string(data)), "jsonl", nil
	}
	return transfer.ReadJSON(data), "jsonl", nil
}

// maxBadLines is the number of bad lines after which the rest of a file is not read.
const maxBadLines = 5

// readImport makes memories of every line; errors name the first bad ones.
func readImport(name string, lines iter.Seq[transfer.Numbered], by string, now time.Time) ([]record.Memory, error) {
	var out []record.Memory
	var bad []error
	for l := range lines {
		var m record.Memory
		err := l.Err
		if err == nil {
			m, err = l.Memory(by, now)
		}
		if err != nil {
			if bad = append(bad, fmt.Errorf("%s:%d: %w", name, l.N, err)); len(bad) == maxBadLines {
				break
			}
			continue
		}
		out = append(out, m)
	}
	if len(bad) > 0 {
		return nil, exit.New(exit.Failed, errors.Join(bad...), "nothing was imported; mend these lines and import again")
	}
	return out, nil
}

func runImport(ctx context.Context, env *Env, file string, o importOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.accept && !o.dryRun {
		if err := w.WantPerson("import --accept"); err != nil {
			return err
		}
	}
	in := env.In
	if file != "-" {
		f, err := env.openNamed(ctx, file)
		if err != nil {
			return fmt.Errorf("import %s: %w", file, err)
		}
		defer f.Close()
		in = f
	}
	lines, tool, err := numbered(file, o.from, in)
	if err != nil {
		return err
	}
	memories, err := readImport(file, lines, "import/"+tool, env.Now())
	if err != nil {
		return err
	}
	b := batch{memories: w.cleaned(memories), why: "imported from " + file}
	if file == "-" {
		b.why = "imported from standard input"
	}
	res, err := w.takeBatch(ctx, b, o)
	if err != nil {
		return err
	}
	return w.tellImport(res, o)
}

// batch is what one import brings.
type batch struct {
	memories []record.Memory // cleaned
	why      string          // said of each operation
	from     string          // the tool whose store it was; empty for a file
	gone     func(*record.View) []record.Memory
	apart    bool // they are known by their words alone, and may be in any: see beside
}

// cleaned are memories without their secrets.
func (w *workspace) cleaned(memories []record.Memory) []record.Memory {
	memories = slices.Clone(memories)
	found := redact.Report{}
	for i, m := range memories {
		var report redact.Report
		memories[i], report = transfer.Clean(m, w.Book, w.Scanner)
		found.Add(report)
	}
	if found.Found > 0 {
		w.env.Warn("%s redacted from what is imported", term.Count(found.Found, "secret was", "secrets were"))
	}
	return memories
}

// takeBatch puts a batch into the inbox or, where it was reviewed, into memory. What is gone where it came from nobody has reviewed: it
// waits in the inbox in any case.
func (w *workspace) takeBatch(ctx context.Context, b batch, o importOptions) (res transfer.Result, err error) {
	var ops, gone []record.Operation
	plan := func(v *record.View) error {
		memories, known := b.memories, 0
		if b.apart {
			if memories, known, err = w.unknown(v, memories); err != nil {
				return err
			}
		}
		if ops, res, err = w.importOps(v, memories, o.accept, b.why); err != nil {
			return err
		}
		res.Known += known
		if b.apart {
			if err := w.beside(v, ops); err != nil {
				return err
			}
		}
		if b.gone == nil {
			return nil
		}
		var left transfer.Result
		if gone, left, err = w.importOps(v, b.gone(v), false, b.why); err != nil {
			return err
		}
		res.Known, res.Refused = res.Known+left.Known, res.Refused+left.Refused
		if o.accept {
			res.Waiting = left.Retired
		} else {
			res.Retired += left.Retired
		}
		return nil
	}
	if o.dryRun {
		err := w.view(ctx, plan)
		if errors.Is(err, gitstore.ErrNoStore) {
			return transfer.Result{Added: len(b.memories)}, nil
		}
		return res, err
	}
	if _, err := w.ensure(ctx); err != nil {
		return res, err
	}
	err = w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		if err := plan(tx.View); err != nil {
			return err
		}
		put := tx.PutOperation
		if o.accept {
			put = tx.Accept
		}
		for _, op := range ops {
			if err := put(op); err != nil {
				return err
			}
		}
		for _, op := range gone {
			if err := tx.PutOperation(op); err != nil {
				return err
			}
		}
		subject := "import: " + term.Count(len(ops)+len(gone), "statement", "statements")
		if b.from != "" {
			subject += " from " + b.from
		}
		tx.Describe(gitstore.Commit{Subject: subject, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "import"}}})
		return nil
	})
	if err == nil {
		w.tidy(ctx)
		w.noteStated(ctx)
	}
	return res, err
}

// unknown are memories that nothing known, waiting or before them among them says in nearly the same words, and the number of the others.
func (w *workspace) unknown(v *record.View, memories []record.Memory) (fresh []record.Memory, known int, err error) {
	ops, err := v.Operations()
	if err := w.Tolerate(err); err != nil {
		return nil, 0, err
	}
	var prints []record.Fingerprint
	for _, o := range ops {
		if o.Op == record.Add || o.Op == record.Edit || o.Op == record.Merge {
			prints = append(prints, record.Print(o.Memory.Text))
		}
	}
	for _, m := range memories {
		print := record.Print(m.Text)
		same := slices.ContainsFunc(prints, print.Same) || slices.ContainsFunc(v.Alike(m.Text, dream.Alike), func(k record.Memory) bool {
			return k.Live(w.env.Now()) && print.Same(record.Print(k.Text))
		})
		if same {
			known++
			continue
		}
		fresh, prints = append(fresh, m), append(prints, print)
	}
	return fresh, known, nil
}

// maxNamedBeside is how many of each beside names.
const maxNamedBeside = 10

// beside notes with operations what is known, waits or comes in with them and says nearly the same, and which of that says otherwise:
// it differs in a negation, a number or a version.
func (w *workspace) beside(v *record.View, ops []record.Operation) error {
	waiting, err := v.Operations()
	if err := w.Tolerate(err); err != nil {
		return err
	}
	waiting = slices.DeleteFunc(append(waiting, ops...), func(o record.Operation) bool { return o.Op != record.Add })
	prints := make([]record.Fingerprint, len(waiting))
	for i, o := range waiting {
		prints[i] = record.Print(o.Memory.Text)
	}
	for i := range ops {
		o := &ops[i]
		if o.Op != record.Add {
			continue
		}
		print := record.Print(o.Memory.Text)
		alike := v.Alike(o.Memory.Text, dream.Alike)
		for _, k := range alike[:min(maxNamedBeside, len(alike))] {
			switch {
			case k.ID == o.Memory.ID || k.Status == record.Retired:
			case print.Turned(record.Print(k.Text)):
				o.Contradicts = append(o.Contradicts, k.ID)
			default:
				o.Alike = append(o.Alike, k.ID)
			}
		}
		for j, k := range waiting {
			if len(o.Contradicts) < maxNamedBeside && k.Memory.ID != o.Memory.ID && print.Turned(prints[j]) && print.Alike(prints[j]) >= dream.Alike {
				o.Contradicts = append(o.Contradicts, k.Memory.ID)
			}
		}
	}
	return nil
}

// tellImport is the answer of an import of a file.
func (w *workspace) tellImport(res transfer.Result, o importOptions) error {
	w.tellWaiting(res, o)
	if w.env.JSON {
		return w.env.Object(res)
	}
	w.env.Print("%s\n", importLine(res, o))
	return nil
}

// tellWaiting says what is next for what waits in the inbox.
func (w *workspace) tellWaiting(res transfer.Result, o importOptions) {
	switch {
	case o.dryRun:
	case o.accept && res.Waiting > 0:
		w.env.Say("what is to be retired waits in the inbox; next: reverie review")
	case !o.accept && res.Added+res.Changed+res.Retired > 0:
		w.env.Say("they wait in the inbox; next: reverie review, or reverie accept --all")
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

// importOps holds imported memories against what is known and what waits.
func (w *workspace) importOps(v *record.View, memories []record.Memory, reviewed bool, why string) ([]record.Operation, transfer.Result, error) {
	pending, err := v.Operations()
	rejected, err2 := v.Rejections()
	if err := w.Tolerate(errors.Join(err, err2)); err != nil {
		return nil, transfer.Result{}, err
	}
	ops, res := transfer.Plan(v, memories, transfer.Options{Pending: pending, Rejections: rejected, Private: clone.Private(w.Settings.Config), Reviewed: reviewed, Why: why})
	return ops, res, nil
}
