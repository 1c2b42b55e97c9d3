package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

const (
	defaultChars = 4000 // of one item of a store, unless --max-length says otherwise
	previewChars = 200  // of one item in a list
)

// storeOptions are those of an import from another tool's store.
type storeOptions struct {
	probe  bool
	filter string // only what has this in it, in any case
	most   int    // characters of one statement with its body
	remote bool   // a server may be of another machine
}

// itemJSON is a line of a probe.
type itemJSON struct {
	From    string     `json:"from"`
	Key     string     `json:"key"`
	Kind    string     `json:"kind"`
	Text    string     `json:"text"` // its beginning
	Private bool       `json:"private"`
	Created *time.Time `json:"created,omitempty"`
}

// runImportStores imports from the store of one tool, or of each that there is: each in a commit of
// its own, so that one that fails leaves what the others bring, and what it brought before.
func runImportStores(ctx context.Context, env *Env, place string, o importOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.accept && !o.dryRun && !o.store.probe {
		if err := w.WantPerson("import --accept"); err != nil {
			return err
		}
	}
	if o.store.remote {
		if err := w.WantPerson("import --allow-remote"); err != nil {
			return err
		}
	}
	tools := []string{o.from}
	if o.from == "all" {
		tools = foreign.Tools
	}
	q, err := intake.Query(ctx, w.Clone)
	if err != nil {
		return err
	}
	q.Place, q.Remote = place, o.store.remote
	if place != "" && o.from != "opencode-mem" {
		if q.Place, err = filepath.Abs(env.path(place)); err != nil {
			return err
		}
	}
	done, bad := 0, 0
	for _, tool := range tools {
		found, err := foreign.Read(ctx, tool, q)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := importStore(ctx, w, tool, found, o); err != nil {
				return err
			}
			done++
		case len(tools) == 1:
			return exit.New(exit.Failed, fmt.Errorf("import --from %w", err), storeHint(tool, err))
		case errors.Is(err, foreign.ErrNone):
			env.Say("%v", err)
		default:
			env.Warn("%v", err)
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

func storeHint(tool string, err error) string {
	switch {
	case errors.Is(err, foreign.ErrNone):
		return "name its place: reverie import --from " + tool + " PLACE"
	case tool == "opencode-mem":
		return "nothing was imported; OPENCODE_MEM_TOKEN holds the server's token, and --allow-remote allows a server on another machine"
	}
	return "nothing was imported, and earlier memories stay"
}

// tellWrittenDown says how to have them reviewed.
func tellWrittenDown(w *workspace, all []intake.Written) {
	for _, one := range all {
		names := strings.Join(one.Files[:min(maxPlaces, len(one.Files))], ", ")
		if len(one.Files) > maxPlaces {
			names += ", …"
		}
		w.env.Say("%s in %s; to review them: reverie import --from %s", plural.Count(one.Items, "statement", "statements"), term.Visible(names), one.From)
	}
}

// importStore takes in, or lists, what the store of a tool has.
func importStore(ctx context.Context, w *workspace, tool string, found foreign.Found, o importOptions) error {
	if o.store.probe {
		if o.store.filter != "" {
			found.Items = intake.Matching(found.Items, o.store.filter)
		}
		if found.Bad > 0 {
			w.tellIntake(intake.Unreadable{Tool: tool, N: found.Bad})
		}
		return tellStore(w, tool, found)
	}
	res, err := w.intake().Store(ctx, tool, found, o.intake())
	if err != nil {
		return err
	}
	if !o.dryRun {
		afterImport(ctx, w)
	}
	tellWaiting(w, res.Result, o)
	if err := tellTaken(w, res, o); err != nil || res.Unkept == nil {
		return err
	}
	return exit.New(exit.Failed, fmt.Errorf("import --from %s: imported, but without a record of its memories: %w", tool, res.Unkept),
		"fix this and import again; otherwise, memories removed from that store are not proposed for retirement")
}

// tellTaken is the answer for one store.
func tellTaken(w *workspace, a intake.StoreResult, o importOptions) error {
	if w.env.JSON {
		return w.env.Object(a)
	}
	rest := ""
	if a.Others > 0 {
		rest += fmt.Sprintf(", %d of other projects", a.Others)
	}
	if a.Left > 0 {
		rest += fmt.Sprintf(", %d not in force there", a.Left)
	}
	w.env.Print("%s: %s%s\n", a.From, importLine(a.Result, o), rest)
	return nil
}

// tellStore lists what a store has, and writes nothing.
func tellStore(w *workspace, tool string, f foreign.Found) error {
	if !w.env.JSON {
		w.env.Print("%s: %s at %s, %d of other projects, %d not in force there\n", tool, plural.Count(len(f.Items), "item", "items"), term.Visible(f.Place), f.Others, f.Left)
	}
	for _, i := range f.Items {
		text, _ := w.Scanner.Text(i.Text)
		kind, _ := w.Scanner.Text(i.Kind)
		key, _ := w.Scanner.Text(cmp.Or(i.Key, i.At))
		short, _ := intake.Shorten(strings.Join(strings.Fields(text.String()), " "), previewChars)
		if !w.env.JSON {
			at := ""
			if i.At != "" {
				at = term.Visible(key.String()) + "  "
			}
			w.env.Print("  %s%s  %s\n", at, term.Visible(kind.String()), term.Visible(short))
			continue
		}
		one := itemJSON{From: tool, Key: key.String(), Kind: kind.String(), Text: short, Private: i.User}
		if !i.Created.IsZero() {
			one.Created = &i.Created
		}
		if err := w.env.Object(one); err != nil {
			return err
		}
	}
	return nil
}
