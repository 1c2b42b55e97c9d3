package cmd

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/cmd/web"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/remember"
)

// maxFound bounds the memories that answer a query on the screen.
const maxFound = 200

// memoriesTab browses and searches all memories in force, the newest first. Its undo goes back to
// the screen's beginning.
func memoriesTab(env *Env) tui.Tab {
	began := env.Now()
	return tui.Tab{
		Name: "memories", Empty: "no memories yet\nreverie remember TEXT keeps a statement; reverie learn finds some in past sessions.",
		Load: func(ctx context.Context) ([]tui.Item, error) { return findMemories(ctx, env, "") },
		Find: func(ctx context.Context, query string) ([]tui.Item, error) { return findMemories(ctx, env, query) },
		Views: []tui.View{
			{Text: view(env, func(ctx context.Context, w *workspace, id string) error { return runShow(ctx, w, id, "") })},
			{Key: "h", Name: "history", Text: view(env, func(ctx context.Context, w *workspace, id string) error { return runLog(ctx, w, id, logOptions{}) })},
			{Key: "w", Name: "why given", Text: view(env, func(ctx context.Context, w *workspace, id string) error { return runWhy(ctx, w, id, "") })},
		},
		Actions: []tui.Action{
			{Key: "e", Name: "edit", Takes: editOnScreen(env)},
			{Key: "f", Name: "forget", Many: true, Confirm: "Retire this memory?", Do: act(env, func(ctx context.Context, w *workspace, ids []string) error {
				f, err := keeper(w).Forget(ctx, ids, nil, "")
				for _, m := range f.Gone {
					w.env.Print("retired: %s\n", m.Text)
				}
				return err
			})},
			undoAction(env, began),
			{Key: "o", Name: "open in browser", Do: func(ctx context.Context, ids []string) (string, error) {
				s, err := web.Listen(webDesk(env))
				if err != nil {
					return "", err
				}
				s.URL += "&memory=" + ids[0]
				failed := make(chan error, 1)
				go func() { failed <- s.Serve(ctx, true, func(err error) { failed <- err }) }()
				select {
				case err := <-failed:
					return "", errors.Join(err, errors.New("open the link yourself: "+s.URL))
				case <-time.After(300 * time.Millisecond):
					return s.URL, nil
				}
			}},
		},
	}
}

// findMemories lists the memories in force that answer a query, best first, and those that hold its
// words in order. Without a query it lists all, newest first.
func findMemories(ctx context.Context, env *Env, query string) (items []tui.Item, err error) {
	_, err = screenful(ctx, env, 80, func(ctx context.Context, w *workspace) error {
		seen := map[string]bool{}
		add := func(m record.Memory, c reader.Caveats) {
			if !seen[m.ID] {
				seen[m.ID] = true
				items = append(items, memoryItem(m, c))
			}
		}
		if query != "" {
			a, err := w.Recall(ctx, reader.Question{Text: query, Limit: maxFound, Withheld: true})
			if err != nil {
				return err
			}
			for _, h := range a.Hits {
				add(h.Memory, h.Caveats)
			}
		}
		return w.View(ctx, func(v *record.View) error {
			caveats, err := w.Caveats(ctx, v)
			if err != nil {
				return err
			}
			all := slices.DeleteFunc(v.Memories(), func(m record.Memory) bool {
				return !m.Live(env.Now()) || query != "" && !strings.Contains(strings.ToLower(m.Text), strings.ToLower(query))
			})
			if err := remember.Sort(all, "new"); err != nil {
				return err
			}
			if query != "" {
				all = all[:min(len(all), maxFound)]
			}
			for _, m := range all {
				add(m, caveats(m))
			}
			return nil
		})
	})
	if errors.Is(err, gitstore.ErrNoStore) { // before the first memory
		err = nil
	}
	return items, err
}

// memoryItem describes a memory in the list.
func memoryItem(m record.Memory, c reader.Caveats) tui.Item {
	h := hitOf(mark(m, c), "", m, remark(m, c))
	note := h.Remarks
	if day := m.Source.Time; note == "" && !day.IsZero() {
		note = day.Local().Format(time.DateOnly)
	}
	return tui.Item{ID: m.ID, Lead: string(m.Kind), Style: tell.Colour(m.Kind, len(c.Why) > 0), Title: tell.Line(m.Text), Note: tell.Line(note)}
}

// editOnScreen lets the person's editor change a memory or an operation.
func editOnScreen(env *Env) func(context.Context, string, io.Reader, io.Writer, io.Writer) error {
	return func(ctx context.Context, id string, in io.Reader, out, talk io.Writer) error {
		e := *env
		e.Terminal, e.opened = env.To(in, out, talk), nil
		return runEdit(ctx, &e, id, remember.Edit{})
	}
}

// undoAction takes back the last decision since a time.
func undoAction(env *Env, since time.Time) tui.Action {
	return tui.Action{Key: "u", Name: "undo", Bare: true, Do: act(env, func(ctx context.Context, w *workspace, _ []string) error { return undoLast(ctx, w, since) })}
}

// idle shows what a person may look at while the inbox is empty: counts, and the latest changes.
func idle(ctx context.Context, env *Env, width int) (string, error) {
	return screenful(ctx, env, width, func(ctx context.Context, w *workspace) error {
		err := runStatus(ctx, w)
		if err != nil {
			return err
		}
		w.env.Print("\nlatest changes\n")
		return history.Changes(ctx, w.Repo, w.Config.Ref, 10, nil, func(c history.Commit, files []history.Version) error {
			tell.Commit(&w.env.Terminal, c, files)
			return nil
		})
	})
}
