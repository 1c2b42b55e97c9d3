package learn_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// opened returns a clone with an empty memory.
func opened(t *testing.T) *clone.Clone {
	t.Helper()
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
	return c
}

func learnerOf(c *clone.Clone, notes *[]inbox.Note) *learn.Learner {
	return &learn.Learner{Dreamer: &dreams.Dreamer{Inbox: &inbox.Inbox{
		Clone:     c,
		Withheld:  func(context.Context, *record.View) (*trust.Withheld, error) { return nil, nil },
		Tolerate:  func(err error) error { return err },
		Documents: func() func(record.Memory) string { return func(record.Memory) string { return "" } },
		Proposed:  func() (map[string]string, error) { return nil, nil },
		Own:       func(context.Context, *record.View) []record.Memory { return nil },
		Report:    func(n inbox.Note) { *notes = append(*notes, n) },
	}}}
}

// A rule that a person typed becomes memory without a model and without cmd, and learning again
// changes nothing.
func TestLearnAcceptsWhatWasSaid(t *testing.T) {
	c := opened(t)
	var notes []inbox.Note
	l := learnerOf(c, &notes)
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

// Known statements about a session are found by the person's words, by the commands that ran, and
// among those that wait for a person. Words said in passing are not among them.
func TestKnownAbout(t *testing.T) {
	c := opened(t)
	var notes []inbox.Note
	l := learnerOf(c, &notes)
	l.Known = func(_ context.Context, text string, n int, _ bool) ([]string, error) {
		var known []string
		for word, statement := range map[string]string{"stock": "The stock list has prices in cents.", "cargo xtask pack": "`cargo xtask pack` needs zstd."} {
			if strings.Contains(text, word) {
				known = append(known, statement)
			}
		}
		return known, nil
	}
	waits := func(text, client string, private bool) record.Operation {
		m := record.New(record.Memory{Kind: record.Fact, Text: text, Private: private, Source: record.Source{Time: time.Now(), By: client + "/s0", How: record.Model}})
		return record.NewOperation(record.Operation{Op: record.Add, How: record.Model, Memory: m, Private: private, Sightings: []record.Sighting{{Client: client, Session: "s0", How: record.Model}}})
	}
	inPassing := waits("The stock list of the east is empty.", "demo", false)
	inPassing.How = record.Said
	inPassing.Sightings[0].How, inPassing.Sightings[0].Evidence = record.Said, []record.Evidence{{Quote: "the stock list of the east is empty", By: record.ByPerson, Doubt: record.Passing}}
	err := c.Book.Update(t.Context(), func(tx *record.Tx) error {
		for _, o := range []record.Operation{
			record.NewOperation(inPassing),
			waits("The stock list of the north is empty.", "demo", false),
			waits("The stock list of the south is empty.", "other", false),
			waits("The stock list of the west is empty.", "demo", true),
			waits("Lamps burn longer with direct current.", "demo", false),
		} {
			if err := tx.PutOperation(o); err != nil {
				return err
			}
		}
		tx.Describe(gitstore.Commit{Subject: "five wait"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	exit := 0
	events := []transcript.Event{
		{Kind: transcript.User, Origin: transcript.Typed, Text: "pack the stock list"},
		{N: 1, Kind: transcript.Call, Action: transcript.Run, CallID: "1", Command: "cargo xtask pack"},
		{N: 2, Kind: transcript.Result, Action: transcript.Run, CallID: "1", Outcome: transcript.OK, Exit: &exit, Text: "done"},
	}
	for private, want := range map[bool][]string{
		false: {"The stock list has prices in cents.", "`cargo xtask pack` needs zstd.", reflect.Waiting + "The stock list of the north is empty."},
		true: {"The stock list has prices in cents.", "`cargo xtask pack` needs zstd.", reflect.Waiting + "The stock list of the north is empty.",
			reflect.Waiting + "The stock list of the south is empty.", reflect.Waiting + "The stock list of the west is empty."},
	} {
		got, err := l.KnownAbout(t.Context(), transcript.Session{Client: "demo", ID: "s1"}, events, private)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("private %v: %q, error %v, want %q", private, got, err, want)
		}
	}
}

// Questions for a model out of reach suit a large one, unless the settings say otherwise.
func TestQuestionsSuitALargeModel(t *testing.T) {
	c := opened(t)
	var notes []inbox.Note
	l := learnerOf(c, &notes)
	l.Model = func(context.Context, model.Task, string) (*prompts.Model, prompts.Set, error) {
		return nil, prompts.Set{}, nil
	}
	l.Known = func(context.Context, string, int, bool) ([]string, error) { return nil, nil }
	var events []transcript.Event
	for i := range 60 {
		events = append(events, transcript.Event{N: i, Kind: transcript.User, Origin: transcript.Typed, Text: strings.Repeat("the harbour opens at six ", 40)})
	}
	kept, err := c.Sessions.Add(transcript.Session{Client: "other", ID: "s1", Started: time.Now()}, events)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := learn.Questions(t.Context(), l, []string{kept.Name()}, "", false, 0); err != nil || len(all) != 1 {
		t.Errorf("%d questions, error %v", len(all), err)
	}
	if err := os.WriteFile(clone.SettingsFile(c.State), []byte("[model]\ncontext = 8192\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l.Clone, err = clone.Open(t.Context(), clone.Options{Dir: c.Repo.WorkTree, Now: time.Now, Background: true}); err != nil {
		t.Fatal(err)
	}
	if all, err := learn.Questions(t.Context(), l, []string{kept.Name()}, "", false, 0); err != nil || len(all) < 2 {
		t.Errorf("by the settings %d questions, error %v", len(all), err)
	}
}
