package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// maxPlaces bounds the places that one line of progress names.
const maxPlaces = 3

// tellStated says which places kept candidates from being proposed.
func tellStated(w *workspace, places []string) {
	if len(places) == 0 {
		return
	}
	named := slices.Compact(slices.Sorted(slices.Values(places)))
	more := ""
	if len(named) > maxPlaces {
		named, more = named[:maxPlaces], ", …"
	}
	stage(w, false, "written  %s already: %s", plural.Count(len(places), "candidate is", "candidates are"), term.Visible(strings.Join(named, ", ")+more))
}

// noteStated notes for hooks which memories the work tree states.
func noteStated(ctx context.Context, w *workspace) {
	if err := brief.NoteStated(ctx, w.Reader); err != nil && w.env.Verbose {
		w.env.Warn("written: %v", err)
	}
}
