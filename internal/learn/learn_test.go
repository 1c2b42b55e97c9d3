package learn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A rule that a person typed becomes memory without a model and without cmd, and learning again
// changes nothing.
func TestLearnAcceptsWhatWasSaid(t *testing.T) {
	testrepo.Isolate(t)
	r := testrepo.New(t)
	r.Commit("one")
	c, err := clone.Open(t.Context(), clone.Options{Dir: r.Dir, Now: time.Now, Background: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Book.Create(t.Context(), map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	var notes []inbox.Note
	l := &learn.Learner{Dreamer: &dreams.Dreamer{Inbox: &inbox.Inbox{
		Clone:     c,
		Withheld:  func(context.Context, *record.View) (*trust.Withheld, error) { return nil, nil },
		Tolerate:  func(err error) error { return err },
		Documents: func() func(record.Memory) string { return func(record.Memory) string { return "" } },
		Proposed:  func() (map[string]string, error) { return nil, nil },
		Own:       func(context.Context, *record.View) []record.Memory { return nil },
		Report:    func(n inbox.Note) { notes = append(notes, n) },
	}}}
	kept, err := c.Sessions.Add(transcript.Session{Client: "other", ID: "s1", Started: time.Now()},
		[]transcript.Event{{Kind: transcript.User, Origin: transcript.Typed, Text: "From now on always run make check before you commit, never plain make."}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Learn(t.Context(), []string{kept.Name()})
	if err != nil || got.Reflections != 1 || len(got.Accepted) != 1 || !strings.Contains(got.Accepted[0].Memory.Text, "make check") {
		t.Fatalf("%v: %+v", err, got)
	}
	if len(notes) == 0 {
		t.Error("no notes")
	}
	again, err := l.Learn(t.Context(), []string{kept.Name()})
	if err != nil || again.Reflections != 0 || len(again.Accepted) != 0 || again.Waiting != 0 {
		t.Errorf("%v: %+v", err, again)
	}
}
