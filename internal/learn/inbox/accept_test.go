package inbox

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The policy leaves what another process accepted since the inbox was read; a person is told of it.
func TestAcceptedElsewhereMeanwhile(t *testing.T) {
	testrepo.Isolate(t)
	r := testrepo.New(t)
	r.Commit("one")
	c, err := clone.Open(t.Context(), clone.Options{Dir: r.Dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Book.Create(t.Context(), map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	b := &Inbox{Clone: c,
		Withheld: func(context.Context, *record.View) (*trust.Withheld, error) { return nil, nil },
		Own:      func(context.Context, *record.View) []record.Memory { return nil },
		Offer:    func(context.Context) error { return nil }}
	var read []record.Operation
	_, err = c.Update(t.Context(), func(tx *record.Tx, _ clone.Team) error {
		read = nil
		for _, text := range []string{"Orders are kept in Postgres.", "Invoices are kept in S3."} {
			m := record.New(record.Memory{Kind: record.Fact, Text: text, Source: record.Source{Time: c.Now(), By: "human", How: record.Said}})
			o := record.NewOperation(record.Operation{Op: record.Add, Memory: m, How: record.Said, Proposed: c.Now()})
			read = append(read, o)
			if err := tx.PutOperation(o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.Accept(t.Context(), read[:1], "accept"); err != nil || len(done) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	if _, err := b.Accept(t.Context(), read[:1], "accept"); !errors.Is(err, record.ErrDecided) {
		t.Errorf("a person who accepts it again is told %v", err)
	}
	allowed := func(config.Config, record.Operation) bool { return true }
	done, err := accept(t.Context(), b, slices.Values([][]record.Operation{read}), "policy", allowed)
	if err != nil || len(done) != 1 || done[0].ID != read[1].ID {
		t.Errorf("%v, %v", done, err)
	}
}
