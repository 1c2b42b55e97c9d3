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

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/urfave/cli/v2"
)

type importOptions struct {
	from   string // a format; empty looks at the file
	accept bool
	dryRun bool
}

func importCommand(env *Env) *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "take in statements from a file, into the inbox or, with --accept, as memory",
		ArgsUsage: "FILE|-",
		Description: "A file is JSONL, an array in JSON, or Markdown as export writes it. One object a statement: text (required), body, kind, paths,\n" +
			"tags, ref, private, and all else that export writes. A ref is your own key: importing it again changes that memory instead of\n" +
			"adding one. All come in together, or none if one is bad. What was retired where it comes from is to be retired here.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "read it as `FORMAT`: " + strings.Join(importFormats, ", ") + "; else by what it begins with", Destination: &o.from},
			&cli.BoolFlag{Name: "accept", Usage: "they were reviewed: no inbox", Destination: &o.accept},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would come in", Destination: &o.dryRun},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("to read standard input: reverie import -", "import wants exactly one file")
			}
			if o.from != "" && !slices.Contains(importFormats, o.from) {
				return usage("it is one of "+strings.Join(importFormats, ", "), "--from %s is not a format", o.from)
			}
			return runImport(c.Context, env, c.Args().First(), o)
		},
	}
}

// maxWhole is the longest array or Markdown that is read, in bytes: it is held as a whole.
const maxWhole = 64 << 20

// importFormats are what --from takes for files.
var importFormats = []string{"jsonl", "json", "markdown"}

// numbered reads the lines of a file, in the format that it has, or in that named by from.
func numbered(name, from string, r io.Reader) (iter.Seq[transfer.Numbered], error) {
	in := bufio.NewReader(r)
	if from == "" {
		head, _ := in.Peek(512)
		switch text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n"); {
		case strings.HasPrefix(text, "["):
			from = "json"
		case transfer.IsMarkdown(text), strings.HasSuffix(strings.ToLower(name), ".md"):
			from = "markdown"
		default:
			from = "jsonl"
		}
	}
	if from == "jsonl" {
		return transfer.ReadJSONL(in), nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxWhole+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("import %s: %w", name, unwrapPath(err))
	case len(data) > maxWhole:
		return nil, &failure{exitFailed, fmt.Errorf("import %s: is longer than %d MiB", name, maxWhole>>20), "import it in parts, or as JSONL"}
	case from == "markdown":
		return transfer.ReadMarkdown(string(data)), nil
	}
	return transfer.ReadJSON(data), nil
}

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
		return nil, &failure{exitFailed, errors.Join(bad...), "nothing was imported; mend these lines and import again"}
	}
	return out, nil
}

func runImport(ctx context.Context, env *Env, file string, o importOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.accept && !o.dryRun {
		if err := w.wantsPerson("import --accept"); err != nil {
			return err
		}
	}
	in := env.In
	if file != "-" {
		f, err := openFile(ctx, env.path(file))
		if err != nil {
			return fmt.Errorf("import %s: %w", file, unwrapPath(err))
		}
		defer f.Close()
		in = f
	}
	lines, err := numbered(file, o.from, in)
	if err != nil {
		return err
	}
	memories, err := readImport(file, lines, "import/jsonl", env.Now())
	if err != nil {
		return err
	}
	why := "imported from " + file
	if file == "-" {
		why = "imported from standard input"
	}
	found := redact.Report{}
	for i := range memories {
		var report redact.Report
		memories[i], report = w.book.Clean(memories[i])
		found.Add(report)
	}
	if found.Found > 0 {
		env.warn("%s redacted from what is imported", count(found.Found, "secret was", "secrets were"))
	}
	if o.dryRun {
		var res transfer.Result
		err := w.view(ctx, func(v *record.View) error {
			_, res, err = w.importOps(v, memories, o.accept, why)
			return err
		})
		if errors.Is(err, gitstore.ErrNoStore) {
			res, err = transfer.Result{Added: len(memories)}, nil
		}
		return errors.Join(err, w.tellImport(res, "would be "))
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	var res transfer.Result
	err = w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		var ops []record.Operation
		if ops, res, err = w.importOps(tx.View, memories, o.accept, why); err != nil {
			return err
		}
		for _, op := range ops {
			if !o.accept {
				err = tx.PutOperation(op)
			} else {
				err = tx.Accept(op)
			}
			if err != nil {
				return err
			}
		}
		commit := gitstore.Commit{Subject: fmt.Sprintf("import: %s", count(len(ops), "statement", "statements")), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "import"}}}
		tx.Describe(commit)
		return nil
	})
	if err != nil {
		return err
	}
	w.tidy(ctx)
	if res.Added+res.Changed+res.Retired > 0 && !o.accept {
		env.say("they wait in the inbox; next: reverie review, or reverie accept --all")
	}
	return w.tellImport(res, "")
}

func (w *workspace) tellImport(res transfer.Result, would string) error {
	if w.env.JSON {
		return w.env.object(res)
	}
	rest := ""
	if res.Retired > 0 {
		rest = fmt.Sprintf(", %d %sretired", res.Retired, would)
	}
	if res.Refused > 0 {
		rest += fmt.Sprintf(", %d refused: retired or rejected before", res.Refused)
	}
	w.env.print("%d %sadded, %d %schanged, %d known already%s\n", res.Added, would, res.Changed, would, res.Known, rest)
	return nil
}

// importOps holds imported memories against what is known and what waits.
func (w *workspace) importOps(v *record.View, memories []record.Memory, reviewed bool, why string) ([]record.Operation, transfer.Result, error) {
	pending, err := v.Operations()
	rejected, err2 := v.Rejections()
	if err := w.tolerate(errors.Join(err, err2)); err != nil {
		return nil, transfer.Result{}, err
	}
	ops, res := transfer.Plan(v, memories, transfer.Options{Pending: pending, Rejections: rejected, Private: private(w.narrowed), Reviewed: reviewed, Why: why})
	return ops, res, nil
}
