package status

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Line holds the numbers of a status line, as --json prints them.
type Line struct {
	Known   int `json:"known"`   // memories in force that the asker may see
	Waiting int `json:"waiting"` // operations
}

// ReadLine counts for a status line. It reads no code, no session and no evidence.
func ReadLine(ctx context.Context, r *reader.Reader) (l Line, err error) {
	err = r.View(ctx, func(v *record.View) error {
		l = Line{Waiting: record.CountOperations(ctx, gitstore.Open(r.Repo, clone.InboxRef))}
		if v, err = r.ForAsker(ctx, v); err != nil {
			return err
		}
		for _, m := range v.Memories() {
			if m.Live(r.Now()) {
				l.Known++
			}
		}
		return nil
	})
	return l, err
}
