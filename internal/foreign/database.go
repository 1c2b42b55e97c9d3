package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/reverie-memory/reverie/internal/sqlite"
)

// readTables calls start and then fn on one state of the database at path. It repeats both if that
// state was a mixture.
func readTables(ctx context.Context, path string, start func(), fn func(*sqlite.Snapshot) error) error {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, ErrNone)
	} else if err != nil {
		return err
	} else if !info.Mode().IsRegular() { // a pipe would be waited for
		return fmt.Errorf("%s is no file: %w", path, ErrFormat)
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

// table returns a table, which must have these columns.
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
