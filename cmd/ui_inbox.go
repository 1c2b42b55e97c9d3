package cmd

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
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
	// decide does something with an operation, and says in a line what came of it.
	decide := func(do func(context.Context, *workspace, inbox.Waiting) error) func(context.Context, string) (string, error) {
		return func(ctx context.Context, id string) (string, error) {
			return screenful(ctx, env, 1000, func(ctx context.Context, w *workspace) error {
				queue, err := w.learner().Queue(ctx, []string{id})
				if errors.Is(err, record.ErrNoMemory) {
					return errors.New("it was decided elsewhere meanwhile")
				}
				if err != nil {
					return err
				}
				return do(ctx, w, queue[0])
			})
		}
	}
	return tui.Tab{
		Name:  "inbox",
		Empty: "no pending operations\nProposals from sessions wait here until a person accepts them: 'reverie learn' looks for more.",
		Every: 5 * time.Second, // others learn and decide too
		Load: func(ctx context.Context) (items []tui.Item, err error) {
			_, err = screenful(ctx, env, 80, func(ctx context.Context, w *workspace) error {
				queue, err := w.learner().Queue(ctx, nil)
				for _, p := range queue {
					items = append(items, tui.Item{ID: p.ID, Title: p.Operation.Verb() + ": " + term.OneLine(p.Memory.Text, 1000), Note: term.Visible(p.Memory.Subject())})
				}
				if errors.Is(err, gitstore.ErrNoStore) { // before the first memory
					return nil
				}
				return err
			})
			return items, err
		},
		Views: []tui.View{
			{Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) { showOperation(w, p.Operation, p.Why, l) })},
			{Key: "d", Name: "diff", Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) {
				if len(l.Changes) == 0 {
					w.env.Print("  It changes no memory.\n")
				}
				showChanges(w, l.Changes)
			})},
			{Key: "w", Name: "why", Text: one(func(w *workspace, p inbox.Waiting, l inbox.Outlook) {
				showGrounds(w, p.Operation, p.Why, l, len(l.Quotes))
			})},
		},
		Actions: []tui.Action{
			{Key: "y", Name: "accept", Do: decide(func(ctx context.Context, w *workspace, p inbox.Waiting) error {
				done, err := w.learner().Accept(ctx, []record.Operation{p.Operation}, "review", nil)
				return errors.Join(tellAccepted(w, done), err)
			})},
			{Key: "n", Name: "reject", Do: decide(func(ctx context.Context, w *workspace, p inbox.Waiting) error {
				return reject(ctx, w, []string{p.ID}, rejectOptions{})
			})},
			{Key: "u", Name: "undo", Bare: true, Do: func(ctx context.Context, _ string) (string, error) {
				return screenful(ctx, env, 1000, func(ctx context.Context, w *workspace) error { return undoLast(ctx, w, began) })
			}},
			{Key: "e", Name: "edit", Takes: func(ctx context.Context, id string, in io.Reader, out, talk io.Writer) error {
				e := *env
				e.Terminal, e.opened = env.To(in, out, talk), nil
				return runEdit(ctx, &e, id, remember.Edit{})
			}},
		},
	}
}
