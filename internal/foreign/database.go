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

// readTables calls fn on one state of the database at f.Place. It repeats the call, on f as it was
// before, if that state was a mixture.
func readTables(ctx context.Context, f *Found, fn func(*sqlite.Snapshot) error) error {
	path, fresh := f.Place, *f
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
		*f = fresh
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

// readTrueMem reads true-mem's database of all projects. A memory with a folder belongs to that
// project; one without is about the user.
func readTrueMem(ctx context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(filepath.Join(q.Home, ".true-mem", "memory.db"))
	return readTables(ctx, f, func(s *sqlite.Snapshot) error {
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

// readLCM reads opencode-lcm's database: each session's topmost summaries, and its resume note.
// Messages and artifacts, from which they were made, are not knowledge and are skipped.
func readLCM(ctx context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(filepath.Join(q.top(), ".lcm", "lcm.db"))
	return readTables(ctx, f, func(s *sqlite.Snapshot) error {
		sessions, err := table(s, "sessions", "session_id", "session_directory", "deleted")
		if err != nil {
			return err
		}
		elsewhere, gone := map[string]bool{}, map[string]bool{}
		err = sessions.Scan(func(r sqlite.Row) error {
			id, at := r.Get("session_id").Text(), r.Get("session_directory").Text()
			elsewhere[id], gone[id] = at != "" && !q.holds(at), r.Get("deleted").Int() != 0
			return nil
		})
		if err != nil {
			return err
		}
		var read budget
		take := func(session string, i Item) error {
			switch i.Kind = "note"; {
			case elsewhere[session]:
				f.Others++
			case gone[session]:
				f.Left++
			default:
				if err := read.spend(len(i.Text)); err != nil {
					return err
				}
				f.add(i)
			}
			return nil
		}
		roots, err := rootNodes(s)
		if err != nil {
			return err
		}
		nodes, err := table(s, "summary_nodes", "node_id", "session_id", "summary_text", "created_at")
		if err != nil {
			return err
		}
		err = nodes.Scan(func(r sqlite.Row) error {
			id := r.Get("node_id").Text()
			if !roots[id] {
				return nil
			}
			return take(r.Get("session_id").Text(), Item{Key: id, Text: r.Get("summary_text").Text(), Tags: []string{"summary"}, Created: milliseconds(r.Get("created_at").Int())})
		})
		if err != nil {
			return err
		}
		resumes, err := table(s, "resumes", "session_id", "note", "updated_at")
		if err != nil {
			return err
		}
		return resumes.Scan(func(r sqlite.Row) error {
			session := r.Get("session_id").Text()
			return take(session, Item{Key: "resume/" + session, Text: r.Get("note").Text(), Tags: []string{"resume"}, Created: milliseconds(r.Get("updated_at").Int())})
		})
	})
}

// rootNodes returns the ids of the summaries that no other summary contains.
func rootNodes(s *sqlite.Snapshot) (map[string]bool, error) {
	state, err := table(s, "summary_state", "root_node_ids_json")
	if err != nil {
		return nil, err
	}
	roots := map[string]bool{}
	return roots, state.Scan(func(r sqlite.Row) error {
		var ids []string
		if json.Unmarshal([]byte(r.Get("root_node_ids_json").Text()), &ids) != nil {
			return ErrFormat
		}
		for _, id := range ids {
			roots[id] = true
		}
		return nil
	})
}
