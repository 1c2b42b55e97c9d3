package past

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/sqlite"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// OpenCode keeps all sessions of a user in opencode.db, and those of a channel other than the
// released one in opencode-<channel>.db: a row for each session, message and part of a message.

// ErrNoSession is returned when no database of OpenCode has the session asked for.
var ErrNoSession = errors.New("OpenCode has no such session")

// SchemaError is returned for a database whose tables are not as this version knows them.
type SchemaError struct {
	File    string
	Version string // of the OpenCode that last wrote it, if it can be told
	Missing string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: OpenCode %s keeps sessions in a way that this version cannot read (%s)", e.File, cmp.Or(e.Version, "of an unknown version"), e.Missing)
}

// openCodeTables lists the tables that are read, and their columns. A session's parent_id, version
// and model are read if they are there.
var openCodeTables = []struct {
	name    string
	columns []string
}{
	{"session", []string{"id", "directory", "title", "time_created", "time_updated"}},
	{"message", []string{"id", "session_id", "time_created", "data"}},
	{"part", []string{"id", "message_id", "session_id", "data"}},
}

func (f *finder) openCode(path string) {
	found, err := openCodeSessions(f.ctx, path, func(s Session) bool {
		return !s.Changed.Before(f.since) && f.trees.hold(s.Dir)
	})
	if err != nil {
		f.fail(err)
	}
	f.found = append(f.found, found...)
}

// openCodeSessions are the sessions of a database that ours accepts; none if it is not there.
func openCodeSessions(ctx context.Context, path string, ours func(Session) bool) (found []Session, err error) {
	db, err := sqlite.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.Read(ctx, func(s *sqlite.Snapshot) error {
		found = nil
		t, err := tables(s, path)
		if err != nil {
			return err
		}
		return t["session"].Scan(func(r sqlite.Row) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			s := Session{
				Client: string(transcript.OpenCode), ID: r.Get("id").Text(), Parent: r.Get("parent_id").Text(), Dir: r.Get("directory").Text(),
				Started: millis(r.Get("time_created")), Changed: millis(r.Get("time_updated")), File: path,
			}
			if s.ID != "" && ours(s) {
				found = append(found, s)
			}
			return nil
		})
	})
	return found, err
}

func millis(v sqlite.Value) time.Time {
	if v.Int() <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(v.Int())
}

// tables finds the tables that hold sessions, and refuses those that lack a column.
func tables(s *sqlite.Snapshot, path string) (map[string]*sqlite.Table, error) {
	out := map[string]*sqlite.Table{}
	for _, table := range openCodeTables {
		t, err := s.Table(table.name)
		if errors.Is(err, sqlite.ErrNoTable) || errors.Is(err, sqlite.ErrUnknown) {
			return nil, &SchemaError{path, version(out["session"]), err.Error()}
		}
		if err != nil {
			return nil, err
		}
		out[table.name] = t
		for _, column := range table.columns {
			if !slices.Contains(t.Columns, column) {
				return nil, &SchemaError{path, version(out["session"]), "table " + table.name + " has no column " + column}
			}
		}
	}
	return out, nil
}

// version is that of the OpenCode that began the latest session.
func version(t *sqlite.Table) string {
	newest, latest := "", int64(-1)
	if t != nil {
		_ = t.Scan(func(r sqlite.Row) error {
			if at := r.Get("time_created").Int(); at > latest && r.Get("version").Text() != "" {
				newest, latest = r.Get("version").Text(), at
			}
			return nil
		})
	}
	return newest
}

// OpenCode finds one session by its id, also one that is going on: Open then gives what is written
// of it now. The error wraps ErrNoSession where no database has it, and is a *SchemaError where one
// cannot be read.
func OpenCode(ctx context.Context, h Homes, id string) (Session, error) {
	var failed error
	for _, store := range h.Stores() {
		if store.Client != string(transcript.OpenCode) {
			continue
		}
		found, err := openCodeSessions(ctx, store.Path, func(s Session) bool { return s.ID == id })
		if len(found) > 0 {
			return found[0], nil
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		failed = ErrNoSession
	}
	return Session{}, fmt.Errorf("session %s: %w", id, failed)
}

// export writes a session as OpenCode's export does, message by message.
type export struct {
	ctx  context.Context
	db   *sqlite.DB
	path string
	id   string
}

func exportOf(ctx context.Context, path, id string) (io.ReadCloser, error) {
	db, err := sqlite.Open(path)
	if err != nil {
		return nil, err
	}
	e := &export{ctx: ctx, db: db, path: path, id: id}
	head, err := e.head()
	if err != nil {
		db.Close()
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		defer db.Close()
		out := bufio.NewWriterSize(w, 64<<10)
		_, err := out.Write(head)
		if err == nil {
			err = e.messages(out)
		}
		w.CloseWithError(errors.Join(err, out.Flush()))
	}()
	return r, nil
}

func (e *export) read(fn func(t map[string]*sqlite.Table) error) error {
	return e.db.Read(e.ctx, func(s *sqlite.Snapshot) error {
		t, err := tables(s, e.path)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

// head is the export up to its messages.
func (e *export) head() (head []byte, err error) {
	type times struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated"`
	}
	var info struct {
		ID        string          `json:"id"`
		ParentID  string          `json:"parentID,omitempty"`
		Directory string          `json:"directory"`
		Title     string          `json:"title"`
		Version   string          `json:"version,omitempty"`
		Model     json.RawMessage `json:"model,omitempty"`
		Time      times           `json:"time"`
	}
	err = e.read(func(t map[string]*sqlite.Table) error {
		return t["session"].Where("id", e.id, func(r sqlite.Row) error {
			info.ID, info.ParentID, info.Directory = e.id, r.Get("parent_id").Text(), r.Get("directory").Text()
			info.Title, info.Version = r.Get("title").Text(), r.Get("version").Text()
			info.Time = times{r.Get("time_created").Int(), r.Get("time_updated").Int()}
			info.Model = nil
			if model := r.Get("model").Bytes(); json.Valid(model) {
				info.Model = slices.Clone(model)
			}
			return nil
		})
	})
	if err == nil && info.ID == "" {
		err = ErrNoSession
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", e.id, err)
	}
	head, err = json.Marshal(info)
	return append(append([]byte(`{"info":`), head...), `,"messages":[`...), err
}

// message locates a message.
type message struct {
	id   string
	row  int64
	time int64
}

func (e *export) messages(out *bufio.Writer) error {
	var all []message
	err := e.read(func(t map[string]*sqlite.Table) error {
		all = nil
		return t["message"].Where("session_id", e.id, func(r sqlite.Row) error {
			all = append(all, message{r.Get("id").Text(), r.ID(), r.Get("time_created").Int()})
			return e.ctx.Err()
		})
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b message) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.id, b.id)) })
	sep := ""
	for _, m := range all {
		text, err := e.message(m)
		if err != nil {
			return err
		}
		if text == nil {
			continue // taken back meanwhile
		}
		out.WriteString(sep)
		sep = ","
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	_, err = out.WriteString("]}\n")
	return err
}

// message is a message with its parts; nil if it is gone.
func (e *export) message(m message) (text []byte, err error) {
	type part struct{ id, data string }
	err = e.read(func(t map[string]*sqlite.Table) error {
		text = nil
		var parts []part
		r, found, err := t["message"].Row(m.row)
		if err != nil || !found || r.Get("id").Text() != m.id {
			return err
		}
		text = append([]byte(`{"info":`), with(r.Get("data").Text(), "id", m.id, "sessionID", e.id)...)
		err = t["part"].Where("message_id", m.id, func(r sqlite.Row) error {
			part := part{id: r.Get("id").Text()}
			part.data = with(r.Get("data").Text(), "id", part.id, "messageID", m.id, "sessionID", e.id)
			parts = append(parts, part)
			return e.ctx.Err()
		})
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.id, b.id) })
		text = append(text, `,"parts":[`...)
		for i, p := range parts {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(text, p.data...)
		}
		text = append(text, `]}`...)
		return err
	})
	return text, err
}

// with adds names and column values to the JSON object of a row. It replaces anything but an object
// with an empty one, so that one bad row spoils no other.
func with(object string, pairs ...string) string {
	var b strings.Builder
	sep := byte('{')
	for i := 0; i < len(pairs); i += 2 {
		b.WriteByte(sep)
		name, _ := json.Marshal(pairs[i])
		value, _ := json.Marshal(pairs[i+1])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
		sep = ','
	}
	object = strings.TrimSpace(object)
	if strings.HasPrefix(object, "{") && json.Valid([]byte(object)) {
		if rest := strings.TrimSpace(object[1:]); rest != "}" {
			b.WriteByte(',')
			b.WriteString(rest)
			return b.String()
		}
	}
	b.WriteByte('}')
	return b.String()
}
