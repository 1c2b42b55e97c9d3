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
	"github.com/reverie-memory/reverie/internal/term"
)

// inboxTab shows the pending operations and the actions on them. Its undo goes back to the screen's
// beginning.
func inboxTab(env *Env) tui.Tab {
	began := env.Now()
	return tui.Tab{
		Name:  "inbox",
		Empty: "no pending operations\nProposals from sessions wait here until a person accepts them: 'reverie learn' looks for more.",
		Blank: func(ctx context.Context, width int) (string, error) { return idle(ctx, env, width) },
		Every: 5 * time.Second, // others learn and decide too
		Load:  func(ctx context.Context) ([]tui.Item, error) { return findWaiting(ctx, env) },
		Views: []tui.View{
			{Text: view(env, waiting(func(t *term.Terminal, p inbox.Waiting, l inbox.Outlook) {
				tell.Operation(t, p.Operation, p.Why, l)
			}))},
			{Key: "d", Name: "diff", Text: view(env, waiting(func(t *term.Terminal, p inbox.Waiting, l inbox.Outlook) {
				if len(l.Changes) == 0 {
					t.Print("  It changes no memory.\n")
				}
				tell.Changes(t, l.Changes)
			}))},
			{Key: "w", Name: "why", Text: view(env, waiting(func(t *term.Terminal, p inbox.Waiting, l inbox.Outlook) {
				tell.Grounds(t, p.Operation, p.Why, l, len(l.Quotes))
			}))},
		},
		Actions: []tui.Action{
			{Key: "y", Name: "accept", Many: true, Do: act(env, decide(func(ctx context.Context, w *workspace, queue []inbox.Waiting) error {
				queue, left := inbox.Together(queue)
				if left != "" {
					w.env.Say("%s", left)
				}
				done, err := w.learner().Accept(ctx, inbox.Operations(queue), "review")
				return errors.Join(tellAccepted(w, done), err)
			}))},
			{Key: "n", Name: "reject", Many: true, Do: act(env, decide(func(ctx context.Context, w *workspace, queue []inbox.Waiting) error {
				var ids []string
				for _, p := range queue {
					ids = append(ids, p.ID)
				}
				return reject(ctx, w, ids, rejectOptions{})
			}))},
			undoAction(env, began),
			{Key: "e", Name: "edit", Takes: editOnScreen(env)},
		},
	}
}

// findWaiting lists the pending operations.
func findWaiting(ctx context.Context, env *Env) (items []tui.Item, err error) {
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
}

// waiting shows a part of a pending operation as it is now.
func waiting(show func(*term.Terminal, inbox.Waiting, inbox.Outlook)) func(context.Context, *workspace, string) error {
	return func(ctx context.Context, w *workspace, id string) error {
		queue, err := w.learner().Queue(ctx, []string{id})
		if err != nil {
			return err
		}
		looks, err := looks(ctx, w, inbox.Operations(queue)...)
		if err != nil {
			return err
		}
		show(&w.env.Terminal, queue[0], looks[id])
		return nil
	}
}

// decide does something with the pending operations of some ids.
func decide(do func(context.Context, *workspace, []inbox.Waiting) error) func(context.Context, *workspace, []string) error {
	return func(ctx context.Context, w *workspace, ids []string) error {
		queue, err := w.learner().Queue(ctx, ids)
		if errors.Is(err, record.ErrNoMemory) {
			return errors.New("it was decided elsewhere meanwhile")
		}
		if err != nil {
			return err
		}
		return do(ctx, w, queue)
	}
}
