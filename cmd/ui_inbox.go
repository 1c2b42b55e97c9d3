package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
)

// inboxTab shows the pending operations and the actions on them. Its undo goes back to the screen's
// beginning.
func inboxTab(env *Env) tui.Tab {
	began := env.Now()
	// one shows a part of an operation as it is now.
	one := func(show func(*workspace, inbox.Waiting, inbox.Outlook)) func(context.Context, string, int) (string, error) {
		return func(ctx context.Context, id string, width int) (string, error) {
			return screenful(ctx, env, width, func(ctx context.Context, w *workspace) error {
				queue, err := w.learner().Queue(ctx, []string{id})
				if err != nil {
					return err
				}
				looks, err := looks(ctx, w, operations(queue)...)
				if err != nil {
					return err
				}
				show(w, queue[0], looks[id])
				return nil
			})
		}
	}
	// decide does something with operations, and says in a line what came of it.
	decide := func(do func(context.Context, *workspace, []inbox.Waiting) error) func(context.Context, []string) (string, error) {
		return func(ctx context.Context, ids []string) (string, error) {
			return screenful(ctx, env, 1000, func(ctx context.Context, w *workspace) error {
				queue, err := w.learner().Queue(ctx, ids)
				if errors.Is(err, record.ErrNoMemory) {
					return errors.New("it was decided elsewhere meanwhile")
				}
				if err != nil {
					return err
				}
				return do(ctx, w, queue)
			})
		}
	}
	return tui.Tab{
		Name:  "inbox",
		Empty: "no pending operations\nProposals from sessions wait here until a person accepts them: 'reverie learn' looks for more.",
		Blank: func(ctx context.Context, width int) (string, error) { return idle(ctx, env, width) },
		Every: 5 * time.Second, // others learn and decide too
		Load: func(ctx context.Context) (items []tui.Item, err error) {
			_, err = screenful(ctx, env, 80, func(ctx context.Context, w *workspace) error {
				queue, err := w.learner().Queue(ctx, nil)
				for _, p := range queue {
					items = append(items, tui.Item{ID: p.ID, Lead: p.Operation.Verb() + ":", Style: tell.Colour(p.Memory.Kind, p.Op == record.Retire), Title: tell.Line(p.Memory.Text), Note: tell.Line(p.Memory.Subject())})
				}
				if errors.Is(err, gitstore.ErrNoStore) { // before the first memory
					return nil
				}
				return err
			})
			return items, err
		},
		Views: []tui.View{
			{Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) {
				tell.Operation(&w.env.Terminal, p.Operation, p.Why, l)
			})},
			{Key: "d", Name: "diff", Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) {
				if len(l.Changes) == 0 {
					w.env.Print("  It changes no memory.\n")
				}
				tell.Changes(&w.env.Terminal, l.Changes)
			})},
			{Key: "w", Name: "why", Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) {
				tell.Grounds(&w.env.Terminal, p.Operation, p.Why, l, len(l.Quotes))
			})},
		},
		Actions: []tui.Action{
			{Key: "y", Name: "accept", Many: true, Do: decide(func(ctx context.Context, w *workspace, queue []inbox.Waiting) error {
				done, err := w.learner().Accept(ctx, operations(queue), "review")
				return errors.Join(tellAccepted(w, done), err)
			})},
			{Key: "n", Name: "reject", Many: true, Do: decide(func(ctx context.Context, w *workspace, queue []inbox.Waiting) error {
				var ids []string
				for _, p := range queue {
					ids = append(ids, p.ID)
				}
				return reject(ctx, w, ids, rejectOptions{})
			})},
			undoAction(env, began),
			{Key: "e", Name: "edit", Takes: editOnScreen(env)},
		},
	}
}
