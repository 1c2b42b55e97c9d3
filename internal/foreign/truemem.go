package foreign

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/sqlite"
)

// readTrueMem reads true-mem's database of all projects. A memory with a folder belongs to that
// project; one without is about the user.
func readTrueMem(ctx context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(filepath.Join(q.Home, ".true-mem", "memory.db"))
	fresh := *f
	return readTables(ctx, f.Place, func() { *f = fresh }, func(s *sqlite.Snapshot) error {
		t, err := table(s, "memory_units", "id", "classification", "summary", "project_scope", "created_at", "tags", "status")
		if err != nil {
			return err
		}
		var read budget
		return t.Scan(func(r sqlite.Row) error {
			scope := r.Get("project_scope").Text()
			switch status := r.Get("status").Text(); {
			case status != "active" && status != "pinned": // decayed or forgotten
				f.Left++
				return nil
			case scope != "" && !q.holds(scope):
				f.Others++
				return nil
			}
			text := r.Get("summary").Text()
			f.add(Item{Key: r.Get("id").Text(), Text: text, Kind: r.Get("classification").Text(), Tags: tags(r.Get("tags").Text()),
				Created: moment(r.Get("created_at").Text()), User: scope == ""})
			return read.spend(len(text))
		})
	})
}

// tags parses a JSON array, or a list separated by commas.
func tags(text string) []string {
	var out []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &out) == nil {
		return out
	}
	return list(text)
}
