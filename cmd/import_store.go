package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// defaultChars bounds one item of a store, unless --max-length says otherwise.
const defaultChars = 4000

// storeOptions are those of an import from another tool's store.
type storeOptions struct {
	probe  bool
	filter string // only what has this in it, in any case
	most   int    // characters of one statement with its body
	remote bool   // a server may be of another machine
}

// runImportStores imports from the store of one tool, or of each that there is: each in a commit of
// its own, so that one that fails leaves what the others bring, and what it brought before.
func runImportStores(ctx context.Context, w *workspace, place string, o importOptions) error {
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
	if place != "" && o.from != "opencode-mem" {
		var err error
		if place, err = filepath.Abs(w.env.path(place)); err != nil {
			return err
		}
	}
	return w.intake().ReadStores(ctx, intake.Stores{From: o.from, Place: place, Remote: o.store.remote}, func(tool string, found foreign.Found) error {
		return importStore(ctx, w, tool, found, o)
	})
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
		return tellStore(w, tool, found, w.intake().List(tool, found, o.store.filter))
	}
	res, err := w.intake().Store(ctx, tool, found, o.intake())
	if err != nil {
		return err
	}
	if !o.dryRun {
		afterImport(ctx, w)
	}
	defer tellWaiting(w, res.Result, o)
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
func tellStore(w *workspace, tool string, f foreign.Found, items []intake.Item) error {
	if !w.env.JSON {
		w.env.Print("%s: %s at %s, %d of other projects, %d not in force there\n", tool, plural.Count(len(items), "item", "items"), term.Visible(f.Place), f.Others, f.Left)
	}
	return rows(w.env, items, itself, func(i intake.Item) {
		at := ""
		if i.At != "" {
			at = term.Visible(i.At) + "  "
		}
		w.env.Print("  %s%s  %s\n", at, term.Visible(i.Kind), term.Visible(i.Text))
	})
}
