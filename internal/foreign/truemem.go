package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/sqlite"
)

// readTables calls fn on one state of the database at path, and again, after start, if that state was a mixture.
func readTables(ctx context.Context, path string, start func(), fn func(*sqlite.Snapshot) error) error {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, ErrNone)
	} else if err != nil {
		return err
	} else if info.IsDir() {
		return fmt.Errorf("%s is a folder: %w", path, ErrFormat)
	}
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Read(ctx, func(s *sqlite.Snapshot) error {
		start()
		return fn(s)
	})
	if errors.Is(err, sqlite.ErrNoTable) {
		return fmt.Errorf("%s %w: %w", path, ErrFormat, err)
	}
	return err
}

// table is a table that has these columns.
func table(s *sqlite.Snapshot, name string, columns ...string) (*sqlite.Table, error) {
	t, err := s.Table(name)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if !slices.Contains(t.Columns, c) {
			return nil, fmt.Errorf("table %s has no column %s: %w", name, c, ErrFormat)
		}
	}
	return t, nil
}

// readTrueMem reads true-mem's database. It holds all projects: a memory of one has the project's folder, one without is about
// the user.
func readTrueMem(ctx context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(filepath.Join(q.Home, ".true-mem", "memory.db"))
	fresh := *f
	return readTables(ctx, f.Place, func() { *f = fresh }, func(s *sqlite.Snapshot) error {
		t, err := table(s, "memory_units", "id", "classification", "summary", "project_scope", "created_at", "tags", "status")
		if err != nil {
			return err
		}
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
			f.add(Item{Key: r.Get("id").Text(), Text: r.Get("summary").Text(), Kind: r.Get("classification").Text(), Tags: tags(r.Get("tags").Text()),
				Created: moment(r.Get("created_at").Text()), User: scope == ""})
			return nil
		})
	})
}

// tags are written as an array in JSON, or parted by commas.
func tags(text string) []string {
	var out []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &out) == nil {
		return out
	}
	return list(text)
}
