package foreign

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/sqlite"
)

// readLCM reads opencode-lcm's database: each session's topmost summaries, and its resume note.
// Messages and artifacts, from which they were made, are not knowledge and are skipped.
func readLCM(ctx context.Context, q Query, f *Found) error {
	dir := ""
	if len(q.Dirs) > 0 {
		dir = q.Dirs[0]
	}
	f.Place, f.Usual = q.place(filepath.Join(dir, ".lcm", "lcm.db"))
	fresh := *f
	return readTables(ctx, f.Place, func() { *f = fresh }, func(s *sqlite.Snapshot) error {
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
		wanted := func(session string) bool {
			if elsewhere[session] {
				f.Others++
			} else if gone[session] {
				f.Left++
			}
			return !elsewhere[session] && !gone[session]
		}
		roots, err := rootNodes(s)
		if err != nil {
			return err
		}
		nodes, err := table(s, "summary_nodes", "node_id", "session_id", "summary_text", "created_at")
		if err != nil {
			return err
		}
		var read budget
		err = nodes.Scan(func(r sqlite.Row) error {
			id, session := r.Get("node_id").Text(), r.Get("session_id").Text()
			if roots[id] && wanted(session) {
				text := r.Get("summary_text").Text()
				if err := read.spend(len(text)); err != nil {
					return err
				}
				f.add(Item{Key: id, Text: text, Kind: "note", Tags: []string{"summary"}, Created: milliseconds(r.Get("created_at").Int())})
			}
			return nil
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
			if wanted(session) {
				text := r.Get("note").Text()
				if err := read.spend(len(text)); err != nil {
					return err
				}
				f.add(Item{Key: "resume/" + session, Text: text, Kind: "note", Tags: []string{"resume"}, Created: milliseconds(r.Get("updated_at").Int())})
			}
			return nil
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
