package dossier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Text is one of the texts of a contested memory.
type Text struct {
	Text   string    `json:"text"`
	Body   string    `json:"body"`
	Author string    `json:"author,omitempty"` // of its newest line, with the time
	Time   time.Time `json:"time,omitzero"`
}

// Texts returns the texts of a contested memory. An author is empty if the file does not hold the
// statement as a line, as where agents get an older version, or if git cannot tell.
func Texts(ctx context.Context, r *reader.Reader, m record.Memory) (out []Text) {
	newest := map[string]history.Line{} // by statement
	statement := ""
	byLine := func(l history.Line) error {
		switch {
		case slices.ContainsFunc(m.Texts(), func(v record.Variant) bool { return v.Text == l.Text }):
			statement = l.Text
		case l.Text == "+++" || record.Conflict(l.Text) > 0:
			statement = ""
		}
		if statement != "" && strings.TrimSpace(l.Text) != "" && !l.Time.Before(newest[statement].Time) {
			newest[statement] = l
		}
		return nil
	}
	if ref, path, err := reader.Place(ctx, r, m.ID); err == nil {
		_ = history.Blame(ctx, r.Repo, ref, path[0], byLine)
	}
	for _, v := range m.Texts() {
		by := newest[v.Text]
		out = append(out, Text{v.Text, v.Body, by.Author, by.Time})
	}
	return out
}
