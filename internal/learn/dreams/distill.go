package dreams

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Ripeness collects the input for distilling skills. last is the time of the last distillation.
func (d *Dreamer) Ripeness(ctx context.Context) (in dream.Ripeness, last time.Time, err error) {
	err = d.View(ctx, func(v *record.View, t clone.Team) error {
		in, last, err = d.ripeness(ctx, v, t)
		return err
	})
	return in, last, err
}

func (d *Dreamer) ripeness(ctx context.Context, v *record.View, t clone.Team) (in dream.Ripeness, last time.Time, err error) {
	if in.Input, err = d.input(ctx, v, t, byCode, SessionFilter{}); err != nil {
		return in, last, err
	}
	if in.Skills, err = v.Branch().Skills(); d.Tolerate(err) != nil {
		return in, last, err
	}
	dreams, _, err := d.ownRecords(ctx, v, t)
	if err != nil {
		return in, last, err
	}
	in.Distilled = map[string]bool{}
	for _, past := range dreams {
		for _, id := range past.Distilled {
			in.Distilled[id] = true
			if past.Time.After(last) {
				last = past.Time
			}
		}
	}
	return in, last, nil
}

// Distill asks a model to write skills for ripe workflows. KeepDistilled writes them.
func (d *Dreamer) Distill(ctx context.Context, m *prompts.Model, set prompts.Set, in dream.Ripeness, ripe []dream.Workflow) (dream.Distilled, error) {
	return dream.Distill(ctx, m, set, in, ripe, func(s record.Sighting) dream.Account { return account(d.Sessions, s) })
}

// KeepDistilled puts skills into the inbox unless another process made them meanwhile, and then the
// questions into the journal. It writes nothing if a purge came since the mark.
func (d *Dreamer) KeepDistilled(ctx context.Context, m *prompts.Model, found dream.Distilled, purges string) (ops []record.Operation, err error) {
	var done record.Dream
	var commit gitstore.Commit
	err = d.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		if err := purge.Since(d.State, purges); err != nil {
			return fmt.Errorf("distill: %w", err)
		}
		now, _, err := d.ripeness(ctx, tx.View, t)
		if err != nil {
			return err
		}
		ripe := dream.Ripe(now)
		ops = slices.DeleteFunc(slices.Clone(found.Operations), func(o record.Operation) bool {
			return !slices.ContainsFunc(ripe, func(r dream.Workflow) bool { return r.ID == o.ID }) ||
				slices.ContainsFunc(now.Pending, func(p record.Operation) bool { return p.Path == o.Path })
		})
		done, err = propose(tx, record.Dream{Time: d.Now(), Model: m.Name, Digest: m.Digest, Prompt: strings.Join(found.Prompts, " "), Distilled: found.Asked,
			Notes: notes(found.Notes, found.Refused)}, ops)
		if err != nil {
			return err
		}
		for i := range ops {
			ops[i].Dream = done.ID
		}
		commit = modelCommit(fmt.Sprintf("distill: %s of %s", inbox.Count(len(ops), "skill"), inbox.Count(len(found.Asked), "workflow")), done)
		tx.Describe(commit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ops, d.keep(ctx, done, commit)
}

// maxSteps bounds the steps of one session in an account, counted from the end.
const maxSteps = 2000

// account returns the successful commands and edits of a kept session, and its speech.
func account(sessions reflect.Sessions, s record.Sighting) dream.Account {
	kept, events, err := sessions.Load(s.Client + "/" + s.Session)
	if err != nil {
		return dream.Account{}
	}
	var out dream.Account
	edits := map[string][]string{} // paths of open calls
	for _, e := range events {
		key := e.Agent + "\x00" + e.CallID
		switch {
		case e.Kind == transcript.User && e.Origin == transcript.Typed, e.Kind == transcript.Assistant:
			out.Said = append(out.Said, e.Text)
		case e.Kind == transcript.Call && e.Action == transcript.Edit:
			edits[key] = e.Paths
		case e.Kind != transcript.Result || !succeeded(e):
		case e.Command != "":
			out.Steps = append(out.Steps, dream.Step{N: e.N, Command: e.Command})
		default:
			for _, p := range edits[key] {
				if p, ok := inside(kept.Dir, p); ok {
					out.Steps = append(out.Steps, dream.Step{N: e.N, Path: p})
				}
			}
			delete(edits, key)
		}
	}
	out.Steps = out.Steps[max(0, len(out.Steps)-maxSteps):]
	return out
}

// succeeded reports whether a call succeeded. An exit code decides, if there is one.
func succeeded(e transcript.Event) bool {
	if e.Exit != nil {
		return *e.Exit == 0 && (e.Outcome == transcript.OK || e.Outcome == transcript.Unknown)
	}
	return e.Outcome == transcript.OK
}

// inside returns a path relative to the folder that holds it, with slashes.
func inside(dir, path string) (string, bool) {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return "", false
		}
		path = rel
	}
	path = filepath.ToSlash(filepath.Clean(path))
	return path, path != "." && filepath.IsLocal(filepath.FromSlash(path))
}
