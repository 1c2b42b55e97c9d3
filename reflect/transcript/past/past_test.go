package past

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/reverie-memory/reverie/internal/sqlite"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func homes(home string) Homes {
	return Homes{
		transcript.Claude: {filepath.Join(home, ".claude")}, transcript.Codex: {filepath.Join(home, ".codex")},
		transcript.Gemini: {filepath.Join(home, ".gemini")}, transcript.Copilot: {filepath.Join(home, ".copilot")},
		transcript.OpenCode: {filepath.Join(home, ".local", "share", "opencode")},
	}
}

func claudeText(id, dir string) string {
	return `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-02T10:00:00Z","sessionId":"` + id + `"}` + "\n" +
		`{"type":"user","uuid":"u-` + id + `","sessionId":"` + id + `","cwd":` + quote(dir) + `,"timestamp":"2026-11-02T10:00:01Z","message":{"role":"user","content":"Run the tests."}}` + "\n"
}

func codexText(id, dir string) string {
	return `{"timestamp":"2026-11-03T10:00:00Z","type":"session_meta","payload":{"id":"` + id + `","cwd":` + quote(dir) + `,"source":"exec","base_instructions":"` + strings.Repeat("x", 40<<10) + `"}}` + "\n" +
		`{"timestamp":"2026-11-03T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Run the tests."}}` + "\n"
}

func geminiText(id, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return `{"sessionId":"` + id + `","projectHash":"` + hex.EncodeToString(sum[:]) + `","startTime":"2026-11-04T10:00:00Z","lastUpdated":"2026-11-04T10:00:00Z","kind":"main"}` + "\n" +
		`{"id":"m1","timestamp":"2026-11-04T10:00:01Z","type":"user","content":[{"text":"Run the tests."}]}` + "\n"
}

func copilotText(id, dir string) string {
	return `{"type":"session.start","data":{"sessionId":"` + id + `","startTime":"2026-11-05T10:00:00Z","context":{"cwd":` + quote(dir) + `}},"id":"e1","timestamp":"2026-11-05T10:00:00Z","parentId":null}` + "\n" +
		`{"type":"user.message","data":{"content":"Run the tests."},"id":"e2","timestamp":"2026-11-05T10:00:01Z","parentId":"e1"}` + "\n"
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// openCodeStore makes a database as OpenCode does, and leaves it open.
func openCodeStore(t testing.TB, path string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	do(t, db, "PRAGMA journal_mode=wal")
	do(t, db, "CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL,"+
		" `cost` real DEFAULT 0 NOT NULL, `model` text, `time_created` integer NOT NULL, `time_updated` integer NOT NULL)")
	do(t, db, "CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL,"+
		" CONSTRAINT `fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE)")
	do(t, db, "CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `data` text NOT NULL)")
	do(t, db, "CREATE INDEX `message_session_idx` ON `message` (`session_id`,`time_created`,`id`)")
	do(t, db, "CREATE INDEX `part_message_idx` ON `part` (`message_id`,`id`)")
	return db
}

func do(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// openCodeSession puts an export into a database, row by row, as OpenCode has it.
func openCodeSession(t testing.TB, db *sql.DB, export []byte) (id string) {
	t.Helper()
	var e struct {
		Info struct {
			ID, ParentID, Directory, Title, Version string
			Model                                   json.RawMessage
			Time                                    struct{ Created, Updated int64 }
		}
		Messages []struct {
			Info  map[string]json.RawMessage
			Parts []map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(export, &e); err != nil {
		t.Fatal(err)
	}
	i := e.Info
	parent, model := any(i.ParentID), any(string(i.Model))
	if i.ParentID == "" {
		parent = nil
	}
	if i.Model == nil {
		model = nil
	}
	do(t, db, "INSERT INTO session(id,parent_id,directory,title,version,model,time_created,time_updated) VALUES(?,?,?,?,?,?,?,?)", i.ID, parent, i.Directory, i.Title, i.Version, model, i.Time.Created, i.Time.Updated)
	for _, m := range e.Messages {
		var mid, pid string
		var at struct{ Created int64 }
		if err := errors.Join(json.Unmarshal(m.Info["id"], &mid), json.Unmarshal(m.Info["time"], &at)); err != nil {
			t.Fatal(err)
		}
		do(t, db, "INSERT INTO message VALUES(?,?,?,?,?)", mid, i.ID, at.Created, at.Created, without(m.Info))
		for _, p := range m.Parts {
			if err := json.Unmarshal(p["id"], &pid); err != nil {
				t.Fatal(err)
			}
			do(t, db, "INSERT INTO part VALUES(?,?,?,?)", pid, mid, i.ID, without(p))
		}
	}
	return i.ID
}

// without is an object as JSON, without what stands in columns.
func without(m map[string]json.RawMessage) string {
	rest := maps.Clone(m)
	for _, name := range []string{"id", "sessionID", "messageID"} {
		delete(rest, name)
	}
	b, _ := json.Marshal(rest)
	return string(b)
}

// found returns the result of Find, one "client id parent" each, and its errors.
func found(t testing.TB, h Homes, q Query) (out []string, errs []error) {
	t.Helper()
	all, errs := Find(t.Context(), h, q)
	for _, s := range all {
		out = append(out, strings.TrimSpace(s.Client+" "+s.ID+" "+s.Parent))
	}
	slices.Sort(out)
	return out, errs
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFindsTheSessionsOfOneRepository(t *testing.T) {
	dir := t.TempDir()
	home, repo, other := filepath.Join(dir, "home"), filepath.Join(dir, "work", "repo"), filepath.Join(dir, "work", "repository")
	vendored := filepath.Join(repo, "third", "party")
	for _, d := range []string{filepath.Join(repo, ".git"), filepath.Join(repo, "web"), filepath.Join(other, ".git"), filepath.Join(vendored, ".git"), filepath.Join(vendored, "src")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(repo, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "work", "deleted-worktree")
	h := homes(home)

	projects := filepath.Join(h[transcript.Claude][0], "projects")
	write(t, filepath.Join(projects, "-repo", "top.jsonl"), claudeText("top", repo))
	write(t, filepath.Join(projects, "-repo", "below.jsonl"), claudeText("below", filepath.Join(repo, "web")))
	write(t, filepath.Join(projects, "-repo", "linked.jsonl"), claudeText("linked", filepath.Join(dir, "link", "web")))
	write(t, filepath.Join(projects, "-repo", "gonedir.jsonl"), claudeText("gonedir", filepath.Join(repo, "was", "here")))
	write(t, filepath.Join(projects, "-gone", "tree.jsonl"), claudeText("tree", gone))
	// its name begins alike
	write(t, filepath.Join(projects, "-repo", "longer.jsonl"), claudeText("longer", other))
	// another repository below
	write(t, filepath.Join(projects, "-repo", "vendored.jsonl"), claudeText("vendored", filepath.Join(vendored, "src")))
	write(t, filepath.Join(projects, "-repo", "relative.jsonl"), claudeText("relative", "web"))
	write(t, filepath.Join(projects, "-repo", "top", "subagents", "agent-a1.jsonl"),
		`{"type":"user","uuid":"x","sessionId":"top","agentId":"a1","isSidechain":true,"cwd":`+quote(repo)+`,"message":{"role":"user","content":"Look."}}`+"\n")
	write(t, filepath.Join(projects, "-repo", "image.jsonl"),
		`{"type":"user","uuid":"x","sessionId":"image","message":{"role":"user","content":"`+strings.Repeat("A", 3<<20)+`"},"cwd":`+quote(repo)+"}\n")
	write(t, filepath.Join(projects, "-repo", "torn.jsonl"), `{"type":"user","uuid":"x","cwd":"`+repo[:3])
	write(t, filepath.Join(projects, "-repo", "empty.jsonl"), "")
	write(t, filepath.Join(projects, "-repo", "notes.txt"), claudeText("notes", repo))
	write(t, filepath.Join(projects, "a file"), "")

	write(t, filepath.Join(h[transcript.Codex][0], "sessions", "2026", "11", "03", "rollout-1.jsonl"), codexText("c1", repo))
	write(t, filepath.Join(h[transcript.Codex][0], "sessions", "2026", "11", "03", "rollout-2.jsonl"), codexText("c2", other))
	write(t, filepath.Join(h[transcript.Codex][0], "archived_sessions", "rollout-3.jsonl"), codexText("c3", repo))
	write(t, filepath.Join(h[transcript.Codex][0], "sessions", "2026", "11", "03", "rollout-4.jsonl"),
		`{"type":"session_meta","payload":{"id":"c4","cwd":`+quote(repo)+`,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"c1"}}}}}`+"\n")

	write(t, filepath.Join(h[transcript.Gemini][0], "projects.json"), `{"projects":{`+quote(filepath.Join(repo, "web"))+`:"web",`+quote(other)+`:"other"}}`)
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "repo", "chats", "session-1.jsonl"), geminiText("g1", repo))
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "web", "chats", "session-2.jsonl"), geminiText("g2", filepath.Join(repo, "web")))
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "other", "chats", "session-3.jsonl"), geminiText("g3", other))
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "old", "chats", "session-4.json"), "{\n  \"sessionId\": \"g4\",\n"+strings.TrimPrefix(strings.SplitN(geminiText("g4", repo), ",\"lastUpdated", 2)[0], `{"sessionId":"g4",`)+",\n\"messages\":[]}")
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "cache", "chats", "torn.jsonl"), `{"sessionId":"g5","proj`)

	write(t, filepath.Join(h[transcript.Copilot][0], "session-state", "p1", "events.jsonl"), copilotText("p1", repo))
	write(t, filepath.Join(h[transcript.Copilot][0], "session-state", "p1", "other.jsonl"), copilotText("no", repo))
	write(t, filepath.Join(h[transcript.Copilot][0], "session-state", "p2", "events.jsonl"), copilotText("p2", other))

	db := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode.db"))
	for id, in := range map[string]string{"ses_1": repo, "ses_2": other, "ses_3": filepath.Join(repo, "web")} {
		do(t, db, "INSERT INTO session(id,parent_id,directory,title,version,time_created,time_updated) VALUES(?,?,?,'t','1.18.33',1,2)", id, map[bool]any{true: "ses_1"}[id == "ses_3"], in)
	}
	dev := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode-dev.db"))
	do(t, dev, "INSERT INTO session(id,directory,title,version,time_created,time_updated) VALUES('ses_dev',?,'t','2',1,2)", repo)

	got, errs := found(t, h, Query{Dirs: []string{repo, gone}})
	equal(t, got, []string{
		"claude top", "claude below", "claude linked", "claude gonedir", "claude tree", "claude agent-a1 top", "claude image",
		"codex c1", "codex c3", "codex c4 c1", "gemini g1", "gemini g2", "gemini g4", "copilot p1", "opencode ses_1", "opencode ses_3 ses_1", "opencode ses_dev",
	})
	if len(errs) > 0 {
		t.Errorf("%v", errs)
	}

	t.Run("asked through a link", func(t *testing.T) {
		viaLink, _ := found(t, h, Query{Dirs: []string{filepath.Join(dir, "link"), gone}})
		equal(t, viaLink, got)
	})
	t.Run("some agents", func(t *testing.T) {
		some, _ := found(t, h, Query{Dirs: []string{repo}, Agents: []string{"gemini"}})
		equal(t, some, []string{"gemini g1", "gemini g2", "gemini g4"})
	})
	t.Run("since", func(t *testing.T) {
		old := time.Now().Add(-48 * time.Hour)
		os.Chtimes(filepath.Join(projects, "-repo", "top.jsonl"), old, old)
		since, _ := found(t, h, Query{Dirs: []string{repo}, Since: time.Now().Add(-time.Hour), Agents: []string{"claude", "opencode"}})
		equal(t, since, []string{"claude below", "claude linked", "claude gonedir", "claude agent-a1 top", "claude image"})
	})
	t.Run("no store at all", func(t *testing.T) {
		none, errs := found(t, homes(filepath.Join(dir, "nobody")), Query{Dirs: []string{repo}})
		if len(none)+len(errs) > 0 {
			t.Errorf("%v %v", none, errs)
		}
	})
}

func TestFindsAidersHistory(t *testing.T) {
	here, other := t.TempDir(), t.TempDir()
	file := write(t, filepath.Join(here, ".aider.chat.history.md"), "# aider chat started at 2026-01-31 15:04:05\n")
	write(t, filepath.Join(other, ".aider.chat.history.md"), "# aider chat started at 2026-01-31 15:04:05\n")
	all, failed := Find(context.Background(), Homes{transcript.Aider: {here, t.TempDir()}}, Query{Dirs: []string{here}})
	if len(failed) > 0 || len(all) != 1 || all[0].File != file || all[0].Client != "aider" || all[0].Dir != here {
		t.Errorf("found %+v, %v", all, failed)
	}
	if all, _ := Find(context.Background(), Homes{transcript.Aider: {here}}, Query{Since: time.Now().Add(time.Hour)}); len(all) > 0 {
		t.Errorf("found %+v, which did not change since", all)
	}
}

func TestOldestFirst(t *testing.T) {
	home := t.TempDir()
	h := homes(home)
	write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "r", "chats", "a.jsonl"), geminiText("g", "/r"))
	write(t, filepath.Join(h[transcript.Codex][0], "sessions", "2026", "11", "03", "rollout-1.jsonl"), codexText("c", "/r"))
	write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "x.jsonl"), claudeText("x", "/r"))
	all, errs := Find(t.Context(), h, Query{Dirs: []string{"/r"}})
	var order []string
	for _, s := range all {
		order = append(order, s.Client)
	}
	if d := cmp.Diff([]string{"claude", "codex", "gemini"}, order); d != "" || len(errs) > 0 {
		t.Error(d, errs)
	}
}

// decoded is a transcript as the pipeline sees it.
func decoded(t *testing.T, r io.Reader) (heads []transcript.Session, events []transcript.Event) {
	t.Helper()
	stats, err := transcript.Decode(context.Background(), r, transcript.Auto, transcript.Sink{
		Session: func(transcript.Session) error { return nil },
		Event:   func(e transcript.Event) error { events = append(events, e); return nil },
		Done:    func(s transcript.Session) error { heads = append(heads, s); return nil },
		Bad:     func(line int, err error) { t.Errorf("line %d: %v", line, err) },
	})
	if err != nil || stats.Format != transcript.OpenCode {
		t.Errorf("%v: %v", stats.Format, err)
	}
	return heads, events
}

func TestOpenCodeReadsLikeItsExport(t *testing.T) {
	h := homes(t.TempDir())
	db := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode.db"))
	names, err := filepath.Glob("../testdata/opencode-export-*.json")
	if err != nil || len(names) < 4 {
		t.Fatalf("%v %v", names, err)
	}
	for _, name := range names {
		export, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		id := openCodeSession(t, db, export)
		s, err := OpenCode(t.Context(), h, id)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads, events := decoded(t, r)
		r.Close()
		wantHeads, wantEvents := decoded(t, strings.NewReader(string(export)))
		if d := cmp.Diff(wantEvents, events); d != "" || len(events) == 0 {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(wantHeads, heads); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if _, err := OpenCode(t.Context(), h, "ses_none"); !errors.Is(err, ErrNoSession) {
		t.Errorf("%v", err)
	}
}

// A session that goes on while it is read is read as it was, or as it is.
func TestOpenCodeIsReadWhileItWrites(t *testing.T) {
	h := homes(t.TempDir())
	db := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode.db"))
	export, err := os.ReadFile("../testdata/opencode-export-fix-add.json")
	if err != nil {
		t.Fatal(err)
	}
	id := openCodeSession(t, db, export)
	s, err := OpenCode(t.Context(), h, id)
	if err != nil {
		t.Fatal(err)
	}
	_, before := decoded(t, strings.NewReader(string(export)))
	for i := range 20 {
		do(t, db, "INSERT INTO message VALUES(?,?,?,0,?)", fmt.Sprintf("msg_z%02d", i), id, int64(1e15)+int64(i), `{"role":"user","time":{"created":1795187159011}}`)
		do(t, db, "INSERT INTO part VALUES(?,?,?,?)", fmt.Sprintf("prt_z%02d", i), fmt.Sprintf("msg_z%02d", i), id, `{"type":"text","text":"More of it."}`)
		r, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			do(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		_, events := decoded(t, r)
		r.Close()
		if len(events) != len(before)+i+1 {
			t.Fatalf("%d events after %d more, want %d", len(events), i+1, len(before)+i+1)
		}
	}
}

func TestOpenCodeOfAnotherTimeIsPassedOver(t *testing.T) {
	h := homes(t.TempDir())
	db := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode.db"))
	do(t, db, "INSERT INTO session(id,directory,title,version,time_created,time_updated) VALUES('a','/r','t','3.1.0',1,2)")
	do(t, db, "ALTER TABLE message RENAME COLUMN data TO body")
	write(t, filepath.Join(h[transcript.OpenCode][0], "opencode-beta.db"), strings.Repeat("no database ", 100))
	write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "x.jsonl"), claudeText("x", "/r"))
	got, errs := found(t, h, Query{Dirs: []string{"/r"}})
	equal(t, got, []string{"claude x"})
	var schema *SchemaError
	err := errors.Join(errs...)
	if !errors.As(err, &schema) || schema.Version != "3.1.0" || !strings.Contains(schema.Error(), "data") || !errors.Is(err, sqlite.ErrNotDatabase) {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeReadHidesNothing(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root every file can be read; a folder in the place of a file stands in")
	}
	h := homes(t.TempDir())
	write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "x.jsonl"), claudeText("x", "/r"))
	write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "garbage.jsonl"), "\x00\xff\n{]\n")
	if err := os.MkdirAll(filepath.Join(h[transcript.Claude][0], "projects", "-r", "folder.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h[transcript.Codex][0], "sessions"), "a file where a folder was")
	locked := write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "locked.jsonl"), claudeText("locked", "/elsewhere"))
	os.Chmod(locked, 0)
	got, errs := found(t, h, Query{Dirs: []string{"/r"}})
	equal(t, got, []string{"claude x"})
	if os.Getuid() != 0 && (len(errs) != 1 || !errors.Is(errs[0], os.ErrPermission)) {
		t.Errorf("%v", errs)
	}
}

// The stores are as they were after everything was found and read: names, bytes and times, also
// while OpenCode has its database open.
func TestStoresAreNotTouched(t *testing.T) {
	for _, open := range []bool{true, false} {
		home := t.TempDir()
		h := homes(home)
		write(t, filepath.Join(h[transcript.Claude][0], "projects", "-r", "x.jsonl"), claudeText("x", "/r"))
		write(t, filepath.Join(h[transcript.Codex][0], "sessions", "2026", "11", "03", "rollout-1.jsonl"), codexText("c", "/r"))
		write(t, filepath.Join(h[transcript.Gemini][0], "tmp", "r", "chats", "a.jsonl"), geminiText("g", "/r"))
		db := openCodeStore(t, filepath.Join(h[transcript.OpenCode][0], "opencode.db"))
		do(t, db, "INSERT INTO session(id,directory,title,version,time_created,time_updated) VALUES('ses_1','/r','t','1.18.33',1,2)")
		if !open {
			db.Close()
		}
		before := state(t, home)
		all, errs := Find(t.Context(), h, Query{Dirs: []string{"/r"}})
		if len(all) != 4 || len(errs) > 0 {
			t.Fatalf("%v %v", all, errs)
		}
		for _, s := range all {
			r, err := s.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
			r.Close()
		}
		if d := cmp.Diff(before, state(t, home)); d != "" {
			t.Errorf("open %v: %s", open, d)
		}
	}
}

// state is every name below dir with its size, time of change and bytes.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(path) // of a folder: nothing
		out[path] = fmt.Sprintf("%v %d %v %x", info.Mode(), info.Size(), info.ModTime(), sha256.Sum256(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func BenchmarkFindAmong10000(b *testing.B) {
	h := homes(b.TempDir())
	for i := range 10000 {
		dir := fmt.Sprintf("/src/p%d", i%100)
		write(b, filepath.Join(h[transcript.Claude][0], "projects", fmt.Sprint("-p", i%100), fmt.Sprint(i, ".jsonl")), claudeText(fmt.Sprint(i), dir)+strings.Repeat(`{"type":"user"}`+"\n", 500))
	}
	for b.Loop() {
		all, errs := Find(b.Context(), h, Query{Dirs: []string{"/src/p7"}})
		if len(all) != 100 || len(errs) > 0 {
			b.Fatalf("%d found, %v", len(all), errs)
		}
	}
}
