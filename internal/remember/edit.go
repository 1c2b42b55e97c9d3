package remember

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Edit describes a change of a memory or of a pending operation.
type Edit struct {
	Kind   string
	Status string
	Anchor bool // anchor it to the current code
	// the text of a contested memory to keep, from 1; 0: none is named. The file is written again in
	// any case, without the conflict markers that it may hold.
	Take int
	Text *string // the new text; nil: Editor changes the memory, if nothing else is asked for

	Guards   []string // calls to act at, instead of the present ones
	Strength string   // of its guards
	NoGuard  bool     // act at no call

	Moved []string // OLD=NEW: paths of its code from the top of the work tree, before and now

	Editor func(record.Memory) (record.Memory, error)
}

// Edited is the result of an Edit.
type Edited struct {
	Was       record.Memory // before
	Memory    record.Memory
	Operation *record.Operation // the changed operation; nil for a memory
	Same      bool              // nothing changed, and nothing was written
	Redacted  int               // secrets that were removed
	Anchored  bool              // the code was searched for anchors
	Whole     bool              // Anchored: all of the code
}

// Edit changes a memory, or a pending operation and its memory.
func (k *Keeper) Edit(ctx context.Context, id string, e Edit) (done Edited, err error) {
	before, op, err := k.findEditable(ctx, id)
	if err != nil {
		return done, err
	}
	if op != nil && op.Op == record.Skill {
		return done, exit.New(exit.NeedsPerson, fmt.Errorf("operation %s is a skill, which is a file", op.ID), "accept it and change "+op.Path+" on "+k.Branch()+", or reject it")
	}
	after, err := e.text(id, before)
	if err != nil {
		return done, err
	}
	if after, err = e.fields(id, after); err != nil {
		return done, err
	}
	if after, err = e.guard(before, after, os.DirFS(k.Repo.WorkTree)); err != nil {
		return done, err
	}
	if after, err = e.move(after); err != nil {
		return done, err
	}
	after, redacted := k.Book.Clean(after)
	done.Redacted = redacted.Found
	moved := after.Text != before.Text || after.Body != before.Body || !slices.Equal(after.Paths, before.Paths)
	if done.Anchored = e.Anchor || moved && slices.Equal(after.Anchors, before.Anchors); done.Anchored {
		if after, done.Whole, err = k.reanchor(ctx, after); err != nil {
			return done, err
		}
	}
	done.Was, done.Memory = before, after
	if done.Same = e.Take == 0 && string(after.Format()) == string(before.Format()); done.Same {
		return done, nil
	}
	if op != nil {
		done.Operation, err = k.putOperation(ctx, *op, after)
	} else {
		err = k.putEdited(ctx, before, after)
	}
	return done, err
}

// findEditable finds a memory, or the pending operation of an id and its memory.
func (k *Keeper) findEditable(ctx context.Context, id string) (m record.Memory, op *record.Operation, err error) {
	err = k.View(ctx, func(v *record.View) error {
		var missing error
		if m, missing = v.Find(id); missing == nil {
			return nil
		}
		pending, err := v.Inbox().Operations()
		if err = k.Tolerate(err); err != nil {
			return err
		}
		found, err := record.FindOperation(pending, id)
		if err != nil {
			return missing
		}
		op, m = &found, found.Memory
		return nil
	})
	return m, op, err
}

// text returns the memory with its new text.
func (e Edit) text(id string, m record.Memory) (record.Memory, error) {
	switch {
	case e.Text != nil:
		statement, body := record.SplitText(*e.Text)
		if statement == "" {
			return m, exit.Usage("to retire it: reverie forget "+id+" --reason WHY", "there is no statement")
		}
		if strings.Contains(strings.TrimSpace(*e.Text), "\n") { // else only the statement was given
			m.Body = body
		}
		m.Text, m.Variants = statement, nil
	case e.Take != 0:
		texts := m.Texts()
		if e.Take < 1 || e.Take > len(texts) {
			return m, exit.Usage("'reverie show "+id+"' shows them", "there is no text %d of %d", e.Take, len(texts))
		}
		m.Text, m.Body, m.Variants = texts[e.Take-1].Text, texts[e.Take-1].Body, nil
	case e.Kind == "" && e.Status == "" && !e.Anchor && len(e.Moved) == 0 && !e.guarding():
		return e.Editor(m)
	}
	return m, nil
}

// fields returns the memory with its new kind and status.
func (e Edit) fields(id string, m record.Memory) (record.Memory, error) {
	if m.Status == record.Contested && len(m.Variants) == 0 {
		m.Status = record.Active
	}
	if e.Kind != "" {
		var err error
		if m.Kind, err = ParseKind(e.Kind); err != nil {
			return m, err
		}
	}
	switch record.Status(e.Status) {
	case "":
	case record.Active:
		if m.Status == record.Retired {
			m = m.Revive()
		}
	case record.Retired:
		return m, exit.Usage("reverie forget "+id+" --reason WHY", "retiring a memory needs a reason")
	default:
		return m, exit.Usage("--status active restores a retired memory", "%q is not a status that edit can set", e.Status)
	}
	return m, nil
}

// guarding reports whether guards are to change.
func (e Edit) guarding() bool { return len(e.Guards) > 0 || e.Strength != "" || e.NoGuard }

// guard returns the memory with its guards changed. was is the memory before, and tree the work
// tree.
func (e Edit) guard(was, m record.Memory, tree fs.FS) (record.Memory, error) {
	t := m.Trigger()
	if !e.guarding() {
		gave := func(tree fs.FS) bool { // its form gave the guards, or gave none
			return slices.Equal(t.Guards, slices.Sorted(slices.Values(guard.Propose(was.Text, tree))))
		}
		if m.Text != was.Text && (gave(tree) || gave(folders{tree})) {
			m = guard.Derive(m, t, was.Text, tree)
		}
		return m, nil
	}
	asked, err := ParseGuards(e.Guards, e.Strength)
	switch {
	case err != nil:
		return m, err
	case e.NoGuard && len(asked.Guards)+len(e.Strength) > 0:
		return m, exit.Usage("", "--no-guard excludes --guard and --strength")
	case e.NoGuard || len(asked.Guards) > 0:
		t.Guards = asked.Guards
	}
	if len(t.Guards) == 0 && e.Strength != "" {
		return m, exit.Usage("name the calls: --guard 'Bash(npm *)'", "--strength %s: memory %s has no guard", e.Strength, m.ID[:8])
	}
	if e.Strength != "" || len(e.Guards) > 0 && t.Strength != record.Ask && t.Strength != record.Deny {
		t.Strength = asked.Strength
	}
	return m.WithTrigger(t), nil
}

// move returns the memory with the paths of code that moved.
func (e Edit) move(m record.Memory) (record.Memory, error) {
	for _, pair := range e.Moved {
		old, now, _ := strings.Cut(pair, "=")
		if old == "" || now == "" || strings.ContainsAny(pair, "*?[") || !fs.ValidPath(path.Clean(old)) || !fs.ValidPath(path.Clean(now)) {
			return m, exit.Usage("give paths from the top of the repository: --moved web=frontend", "--moved %s: want OLD=NEW", pair)
		}
		m = guard.Move(m, path.Clean(old), path.Clean(now))
	}
	return m, nil
}

// folders is a tree in which every path is a folder, also one that is gone.
type folders struct{ fs.FS }

func (f folders) Open(string) (fs.File, error) { return f.FS.Open(".") }

// reanchor anchors a memory to the current code. If the search was cut short and found nothing, the
// memory keeps its anchors.
func (k *Keeper) reanchor(ctx context.Context, m record.Memory) (after record.Memory, whole bool, err error) {
	grep, stop := context.WithTimeout(ctx, anchor.GrepTime)
	defer stop()
	defer k.Code.Done()
	found, whole := k.Code.Here(ctx).Find(ctx, grep, m)
	if whole || len(found) > 0 {
		m.Anchors = found
	}
	return m, whole, ctx.Err()
}

// putEdited writes the new form, unless the memory changed meanwhile.
func (k *Keeper) putEdited(ctx context.Context, before, after record.Memory) error {
	return k.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		now, err := tx.Find(before.ID)
		if err != nil {
			return err
		}
		if string(now.Format()) != string(before.Format()) {
			return fmt.Errorf("edit %s: %w", before.ID, record.ErrChanged)
		}
		if before.Status == record.Retired && after.Status != record.Retired {
			if twin, ok := tx.Same(after.Text); ok && twin.Status != record.Retired {
				return exit.New(exit.NeedsPerson, fmt.Errorf("restore %s: active memory %s says the same: %s", before.ID, twin.ID, twin.Text),
					"change that one: reverie edit "+twin.ID)
			}
		}
		tx.Describe(describe("edit", after.Text, ""))
		return tx.PutMemory(after, &now)
	})
}

// putOperation changes a pending operation against the current memory. A person's text counts as
// written, not as said or seen, and waits for a person.
func (k *Keeper) putOperation(ctx context.Context, shown record.Operation, after record.Memory) (*record.Operation, error) {
	var o record.Operation
	err := k.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
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
		tx.Describe(describe("edit", after.Text, ""))
		return tx.PutOperation(o)
	})
	return &o, err
}
