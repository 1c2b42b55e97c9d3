package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/urfave/cli/v2"
)

type importOptions struct {
	accept bool
	dryRun bool
}

func importCommand(env *Env) *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "take in statements from JSONL, into the inbox or, with --accept, as memory",
		ArgsUsage: "FILE|-",
		Description: "One object a line: text (required), body, kind, paths, tags, ref, private. A ref is your own key: importing it\n" +
			"again changes that memory instead of adding one. All lines come in together, or none if one is bad.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "accept", Usage: "they were reviewed: no inbox", Destination: &o.accept},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would come in", Destination: &o.dryRun},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("to read standard input: reverie import -", "import wants exactly one file")
			}
			return runImport(c.Context, env, c.Args().First(), o)
		},
	}
}

// imported is one line of JSONL, in and out.
type imported struct {
	Text    string   `json:"text"`
	Body    string   `json:"body,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Ref     string   `json:"ref,omitempty"`
	Private bool     `json:"private,omitempty"` // it stays in the clone
}

// kindElsewhere is our kind for a name that other tools have for it; "" for another name.
func kindElsewhere(name string) record.Kind {
	switch name {
	case "rule":
		return record.Convention
	case "context", "semantic", "learning":
		return record.Fact
	case "gotcha", "failure_mode", "error-solution", "blocker":
		return record.Failure
	case "build-command", "procedural":
		return record.Workflow
	case "config-pattern":
		return record.Pattern
	case "episodic", "general":
		return record.Note
	}
	return ""
}

// memory is the memory a line makes, without an id yet; its kind is empty where the line has none.
func (i imported) memory(now time.Time) (record.Memory, error) {
	m := record.Memory{Paths: i.Paths, Tags: i.Tags, Ref: i.Ref, Kind: record.Kind(i.Kind), Private: i.Private,
		Source: record.Source{Time: now, By: "import/jsonl", How: record.Written}}
	m.Text, m.Body = fitStatement(i.Text, i.Body)
	if m.Text == "" {
		return m, errors.New("text: is empty")
	}
	switch known := kindElsewhere(i.Kind); {
	case known != "":
		m.Kind = known
	case i.Kind != "" && !m.Kind.Valid():
		m.Kind = record.Fact
		m.Tags = append(m.Tags, i.Kind)
	}
	check := m
	if check.Kind == "" { // decided when it is known what is there
		check.Kind = record.Note
	}
	check = record.New(check)
	_, err := record.ParseMemory(check.Path(), check.Format())
	return m, err
}

// fitStatement makes a one-line statement of a text. What does not fit goes before the body, so
// that nothing is lost.
func fitStatement(text, body string) (string, string) {
	first, rest := splitStatement(text)
	if first = strings.Join(strings.Fields(first), " "); len(first) > record.MaxText {
		cut := strings.LastIndexByte(first[:record.MaxText-4], ' ')
		if cut < record.MaxText/2 {
			for cut = record.MaxText - 4; !utf8.RuneStart(first[cut]); cut-- {
			}
		}
		rest = strings.TrimSpace("… " + strings.TrimSpace(first[cut:]) + "\n" + rest)
		first = strings.TrimSpace(first[:cut]) + " …"
	}
	switch {
	case rest == "":
		return first, body
	case body == "":
		return first, rest
	}
	return first, rest + "\n\n" + body
}

// readImport reads every line; errors name the first bad ones.
func readImport(name string, r io.Reader, now time.Time) ([]record.Memory, error) {
	var out []record.Memory
	var bad []error
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), 4*record.MaxMemory)
	n := 0
	for in.Scan() {
		n++
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if line == "" {
			continue
		}
		var i imported
		var m record.Memory
		err := json.Unmarshal([]byte(line), &i)
		if err == nil {
			m, err = i.memory(now)
		}
		var f *record.FormatError
		if errors.As(err, &f) {
			err = errors.New(f.Reason)
		}
		if err != nil {
			if bad = append(bad, fmt.Errorf("%s:%d: %w", name, n, err)); len(bad) == maxBadLines {
				break
			}
			continue
		}
		out = append(out, m)
	}
	if err := in.Err(); err != nil {
		bad = append(bad, fmt.Errorf("%s:%d: %w", name, n+1, err))
	}
	if len(bad) > 0 {
		return nil, &failure{exitFailed, errors.Join(bad...), "nothing was imported; mend these lines and import again"}
	}
	return out, nil
}

type importResult struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Known   int `json:"known"`   // there already, or waiting already
	Refused int `json:"refused"` // retired, or rejected by a person
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
	memories, err := readImport(file, in, env.Now())
	if err != nil {
		return err
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
		var res importResult
		err := w.view(ctx, func(v *record.View) error {
			_, res, err = w.importOps(v, memories, o.accept)
			return err
		})
		if errors.Is(err, gitstore.ErrNoStore) {
			res, err = importResult{Added: len(memories)}, nil
		}
		return errors.Join(err, w.tellImport(res, "would be "))
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	var res importResult
	err = w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		var ops []record.Operation
		if ops, res, err = w.importOps(tx.View, memories, o.accept); err != nil {
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
	if res.Added+res.Changed > 0 && !o.accept {
		env.say("they wait in the inbox; next: reverie review, or reverie accept --all")
	}
	return w.tellImport(res, "")
}

func (w *workspace) tellImport(res importResult, would string) error {
	if w.env.JSON {
		return w.env.object(res)
	}
	refused := ""
	if res.Refused > 0 {
		refused = fmt.Sprintf(", %d refused: retired or rejected before", res.Refused)
	}
	w.env.print("%d %sadded, %d %schanged, %d known already%s\n", res.Added, would, res.Changed, would, res.Known, refused)
	return nil
}

// importOps holds imported memories against what is known and what waits. One with a ref is
// judged by its ref alone, others by their text. What a person rejected or retired is refused,
// except that reviewed brings back what was rejected.
func (w *workspace) importOps(v *record.View, memories []record.Memory, reviewed bool) (ops []record.Operation, res importResult, err error) {
	pending, err := v.Operations()
	rejected, err2 := v.Rejections()
	if err := w.tolerate(errors.Join(err, err2)); err != nil {
		return nil, res, err
	}
	waiting := map[string]record.Operation{}
	for _, o := range pending {
		waiting[o.Memory.ID] = o
	}
	unwanted := map[string]bool{}
	for _, r := range rejected {
		unwanted[textKey(r.Text, r.Body)] = unwanted[textKey(r.Text, r.Body)] || r.How != record.Model
	}
	known := v.Memories()
	byText := make(map[string]bool, len(known))
	for _, m := range known {
		if m.Status != record.Retired {
			byText[textKey(m.Text, m.Body)] = true
		}
	}
	at := map[string]int{} // memory id → index in ops
	for _, m := range memories {
		m = record.New(m)
		key := textKey(m.Text, m.Body)
		op := record.Operation{Op: record.Add, How: record.Written}
		held, findErr := v.Find(m.ID)
		_, retired := v.Retired(m.Text)
		other, waits := waiting[m.ID]
		switch {
		case findErr == nil:
			m = onto(m, held)
		case waits:
			m = onto(m, other.Memory)
		case m.Kind == "":
			m.Kind = record.Note
		}
		m.Private = m.Private || slices.Contains(private(w.narrowed), m.Kind)
		switch {
		case m.Ref == "" && byText[key], findErr == nil && held.Status != record.Retired && sameContent(held, m):
			res.Known++
			continue
		case findErr == nil && held.Status == record.Retired, findErr != nil && retired, !reviewed && unwanted[key]:
			res.Refused++
			continue
		case !reviewed && waits && sameContent(other.Memory, m):
			res.Known++
			continue
		case findErr == nil:
			blob, _ := v.Blob(held.ID)
			op.Op = record.Edit
			op.Base = []record.Base{{ID: held.ID, Path: held.Path(), Blob: string(blob)}}
		}
		op.Memory, op.Sightings = m, other.Sightings // what bore it out while it waited
		byText[key] = m.Ref == ""
		op = record.NewOperation(op)
		if i, twice := at[m.ID]; twice { // the same ref again: the last line counts
			ops[i] = op
			continue
		}
		at[m.ID] = len(ops)
		ops = append(ops, op)
		if op.Op == record.Edit {
			res.Changed++
		} else {
			res.Added++
		}
	}
	return ops, res, nil
}

func textKey(text, body string) string { return record.Normal(text) + "\x00" + record.Normal(body) }

// onto is an imported memory as a change of the one that has its id: what its line does not say
// stays as it is.
func onto(m, held record.Memory) record.Memory {
	held.Text, held.Body = m.Text, m.Body
	if m.Kind != "" {
		held.Kind = m.Kind
	}
	if m.Paths != nil {
		held.Paths = m.Paths
	}
	if m.Tags != nil {
		held.Tags = m.Tags
	}
	return held
}

func sameContent(a, b record.Memory) bool {
	return a.Text == b.Text && a.Body == b.Body && a.Kind == b.Kind &&
		strings.Join(a.Paths, "\x00") == strings.Join(b.Paths, "\x00") && strings.Join(a.Tags, "\x00") == strings.Join(b.Tags, "\x00")
}
