package cmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A commit's subject and trailers may be of any length and hold any character but NUL.
func TestLogJSONTellsEveryCommit(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "init")
	subject := strings.Repeat("long ", 20_000) + "\x1f end"
	tip := strings.TrimSpace(r.Run("commit-tree", "-p", "reverie/memory", "-m", subject, "-m", "Reverie-Op: edit\nReverie-Session: a/1\nReverie-Session: b/2", "reverie/memory^{tree}"))
	r.Run("update-ref", "refs/heads/reverie/memory", tip)
	lines := strings.Split(strings.TrimSpace(answer(t, r.Dir, "", "log")), "\n")
	if len(lines) != 3 { // two are of init
		t.Fatalf("%d lines, want 3", len(lines))
	}
	var got struct {
		Commit, Subject, Op string
		Sessions            []string
	}
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Commit != tip || got.Subject != subject || got.Op != "edit" || strings.Join(got.Sessions, " ") != "a/1 b/2" {
		t.Errorf("got %.300q", lines[0])
	}
}

// A failure is reported in git's words.
func TestLogJSONFailsInTheWordsOfGit(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "init")
	missing := strings.Repeat("1", 40)
	tree := strings.TrimSpace(r.Run("rev-parse", "reverie/memory^{tree}"))
	r.Write("commit", "tree "+tree+"\nparent "+missing+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n")
	bad := strings.TrimSpace(r.Run("hash-object", "-t", "commit", "-w", "commit"))
	r.Run("update-ref", "refs/heads/reverie/memory", bad)
	code, talk := fails(t, r.Dir, "log")
	if code != exit.Failed || !strings.Contains(talk, missing) {
		t.Errorf("exit code %d, says %q", code, talk)
	}
}
