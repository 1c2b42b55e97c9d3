package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func reviewCommand(env *Env) *cli.Command {
	var rejected bool
	return &cli.Command{
		Name:      "review",
		Usage:     "decide on pending operations",
		ArgsUsage: "[OP…]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "rejected", Usage: "list rejected operations instead, newest first", Destination: &rejected}},
		Action: func(c *cli.Context) error {
			if rejected {
				return env.with(c.Context, func(w *workspace) error { return listRejected(c.Context, w, c.Args().Slice()) })
			}
			return env.with(c.Context, func(w *workspace) error { return runReview(c.Context, w, c.Args().Slice()) })
		},
	}
}

func runReview(ctx context.Context, w *workspace, ids []string) error {
	queue, err := w.learner().Queue(ctx, ids)
	if err != nil {
		return err
	}
	var looked map[string]inbox.Outlook
	if w.env.JSON || !w.env.Interactive {
		if looked, err = looks(ctx, w, inbox.Operations(queue)...); err != nil {
			return err
		}
	}
	if w.env.JSON {
		return rows(w.env, queue, func(p inbox.Waiting) wire.Operation { return wire.OfLook(p.Operation, p.Why, looked[p.ID]) }, nil)
	}
	if len(queue) == 0 {
		w.env.Say("no pending operations")
		return nameForeign(ctx, w)
	}
	if !w.env.Interactive {
		last := ""
		for _, p := range queue {
			last = heading(w, last, p)
			tell.Operation(&w.env.Terminal, p.Operation, p.Why, looked[p.ID])
		}
		w.env.Say("%s", hint.OfOwn(w.env.own, "decide with: reverie accept OP… or reverie reject OP… (or on a terminal: reverie review)"))
		return nameForeign(ctx, w)
	}
	if err := walk(ctx, w, queue); err != nil {
		return err
	}
	return nameForeign(ctx, w)
}

// listRejected lists rejected operations.
func listRejected(ctx context.Context, w *workspace, ids []string) error {
	all, err := w.learner().Rejected(ctx, ids)
	if err != nil {
		return err
	}
	w.env.Say("%s; next: %s", plural.Count(len(all), "rejected operation", "rejected operations"), hint.OfOwn(w.env.own, "reverie reject --undo OP"))
	return rows(w.env, all, itself, func(r record.Rejection) {
		line(w, "-", term.Dim, record.Memory{ID: r.ID, Text: r.Text}, strings.TrimSuffix(r.Time.Format(time.DateOnly)+", "+r.Reason, ", "))
	})
}

// heading begins a new subject.
func heading(w *workspace, last string, p inbox.Waiting) string {
	s := p.Memory.Subject()
	if s != last {
		w.env.Print("%s\n", w.env.Paint(term.Bold, "── "+term.Visible(s)))
	}
	return s
}

const reviewKeys = "y accept · n reject, never again · e edit · u undo · s skip · q quit"

// walk shows one operation after another and does at once what the person says, so that an
// interruption loses nothing.
func walk(ctx context.Context, w *workspace, queue []inbox.Waiting) error {
	env := w.env
	last := ""
	accepted, rejected, began := 0, 0, env.Now()
	decided := map[string]*int{} // by operation: its count
	for i := 0; i < len(queue); {
		p := queue[i]
		last = heading(w, last, p)
		looks, err := looks(ctx, w, p.Operation)
		if err != nil {
			return err
		}
		tell.Operation(&env.Terminal, p.Operation, p.Why, looks[p.ID])
		answer, err := term.Choose(&env.Terminal, fmt.Sprintf("(%d/%d) [y,n,e,u,s,q,?] ", i+1, len(queue)), "yneusq", reviewKeys)
		if err != nil { // the terminal is gone
			break
		}
		switch answer {
		case "y":
			done, err := w.learner().Accept(ctx, []record.Operation{p.Operation}, "review")
			switch {
			case record.Undecidable(err):
				if queue, i, err = again(ctx, w, queue, i, err); err != nil {
					return err
				}
				continue
			case err != nil:
				return err
			}
			if err := tellAccepted(w, done); err != nil {
				return err
			}
			accepted, decided[p.ID] = accepted+1, &accepted
		case "n":
			err := reject(ctx, w, []string{p.ID}, rejectOptions{})
			if err != nil && !errors.Is(err, record.ErrNoMemory) { // decided elsewhere meanwhile
				return err
			}
			rejected, decided[p.ID] = rejected+1, &rejected
		case "e":
			if err := runEdit(ctx, env, p.ID, remember.Edit{}); err != nil {
				env.Warn("%v", err)
			}
			if queue, i, err = again(ctx, w, queue, i, nil); err != nil {
				return err
			}
			continue
		case "u":
			if err := undoLast(ctx, w, began); err != nil {
				env.Warn("%v", err)
				continue
			}
			if queue, i, err = reopened(ctx, w, queue, i, decided); err != nil {
				return err
			}
			continue
		case "s":
		case "q":
			i = len(queue)
			continue
		}
		i++
	}
	env.Say("accepted %d, rejected %d, left %d", accepted, rejected, len(queue)-accepted-rejected)
	return nil
}

// reopened refreshes the queue after an undo, and returns to the operation that waits again.
func reopened(ctx context.Context, w *workspace, queue []inbox.Waiting, i int, decided map[string]*int) ([]inbox.Waiting, int, error) {
	fresh, err := w.learner().Queue(ctx, nil)
	for _, f := range fresh {
		at := slices.IndexFunc(queue, func(p inbox.Waiting) bool { return p.ID == f.ID })
		if at < 0 {
			continue
		}
		queue[at] = f
		if n := decided[f.ID]; n != nil {
			*n--
			i = at
			delete(decided, f.ID)
		}
	}
	return queue, i, err
}

// again refreshes one operation of the queue that could not be decided as shown. It says why, and
// shows the operation's current changes. An operation decided elsewhere meanwhile is left out.
func again(ctx context.Context, w *workspace, queue []inbox.Waiting, i int, why error) ([]inbox.Waiting, int, error) {
	if why != nil {
		w.env.Warn("%v", why)
	}
	fresh, err := w.learner().Queue(ctx, []string{queue[i].ID})
	if errors.Is(err, record.ErrNoMemory) {
		return slices.Delete(queue, i, i+1), i, nil
	}
	if err != nil {
		return queue, i, err
	}
	if why != nil && len(fresh[0].Base) > 0 {
		w.env.Say("this is its current state; 'e' rebuilds the operation on it, 'n' drops the operation:")
		for _, base := range fresh[0].Base {
			if err := runShow(ctx, w, base.ID, ""); err != nil {
				w.env.Warn("%v", err)
			}
		}
	}
	queue[i] = fresh[0]
	return queue, i, nil
}

// looks are those of some operations, by id.
func looks(ctx context.Context, w *workspace, ops ...record.Operation) (map[string]inbox.Outlook, error) {
	all := map[string]inbox.Outlook{}
	err := w.View(ctx, func(v *record.View) error {
		l := inbox.NewViewer(w.Clone, v)
		for _, o := range ops {
			all[o.ID] = l.Look(o)
		}
		return nil
	})
	return all, err
}
