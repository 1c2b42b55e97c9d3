package cmd

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// pastSessions puts sessions of Claude Code about dir into the home of this test, each with words
// of its own.
func pastSessions(t *testing.T, dir string, n int) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(home, ".claude", "projects", "-x")
	if err := os.MkdirAll(store, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("5f0c1e2a-0000-4000-8000-%012d", i)
		at := time.Date(2026, 10, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339)
		text := fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"%s","cwd":%q,"timestamp":"%s","message":{"role":"user","content":"From now on always keep the file part%c%c.txt in its folder, never in another."}}`+"\n", i, id, dir, at, 'a'+i/26, 'a'+i%26)
		if err := os.WriteFile(filepath.Join(store, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A learn killed between sessions loses nothing: the next one continues, and the final memory is
// the same as without a kill.
func TestKilledLearnGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const sessions = 120
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	pastSessions(t, r.Dir, sessions)
	kills := 0
	for range 3 {
		cmd := exec.Command("reverie", "-q", "learn")
		cmd.Dir = r.Dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			cmd.Wait()
			close(ended)
		}()
		before := journal(r)
		for watching := true; watching; {
			select {
			case <-ended:
				watching = false
			default:
				if journal(r) != before { // a batch more is kept
					cmd.Process.Kill()
					<-ended
					kills++
					watching = false
				}
			}
		}
	}
	reverie(t, r.Dir, "learn")
	known := strings.Count(reverie(t, r.Dir, "list"), "\n") + strings.Count(reverie(t, r.Dir, "review", "--json"), "\n")
	if known != sessions {
		t.Errorf("%d of %d sessions are known after %d kills", known, sessions, kills)
	}
	if again := reverie(t, r.Dir, "learn", "--json"); !strings.Contains(again, `"new":0`) || !strings.Contains(again, `"reflections":0`) {
		t.Errorf("after the end: %s", again)
	}
	if kills == 0 {
		t.Error("no learn lived long enough to be killed")
	}
}

// journal returns the tip of the journal, or "" before it exists.
func journal(r *testrepo.Repo) string {
	cmd := exec.Command("git", "rev-parse", "-q", "--verify", clone.JournalRef)
	cmd.Dir = r.Dir
	out, _ := cmd.Output()
	return string(out)
}

// However much is learned at once, it is told on one screen.
func TestLearnIsToldOnOneScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	pastSessions(t, r.Dir, 60)
	cmd := exec.Command("reverie", "learn")
	cmd.Dir = r.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if lines := strings.Count(string(out), "\n"); lines > 24 || !strings.Contains(string(out), "and 52 more: reverie list") {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}

// openCode puts a session and that of its sub-agent into OpenCode's database, and leaves it open.
func openCode(t *testing.T, dir string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	store := filepath.Join(home, "data", "opencode")
	if err := os.MkdirAll(store, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(store, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"PRAGMA journal_mode=wal",
		"CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text, time_created integer, time_updated integer)",
		"CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)",
		"INSERT INTO session VALUES('ses_1',NULL,'" + dir + "','one','1.18.33',1795187155887,1795187170760), ('ses_2','ses_1','" + dir + "','two','1.18.33',1795187155888,1795187170760)",
		`INSERT INTO message VALUES('msg_1','ses_1',1,'{"role":"user","time":{"created":1795187156212}}'), ('msg_2','ses_2',2,'{"role":"user","time":{"created":1795187156213}}')`,
		`INSERT INTO part VALUES('prt_1','msg_1','ses_1','{"type":"text","text":"From now on always pin the versions of tools."}'), ('prt_2','msg_2','ses_2','{"type":"text","text":"From now on always write release notes in English."}')`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Sessions come out of OpenCode's database while OpenCode has it open. A sub-agent's session keeps
// its parent, and its prompt counts as no person's words.
func TestLearnReadsOpenCodesDatabase(t *testing.T) {
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	openCode(t, r.Dir)
	got := reverie(t, r.Dir, "learn")
	if !strings.Contains(got, "ersions of tools") || strings.Contains(got, "elease notes") {
		t.Errorf("learned %s", got)
	}
	if sessions := reverie(t, r.Dir, "sessions", "--json"); !strings.Contains(sessions, `"name":"opencode/ses_1"`) || !strings.Contains(sessions, `"parent":"ses_1"`) {
		t.Errorf("%s", sessions)
	}
}

// A commit's look reads OpenCode's database too. A worker killed in a look loses nothing: later
// ones continue, and learn each session once.
func TestKilledLookGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const sessions = 120
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	reverie(t, r.Dir, "init", "--git-hooks")
	openCode(t, r.Dir)
	pastSessions(t, r.Dir, sessions)
	home, _ := os.UserHomeDir()
	old, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "-x", "*.jsonl"))
	if err != nil || len(old) != sessions {
		t.Fatal(len(old), err)
	}
	ended := time.Now().Add(-time.Hour)
	for _, path := range old {
		if err := os.Chtimes(path, ended, ended); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(r.Dir, ".git", "reverie")
	kept := func() int {
		all, _ := filepath.Glob(filepath.Join(state, "sessions", "claude-*"))
		return len(all)
	}
	r.Run("commit", "--allow-empty", "-qm", "two")
	kills, killed := 0, 0
	for wait := time.Now().Add(time.Minute); time.Now().Before(wait) && kills < 3 && kept() < sessions; time.Sleep(time.Millisecond) {
		s := job.ReadStatus(state, job.Worker)
		if s == nil || s.PID == killed || s.Doing != "look" || kept() < 20*(kills+1) {
			continue
		}
		job.Kill(s.PID)
		kills, killed = kills+1, s.PID
		for job.Running(state, job.Worker, time.Now()) != nil { // it is about to die
			time.Sleep(time.Millisecond)
		}
		past := time.Now().Add(-time.Minute) // eleven minutes pass
		if err := os.Chtimes(filepath.Join(state, hooks.LookFile), past, past); err != nil {
			t.Fatal(err)
		}
		reverie(t, r.Dir, "status")
	}
	if kills == 0 {
		t.Fatal("no look lived long enough to be killed")
	}
	for wait := time.Now().Add(time.Minute); time.Now().Before(wait); time.Sleep(10 * time.Millisecond) {
		_, asked := os.Lstat(filepath.Join(state, hooks.LookFile))
		if asked != nil && !job.Requested(state, job.Worker) && job.Running(state, job.Worker, time.Now()) == nil {
			break
		}
	}
	known := reverie(t, r.Dir, "list") + reverie(t, r.Dir, "review", "--json")
	if got := strings.Count(known, "\n"); got != sessions+1 || !strings.Contains(known, "ersions of tools") {
		t.Errorf("%d of %d statements are known", got, sessions+1)
	}
	if again := reverie(t, r.Dir, "learn", "--json"); !strings.Contains(again, `"reflections":0`) || strings.Contains(again, `"new":1`) {
		t.Errorf("after the end: %s", again)
	}
}
