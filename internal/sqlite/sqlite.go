// Package sqlite reads tables of an SQLite database that another program owns and may be writing.
// It opens files read-only, takes no lock and creates no file beside the database, unlike the
// library, which would leave a -shm and a -wal. A process that never uses it pays nothing at
// startup.
//
// It reads what rows need: rowid tables, indexes on plain columns, overflow pages, and the
// write-ahead log. It refuses all other features. Begin with Open; all reads happen inside DB.Read.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNotDatabase is returned for a file that is not an SQLite database in UTF-8.
	ErrNotDatabase = errors.New("not an SQLite database in UTF-8")
	// ErrDamaged is returned when pages contradict each other although no process wrote meanwhile.
	ErrDamaged = errors.New("damaged SQLite database")
	// ErrBusy is returned when the database changed during each attempt to read it.
	ErrBusy = errors.New("the database is being written all the time")
	// ErrNoTable is returned for a missing table.
	ErrNoTable = errors.New("no such table")
	// ErrUnknown is returned for a table or a file with features that this package does not read.
	ErrUnknown = errors.New("a kind of SQLite data that is not read")
)

// DB is a database. It is not safe for concurrent use.
type DB struct {
	path string
	snap *Snapshot
}

// Open checks that path is a database.
func Open(path string) (*DB, error) {
	db := &DB{path: path}
	if err := db.Read(context.Background(), func(*Snapshot) error { return nil }); err != nil {
		return nil, err
	}
	return db, nil
}

// Close ends reading.
func (db *DB) Close() {
	if db.snap != nil {
		db.snap.close()
		db.snap = nil
	}
}

// tries bounds the attempts of Read; the wait between two grows each time.
const tries = 12

// Read calls fn on one state of the database. It repeats the call on a newer state if the database
// changed, so that fn may have read a mixture. fn keeps nothing of an earlier call. Several calls
// of Read may see the same state.
func (db *DB) Read(ctx context.Context, fn func(*Snapshot) error) error {
	for try := range tries {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := error(nil)
		if db.snap == nil {
			db.snap, err = open(db.path)
		}
		if db.snap != nil {
			if err == nil {
				err = fn(db.snap)
			}
			if db.snap.stands() {
				return err
			}
			db.Close()
		} else if !errors.Is(err, errChanging) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond << min(try, 7)):
		}
	}
	return fmt.Errorf("read %s: %w", db.path, ErrBusy)
}
