package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/term"
)

// overruledJSON is a memory that a merge put out of force though this side had changed it.
type overruledJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"` // as it was changed here
	Why  string `json:"why"`  // they retired it; empty where they did not say
	Gone bool   `json:"gone"` // its file was taken away
}

// overrule adds what a merge of theirs put out of force that was changed here.
func (t *tallyJSON) overrule(ctx context.Context, s *gitstore.Store, m gitstore.Merged, theirs gitstore.ID) error {
	lost, err := record.FindOverruled(ctx, s, m, theirs)
	for _, o := range lost {
		t.Overruled = append(t.Overruled, overruledJSON(o))
	}
	return err
}

// maxOverruled bounds how many are named to people.
const maxOverruled = 10

func (env *Env) tellOverruled(all []overruledJSON) {
	for _, o := range all[:min(maxOverruled, len(all))] {
		why, next := "retired: "+term.OneLine(o.Why, 100), "reverie edit "+o.ID[:8]+" --status active"
		switch {
		case o.Gone:
			why, next = "its file was taken away", "reverie remember TEXT"
		case o.Why == "":
			why = "retired"
		}
		env.tellRow("changed here", "%s  %s  (%s); to bring it back: %s", o.ID[:8], term.OneLine(o.Text, 100), why, next)
	}
	if more := len(all) - maxOverruled; more > 0 {
		env.tellRow("", "and %d more that were changed here: reverie list --all", more)
	}
}
