package reflect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// generic returns a transcript of the generic form with the given messages of a person.
func generic(id string, says ...string) string {
	var messages []string
	for i, s := range says {
		messages = append(messages, fmt.Sprintf(`{"index":%d,"role":"user","content":%q}`, i, s))
	}
	name, _ := json.Marshal(id)
	return fmt.Sprintf(`{"agent":"demo","started_at":"2026-11-02T10:00:00Z","metadata":{"opencode_session_id":%s},"messages":[%s]}`+"\n", name, strings.Join(messages, ","))
}

func ingest(t *testing.T, s Sessions, text string) []Kept {
	t.Helper()
	in, err := s.Ingest(context.Background(), strings.NewReader(text), transcript.Auto, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in.Sessions
}

func TestIngestTellsWhatChanged(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	steps := []struct {
		name, text string
		want       Change
		events     int // kept afterwards
	}{
		{"first", generic("a", "one", "two"), New, 2},
		{"again", generic("a", "one", "two"), Unchanged, 2},
		{"longer", generic("a", "one", "two", "three"), Grown, 3},
		{"only its beginning", generic("a", "one", "two"), Unchanged, 3},
		{"another history", generic("a", "one", "zwei"), Grown, 2},
	}
	for _, step := range steps {
		kept := ingest(t, s, step.text)
		if len(kept) != 1 || kept[0].Change != step.want {
			t.Errorf("%s: %v", step.name, kept)
		}
		got, events, err := s.Load("demo/a")
		if err != nil || len(events) != step.events || got.Events != step.events {
			t.Errorf("%s: %d events, error %v, want %d", step.name, len(events), err, step.events)
		}
	}
}

func TestSessionsAreRedactedAndPrivate(t *testing.T) {
	s := Sessions{Dir: filepath.Join(t.TempDir(), "sessions"), Scanner: redact.New("blue-7-whale-frobnicator")}
	kept := ingest(t, s, generic("a", "the key is blue-7-whale-frobnicator, use it"))
	if kept[0].Redacted.Found != 1 {
		t.Errorf("found %d secrets, want 1", kept[0].Redacted.Found)
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || strings.Contains(string(text), "whale") {
		t.Errorf("kept: %s, error %v", text, err)
	}
	if info, _ := os.Stat(files[0]); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

// An agent that reads a file in pages has a part of a key in each event. No part is kept.
func TestKeyOverEventsIsNotKept(t *testing.T) {
	s := Sessions{Dir: filepath.Join(t.TempDir(), "sessions")}
	const line = "q7ZkT2mWx9RbLf4HsVc8Zd1Ny6Kj3Pg5Ua0EoXtIwQ7rMzBhCvF2SlDqGeYp4Kx9"
	ingest(t, s, generic("a", "     1→-----BEGIN RSA PRIV"+"ATE KEY-----", "now the second page", "     2→"+line))
	if _, err := s.Add(transcript.Session{Client: "demo", ID: "a"}, []transcript.Event{{Kind: transcript.User, Text: "     3→" + line[20:]}}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(text), line[:12]) || strings.Contains(string(text), line[24:36]) || !strings.Contains(string(text), "second page") {
			t.Errorf("kept: %s, error %v", text, err)
		}
	}
	if len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// A session's id comes from outside. It never leads out of the folder.
func TestIDsStayInTheFolder(t *testing.T) {
	top := t.TempDir()
	s := Sessions{Dir: filepath.Join(top, "deep", "sessions")}
	for _, id := range []string{"../../evil", "/etc/evil", `..\evil`, ".hidden", "a\x00b", strings.Repeat("x", 500)} {
		ingest(t, s, generic(id, "one"))
	}
	err := filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && filepath.Dir(path) != s.Dir {
			t.Errorf("written outside: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 6 {
		t.Errorf("%d sessions, error %v, want 6", len(all), err)
	}
}

// A secret in an id would become a file's name, even one that no longer looks like a secret without
// its punctuation or its end.
func TestSecretInAnIDIsTakenOut(t *testing.T) {
	long := strings.Repeat("s", 92) + "-blue-7-whale-frobnicator"
	for name, text := range map[string]string{
		"a value":           generic("s-blue-7-whale-frobnicator", "one"),
		"a value to be cut": generic(long, "one"),
		"a URL":             generic("postgres://ann:whaleQ9x3@db/x", "one"),
		"a sub-agent": `{"type":"user","isSidechain":true,"agentId":"postgres://ann:whaleQ9x3@db/x","sessionId":"password=whaleQ9x3","uuid":"u1","timestamp":"2026-11-02T10:00:00Z",` +
			`"cwd":"/r","version":"2.1.0","message":{"role":"user","content":"one"}}` + "\n",
	} {
		s := Sessions{Dir: t.TempDir(), Scanner: redact.New("blue-7-whale-frobnicator")}
		kept := ingest(t, s, text)
		files, _ := os.ReadDir(s.Dir)
		if len(files) != 1 || strings.Contains(files[0].Name()+kept[0].ID+kept[0].Parent, "whale") {
			t.Errorf("%s: files %v, id %s of %s", name, files, kept[0].ID, kept[0].Parent)
		}
		if _, _, err := s.Load(kept[0].Name()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again := ingest(t, s, text); again[0].Change != Unchanged {
			t.Errorf("%s: a second time it is %s", name, again[0].Change)
		}
	}
}

func TestTornSessionFileHidesNoOther(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	ingest(t, s, generic("a", "one"))
	if err := os.WriteFile(filepath.Join(s.Dir, "demo-torn.jsonl"), []byte(`{"client":"de`), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.List()
	if len(all) != 1 || err == nil || !strings.Contains(err.Error(), "demo-torn.jsonl:1") {
		t.Errorf("%d sessions, error %v", len(all), err)
	}
	if _, _, err := s.Load("a"); err != nil {
		t.Errorf("the other one: %v", err)
	}
	if _, _, err := s.Load("nosuch"); !errors.Is(err, ErrNoSession) {
		t.Errorf("error %v, want ErrNoSession", err)
	}
}

// A folder's name may hold characters of a glob pattern.
func TestFolderNameIsNoPattern(t *testing.T) {
	s := Sessions{Dir: filepath.Join(t.TempDir(), "my [draft] repo", "sessions")}
	ingest(t, s, generic("a", "one"))
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("%d sessions, error %v", len(all), err)
	}
	if n, err := s.Expire(time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d expired, error %v", n, err)
	}
}

// The first line alone gives the number and the hash of the events, even in a very long file.
func TestListReadsFirstLinesOnly(t *testing.T) {
	s := Sessions{Dir: t.TempDir(), Scanner: redact.New("blue-7-whale-frobnicator")}
	ingest(t, s, generic("a", "one", "two", "say blue-7-whale-frobnicator"))
	kept, events, err := s.Load("demo/a")
	if err != nil || kept.Hash == "" || kept.Hash != Study(kept.Session, events).Hash {
		t.Fatalf("hash %q, error %v, want that of the reflection", kept.Hash, err)
	}
	data, err := os.ReadFile(s.path("demo", "a"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	if err := os.WriteFile(s.path("demo", "a"), []byte(first+"\nnone of this is read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Events != 3 || all[0].Hash != kept.Hash {
		t.Errorf("listed %v, error %v", all, err)
	}
}

// Files without data about their events are counted, and a session's full name reads no other file.
func TestFilesOfOlderVersionsAreRead(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	ingest(t, s, generic("a", "one", "two"))
	data, err := os.ReadFile(s.path("demo", "a"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "\n")
	if err := os.WriteFile(s.path("demo", "a"), []byte(`{"client":"demo","id":"a"}`+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Events != 2 || all[0].Hash != "" {
		t.Errorf("listed %v, error %v", all, err)
	}
	if kept, events, err := s.Load("demo/a"); err != nil || kept.Events != 2 || len(events) != 2 {
		t.Errorf("%d events, error %v", len(events), err)
	}
	if kept := ingest(t, s, generic("a", "one", "two")); kept[0].Change != Unchanged {
		t.Errorf("taken in again: %s", kept[0].Change)
	}
}

func TestExpireRemovesWhatAKilledIngestLeft(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	ingest(t, s, generic("a", "one"))
	left, busy := filepath.Join(s.Dir, ".session-123"), filepath.Join(s.Dir, ".session-456")
	for _, name := range []string{left, busy} {
		if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(left, past, past); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Expire(time.Now().Add(-30 * 24 * time.Hour)); n != 0 || err != nil {
		t.Errorf("%d expired, error %v", n, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one: %v", err)
	}
	if _, err := os.Stat(busy); err != nil {
		t.Errorf("the one being written: %v", err)
	}
}

func TestExpireRemovesWhatIsOld(t *testing.T) {
	s := Sessions{Dir: t.TempDir()}
	ingest(t, s, generic("old", "one")+generic("new", "one"))
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(s.path("demo", "old"), past, past); err != nil {
		t.Fatal(err)
	}
	n, err := s.Expire(time.Now().Add(-24 * time.Hour))
	all, _ := s.List()
	if n != 1 || err != nil || len(all) != 1 || all[0].ID != "new" {
		t.Errorf("removed %d, error %v, left %v", n, err, all)
	}
}

// An agent that accessed its session's transcript may have written later text that looks typed.
func TestWordsAfterATouchedTranscriptAreNotTyped(t *testing.T) {
	const id = "8e081e35-999d"
	for command, want := range map[string]transcript.Origin{
		"cat notes.md": transcript.Typed,
		"echo x >> ~/.copilot/session-state/" + id + "/events.jsonl": transcript.Delegated,
		"echo x >> ~/.claude/projects/-w/" + id + ".jsonl":           transcript.Delegated,
	} {
		arguments, _ := json.Marshal(map[string]string{"command": command})
		record := `{"type":%q,"data":%s,"id":"e","timestamp":"2026-11-02T10:00:00Z"}` + "\n"
		text := fmt.Sprintf(record, "session.start", `{"sessionId":"`+id+`"}`) +
			fmt.Sprintf(record, "tool.execution_start", `{"toolCallId":"c","toolName":"bash","arguments":`+string(arguments)+`}`) +
			fmt.Sprintf(record, "user.message", `{"content":"always push"}`)
		s := Sessions{Dir: t.TempDir()}
		_, events, err := s.Load(ingest(t, s, text)[0].Name())
		if err != nil {
			t.Fatal(err)
		}
		if got := events[len(events)-1].Origin; got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// Read gives the sessions that Load gives after Ingest, and leaves no file.
func TestReadGivesWhatIngestKeeps(t *testing.T) {
	folder := t.TempDir()
	s := Sessions{Dir: filepath.Join(folder, "sessions"), Scanner: redact.New("swordfish-77-blue")}
	for _, name := range []string{"claude-code.jsonl", "codex.jsonl"} {
		text, err := os.ReadFile(filepath.Join("..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.ReplaceAll(string(text), "connection refused", "swordfish-77-blue")
		var head transcript.Session
		var events []transcript.Event
		err = s.Read(t.Context(), strings.NewReader(whole), transcript.Auto, func(h transcript.Session, e []transcript.Event) error {
			head, events = h, e
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Fatalf("%v %v", left, err)
		}
		kept := ingest(t, s, whole)
		loaded, want, err := s.Load(kept[0].Name())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(loaded.Session, head) + cmp.Diff(want, events); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if all := fmt.Sprint(events); strings.Contains(all, "swordfish") || !strings.Contains(all, "[redacted:literal]") {
			t.Errorf("%s: secrets in %.400s", name, all)
		}
		if err := os.RemoveAll(s.Dir); err != nil {
			t.Fatal(err)
		}
	}
}
