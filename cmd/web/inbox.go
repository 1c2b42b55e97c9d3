package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/undo"
)

// maxQuotes bounds the shown quotes of an operation.
const maxQuotes = 8

// pending is a page of the inbox.
type pending struct {
	list
	Waiting []waiting
	Last    *undo.Decision // that can be undone
}

// waiting is a pending operation with everything that a person needs to decide.
type waiting struct {
	inbox.Waiting
	Look       inbox.Outlook
	MoreQuotes int
	Seen       string // identifies what the page shows
	Kinds      []record.Kind
}

// list is the part of a list that a page shows.
type list struct {
	Total        int
	Newer, Older string // queries of the neighbouring pages
}

// part returns the part of a list that a request asks for.
func part[T any](r *http.Request, all []T) ([]T, list) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("page"))
	n = max(1, min(n, (len(all)+perPage-1)/perPage))
	l := list{Total: len(all)}
	at := func(n int) string {
		q.Set("page", strconv.Itoa(n))
		return "?" + q.Encode()
	}
	if n > 1 {
		l.Newer = at(n - 1)
	}
	if n*perPage < len(all) {
		l.Older = at(n + 1)
	}
	return paged(all, n), l
}

// showInbox lists the pending operations.
func showInbox(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	p := &pending{}
	queue, err := d.Learner.Queue(ctx, nil)
	if clone.NoMemory(err) { // before the first memory
		err = nil
	}
	if err == nil && len(queue) > 0 {
		queue, p.list = part(r, queue)
		p.Waiting, err = d.look(ctx, queue)
	}
	if last, none := undo.Newest(ctx, d.Reader.Clone, d.since); none == nil {
		p.Last = &last
	}
	return page{View: "inbox", Title: "Inbox", Data: p}, err
}

// look adds to operations what they would change, and their evidence.
func (d *Desk) look(ctx context.Context, queue []inbox.Waiting) (all []waiting, err error) {
	err = d.Reader.View(ctx, func(v *record.View) error {
		viewer := inbox.NewViewer(d.Reader.Clone, v)
		for _, o := range queue {
			w := waiting{Waiting: o, Look: viewer.Look(o.Operation), Kinds: record.Kinds}
			if w.Seen, err = seen(w); err != nil {
				return err
			}
			w.MoreQuotes = max(0, len(w.Look.Quotes)-maxQuotes)
			w.Look.Quotes = w.Look.Quotes[:len(w.Look.Quotes)-w.MoreQuotes]
			all = append(all, w)
		}
		return nil
	})
	return all, err
}

// seen identifies an operation and the memories that accepting it retires.
func seen(w waiting) (string, error) {
	text, err := w.Operation.Format()
	for _, id := range w.Look.Retires {
		text = append(text, id...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// errOther means that a person decided about another state than the present one.
var errOther = errors.New("something was decided after the page was shown; nothing was done")

// decide does with one operation, or with the chosen ones in one decision, what a form asks for,
// and says what came of it.
func decide(ctx context.Context, d *Desk, r *http.Request) (said string, err error) {
	ids, digests := []string{r.PathValue("id")}, r.PostForm["seen"]
	if ids[0] == "" {
		ids, digests = nil, nil
		for _, one := range r.PostForm["chosen"] {
			id, digest, _ := strings.Cut(one, " ")
			ids, digests = append(ids, id), append(digests, digest)
		}
	}
	if len(ids) == 0 {
		return "no operation was chosen", nil
	}
	queue, err := d.Learner.Queue(ctx, ids)
	if errors.Is(err, record.ErrNoMemory) {
		return "", errors.New("decided elsewhere meanwhile; nothing was done")
	}
	if err != nil {
		return "", err
	}
	shown, err := d.look(ctx, queue)
	if err != nil {
		return "", err
	}
	for _, o := range shown {
		if !slices.Contains(digests, o.Seen) {
			return "", errOther
		}
	}
	switch r.PathValue("verb") {
	case "accept":
		queue, left := inbox.Together(queue)
		if left != "" {
			left = "\n" + left
		}
		done, err := d.Learner.Accept(ctx, inbox.Operations(queue), "review")
		if len(done) > 0 && record.Undecidable(err) {
			return "accepted: " + these(done) + left + "\n" + err.Error(), nil
		}
		return "accepted: " + these(done) + left, err
	case "reject":
		done, err := d.Learner.Reject(ctx, ids, false, r.PostForm.Get("reason"))
		return "rejected: " + these(done), err
	case "edit":
		if len(ids) > 1 {
			break
		}
		text := r.PostForm.Get("text")
		done, err := d.Keeper.Edit(ctx, ids[0], remember.Edit{Text: &text, Kind: r.PostForm.Get("kind")})
		switch {
		case err != nil || done.Same:
			return "nothing changed", err
		case done.Redacted > 0:
			return remember.Redaction(done.Redacted, done.Memory.ID), nil
		}
		return "changed: " + done.Memory.Text, nil
	}
	return "", exit.Usage("", "there is no such decision")
}

// these names operations: the statement of one, the number of several.
func these(ops []record.Operation) string {
	if len(ops) == 1 {
		return ops[0].Memory.Text
	}
	return plural.Count(len(ops), "operation", "operations")
}

// takeBack undoes the decision that a form names, if it is still the newest.
func takeBack(ctx context.Context, d *Desk, r *http.Request) (said string, err error) {
	last, err := undo.Newest(ctx, d.Reader.Clone, d.since)
	if err == nil && r.PostForm.Get("seen") != last.Commits[0] {
		err = errOther
	}
	if err == nil {
		err = last.Undo(ctx)
	}
	return "undone: " + last.Subject, err
}

// Compared returns the difference between a changed memory's statement and the new one.
func (w waiting) Compared(c inbox.Change) []inbox.Run {
	return inbox.Words(c.Was.Text, w.Memory.Text)
}

// Text is the editable text of the operation's memory.
func (w waiting) Text() string {
	if w.Memory.Body == "" {
		return w.Memory.Text
	}
	return w.Memory.Text + "\n\n" + w.Memory.Body
}
