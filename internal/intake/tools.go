package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/plural"
)

// Stores names the stores to read.
type Stores struct {
	From   string // a tool, or "all"
	Place  string // absolute, or a server's address; empty: the usual place
	Remote bool   // a server may be on another machine
}

// ReadStores reads the stores and calls fn for each, so that a later one that fails leaves the
// earlier ones imported. With "all" it notes missing and unreadable stores and goes on.
func (in *Intake) ReadStores(ctx context.Context, s Stores, fn func(tool string, found foreign.Found) error) error {
	q, err := Query(ctx, in.Clone)
	if err != nil {
		return err
	}
	q.Place, q.Remote = s.Place, s.Remote
	tools := []string{s.From}
	if s.From == "all" {
		tools = foreign.Tools
	}
	done, bad := 0, 0
	for _, tool := range tools {
		found, err := foreign.Read(ctx, tool, q)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := fn(tool, found); err != nil {
				return err
			}
			done++
		case len(tools) == 1:
			return exit.New(exit.Failed, fmt.Errorf("import --from %w", err), storeHint(tool, err))
		case errors.Is(err, foreign.ErrNone):
			in.Report(Missing{err})
		default:
			in.Report(Failed{err})
			bad++
		}
	}
	switch {
	case bad > 0:
		return exit.New(exit.Failed, fmt.Errorf("import --from all: %s could not be read", plural.Count(bad, "store", "stores")), "the other stores were imported, and earlier memories stay")
	case done == 0:
		return exit.New(exit.Failed, errors.New("import --from all: no store could be read"), "name its place: reverie import --from TOOL PLACE")
	}
	return nil
}

// storeHint returns the next step after a store could not be read.
func storeHint(tool string, err error) string {
	switch {
	case errors.Is(err, foreign.ErrNone):
		return "name its place: reverie import --from " + tool + " PLACE"
	case tool == "opencode-mem":
		return "nothing was imported; OPENCODE_MEM_TOKEN holds the server's token, and --allow-remote allows a server on another machine"
	}
	return "nothing was imported, and earlier memories stay"
}

// previewChars bounds the text of an Item.
const previewChars = 200

// Item previews one entry of a store, without secrets.
type Item struct {
	From    string     `json:"from"`
	Key     string     `json:"key"`
	Kind    string     `json:"kind"`
	Text    string     `json:"text"` // its beginning
	Private bool       `json:"private"`
	Created *time.Time `json:"created,omitempty"`

	At string `json:"-"` // Key, if it is a place in a file
}

// List previews the entries of a store whose text contains filter.
func (in *Intake) List(tool string, found foreign.Found, filter string) (items []Item) {
	if filter != "" {
		found.Items = matching(found.Items, filter)
	}
	if found.Bad > 0 {
		in.Report(Unreadable{Tool: tool, N: found.Bad})
	}
	for _, i := range found.Items {
		text, _ := in.Scanner.Text(i.Text)
		kind, _ := in.Scanner.Text(i.Kind)
		key, _ := in.Scanner.Text(cmp.Or(i.Key, i.At))
		short, _ := Shorten(strings.Join(strings.Fields(text.String()), " "), previewChars)
		one := Item{From: tool, Key: key.String(), Kind: kind.String(), Text: short, Private: i.User}
		if !i.Created.IsZero() {
			one.Created = &i.Created
		}
		if i.At != "" {
			one.At = one.Key
		}
		items = append(items, one)
	}
	return items
}
