package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type editOptions struct {
	kind   string
	status string
	anchor bool // rest it on the code as it is now
	take   int  // the text of a contested memory to keep, from 1; 0: none is named
	guards cli.StringSlice
	force  string  // of its guards
	none   bool    // remove its guards
	text   *string // nil: open an editor, if nothing else is asked for
}

func editCommand(env *Env) *cli.Command {
	var o editOptions
	return &cli.Command{
		Name:      "edit",
		Usage:     "change a memory or a pending operation",
		ArgsUsage: "ID [TEXT|-]",
		Description: "Without TEXT, your editor opens the whole file: fields between the +++ lines, then the statement,\n" +
			"then why and how. The id stays. For a new claim, remember it and forget the old one.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "change its kind to `KIND`", Destination: &o.kind},
			&cli.IntFlag{Name: "take", Usage: "keep text `NUMBER` of a contested memory, as numbered by 'reverie conflicts'", Destination: &o.take},
			&cli.StringFlag{Name: "status", Usage: "change its status to `STATUS`; active restores a retired memory", Destination: &o.status},
			&cli.StringSliceFlag{Name: "guard", Usage: "act when an agent calls `TOOL(PATTERN)`, instead of at its present calls; may be repeated", Destination: &o.guards},
			&cli.StringFlag{Name: "strength", Usage: "let its guards `ACT`: say it to the agent, ask the person, or deny the call", Destination: &o.force},
			&cli.BoolFlag{Name: "no-guard", Usage: "act at no call", Destination: &o.none},
			&cli.BoolFlag{Name: "anchor", Usage: "anchor it to the current code, because it still holds", Destination: &o.anchor},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() < 1 || c.NArg() > 2 {
				return exit.Usage("quote the text: reverie edit ID \"new text\"", "edit takes an id and at most one text")
			}
			if c.NArg() == 2 {
				text := c.Args().Get(1)
				o.text = &text
			}
			if o.take != 0 && o.text != nil {
				return exit.Usage("", "give a text or --take, not both")
			}
			return runEdit(c.Context, env, c.Args().First(), o)
		},
	}
}

// guarding reports whether guards are to change.
func (o editOptions) guarding() bool { return len(o.guards.Value()) > 0 || o.force != "" || o.none }

// guard returns a memory with its guards changed.
func (o editOptions) guard(m record.Memory) (record.Memory, error) {
	if !o.guarding() {
		return m, nil
	}
	t := m.Trigger()
	asked, err := remember.ParseGuards(o.guards.Value(), o.force)
	switch {
	case err != nil:
		return m, err
	case o.none && len(asked.Guards)+len(o.force) > 0:
		return m, exit.Usage("", "--no-guard excludes --guard and --strength")
	case o.none || len(asked.Guards) > 0:
		t.Guards = asked.Guards
	}
	if len(t.Guards) == 0 && o.force != "" {
		return m, exit.Usage("name the calls: --guard 'Bash(npm *)'", "--strength %s: memory %s has no guard", o.force, m.ID[:8])
	}
	if o.force != "" {
		t.Strength = asked.Strength
	}
	return m.WithTrigger(t), nil
}

func runEdit(ctx context.Context, env *Env, id string, o editOptions) (err error) {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.WantPerson("edit"); err != nil {
		return err
	}
	var before record.Memory
	var op *record.Operation
	err = w.View(ctx, func(v *record.View) error {
		m, err := v.Find(id)
		if err == nil {
			before = m
			return nil
		}
		pending, perr := v.Operations()
		if perr = w.Tolerate(perr); perr != nil {
			return perr
		}
		p, operr := record.FindOperation(pending, id)
		if operr != nil {
			return err
		}
		op, before = &p, p.Memory
		return nil
	})
	if err != nil {
		return err
	}
	if op != nil && op.Op == record.Skill {
		return exit.New(exit.NeedsPerson, fmt.Errorf("operation %s is a skill, which is a file", op.ID), "accept it and change "+op.Path+" on "+w.Branch()+", or reject it")
	}
	after := before
	switch {
	case o.text != nil:
		text, err := text(env, *o.text)
		if err != nil {
			return err
		}
		if after.Text, after.Body = record.SplitText(text); after.Text == "" {
			return exit.Usage("to retire it: reverie forget "+id+" --reason WHY", "there is no statement")
		}
		if !strings.Contains(strings.TrimSpace(text), "\n") {
			after.Body = before.Body // only the statement was given
		}
		after.Variants = nil
	case o.take != 0:
		texts := before.Texts()
		if o.take < 1 || o.take > len(texts) {
			return exit.Usage("'reverie show "+id+"' shows them", "there is no text %d of %d", o.take, len(texts))
		}
		after.Text, after.Body, after.Variants = texts[o.take-1].Text, texts[o.take-1].Body, nil
	case o.kind == "" && o.status == "" && !o.anchor && !o.guarding():
		if after, err = editor(ctx, w, before); err != nil {
			return err
		}
	}
	if after.Status == record.Contested && len(after.Variants) == 0 {
		after.Status = record.Active
	}
	if o.kind != "" {
		if after.Kind, err = remember.ParseKind(o.kind); err != nil {
			return err
		}
	}
	switch status := record.Status(o.status); status {
	case "":
	case record.Active:
		if after.Status == record.Retired {
			after = after.Revive()
		}
	case record.Retired:
		return exit.Usage("reverie forget "+id+" --reason WHY", "retiring a memory needs a reason")
	default:
		return exit.Usage("--status active restores a retired memory", "%q is not a status that edit can set", o.status)
	}
	if after, err = o.guard(after); err != nil {
		return err
	}
	after, redacted := w.Book.Clean(after)
	moved := after.Text != before.Text || after.Body != before.Body || !slices.Equal(after.Paths, before.Paths)
	anew := o.anchor || moved && slices.Equal(after.Anchors, before.Anchors)
	whole := true
	if anew {
		if after, whole, err = anchorAnew(ctx, w, after); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			return
		}
		if redacted.Found > 0 {
			env.Warn("%s", remember.Redaction(redacted.Found, after.ID))
		}
		if anew {
			env.tellAnchors(after.Anchors)
		}
		switch {
		case !o.anchor:
		case !whole:
			env.Say("part of the code could not be searched; a statement that names the file needs no search")
		case len(after.Anchors) == 0:
			env.Say("%s names no file or symbol of the code here", after.ID[:8])
		}
	}()
	if string(after.Format()) == string(before.Format()) {
		env.Say("nothing changed")
		return nil
	}
	if op != nil {
		return editOperation(ctx, w, *op, after)
	}
	return editMemory(ctx, w, before, after)
}

// anchorAnew anchors a memory to the current code. If the search was cut short and found nothing,
// the memory keeps its anchors.
func anchorAnew(ctx context.Context, w *workspace, m record.Memory) (after record.Memory, whole bool, err error) {
	grep, stop := context.WithTimeout(ctx, dreams.GrepTime)
	defer stop()
	defer w.Code.Done()
	found, whole := w.Code.Here(ctx).Find(ctx, grep, m)
	if whole || len(found) > 0 {
		m.Anchors = found
	}
	return m, whole, ctx.Err()
}

// editMemory writes the new form, unless the memory changed while the person was editing.
func editMemory(ctx context.Context, w *workspace, before, after record.Memory) error {
	err := w.Update(ctx, func(t *record.Tx, _ clone.Team) error {
		now, err := t.Find(before.ID)
		if err != nil {
			return err
		}
		if string(now.Format()) != string(before.Format()) {
			return fmt.Errorf("edit %s: %w", before.ID, record.ErrChanged)
		}
		if before.Status == record.Retired && after.Status != record.Retired {
			if twin, ok := t.Same(after.Text); ok && twin.Status != record.Retired {
				return exit.New(exit.NeedsPerson, fmt.Errorf("restore %s: active memory %s says the same: %s", before.ID, twin.ID, twin.Text),
					"change that one: reverie edit "+twin.ID)
			}
		}
		commit := gitstore.Commit{Subject: "edit: " + record.CommitSubject(after.Text), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "edit"}}}
		t.Describe(commit)
		return t.PutMemory(after, &now)
	})
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(newMemoryJSON(after))
	}
	line(w, "~", term.Green, after, "")
	return nil
}

// editOperation changes a pending operation against the current memory. A text by a person counts
// as written, not as said or seen, and waits for a person.
func editOperation(ctx context.Context, w *workspace, shown record.Operation, after record.Memory) error {
	var o record.Operation
	err := w.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		var err error
		if o, err = tx.Pending(shown); err != nil {
			return err
		}
		after.Private = o.Private
		o.How, o.Memory = record.Written, after
		o.Path, o.File = after.Path(), string(after.Format())
		for i, base := range o.Base {
			blob, _ := tx.Blob(base.ID)
			o.Base[i].Blob = string(blob)
		}
		tx.Describe(gitstore.Commit{Subject: "edit: " + record.CommitSubject(after.Text), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "edit"}}})
		return tx.PutOperation(o)
	})
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(newOperationJSON(o, ""))
	}
	line(w, "~", term.Green, after, "waits")
	return nil
}

// editor lets the person's editor change the text form, as git lets it change a message.
func editor(ctx context.Context, w *workspace, m record.Memory) (record.Memory, error) {
	if !w.env.Interactive {
		return m, exit.Usage("reverie edit ID \"new text\"", "there is no terminal for an editor: give the new text")
	}
	command, passed, err := w.Repo.Program(ctx, "GIT_EDITOR")
	if err != nil {
		return m, err
	}
	if passed != "" {
		w.env.Say("%s from this repository's configuration is not run; set your own: git config --global %s NAME", passed, passed)
	}
	words := strings.Fields(command) // a program and its options
	if len(words) == 0 {
		return m, exit.Usage("set one: git config --global core.editor NAME", "there is no editor")
	}
	dir, err := os.MkdirTemp("", "reverie-edit-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(m.Path()))
	if err := os.WriteFile(file, m.Format(), 0o600); err != nil {
		return m, err
	}
	for {
		run := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
		run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := run.Run(); err != nil {
			return m, fmt.Errorf("editor %s: %w; nothing was changed", words[0], err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return m, err
		}
		after, err := record.ParseMemory(m.Path(), data)
		if err == nil {
			after.Private = m.Private
			return after, nil
		}
		var bad *record.FormatError
		if !errors.As(err, &bad) || !w.env.Ask(fmt.Sprintf("line %d: %s %s. Edit again", bad.Line, bad.Field, bad.Reason), "y") {
			return m, err
		}
	}
}
