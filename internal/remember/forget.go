package remember

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
)

// Forgotten is the result of retiring memories.
type Forgotten struct {
	Gone    []record.Memory // as retired now
	Already []record.Memory // retired before
	Changed []string        // abbreviated ids of those that changed meanwhile and stay
}

// Forget retires memories in one commit. It skips a memory whose blob differs from the one in
// shown, which may lack it.
func (k *Keeper) Forget(ctx context.Context, ids []string, shown map[string]string, reason string) (f Forgotten, err error) {
	err = k.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		f = Forgotten{}
		seen := map[string]bool{}
		for _, id := range ids {
			held, err := tx.Find(id)
			if err != nil {
				return err
			}
			blob, _ := tx.Blob(held.ID)
			switch {
			case seen[held.ID]:
			case held.Status == record.Retired:
				f.Already = append(f.Already, held)
			case shown[held.ID] != "" && shown[held.ID] != string(blob):
				f.Changed = append(f.Changed, held.ID[:8])
			default:
				m := held.Retire(reason)
				if err := tx.PutMemory(m, &held); err != nil {
					return err
				}
				f.Gone = append(f.Gone, m)
			}
			seen[held.ID] = true
		}
		commit := gitstore.Commit{Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "forget"}}}
		switch len(f.Gone) {
		case 0:
			return nil
		case 1:
			commit.Subject = "forget: " + record.CommitSubject(f.Gone[0].Text)
		default: // no statement, because some may be private and the commit is on the branch
			commit.Subject = fmt.Sprintf("forget: %d memories", len(f.Gone))
		}
		tx.Describe(commit)
		return nil
	})
	return f, err
}
