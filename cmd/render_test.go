package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// A memory that expires after the block was written does not make the block look edited.
func TestExpiryIsNoEdit(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "remember", "Soon gone", "-k", "fact")
	file := strings.TrimSpace(r.Run("ls-tree", "-r", "--name-only", "reverie/memory", "memories"))
	tree := filepath.Join(t.TempDir(), "tree")
	r.Run("worktree", "add", "-q", tree, "reverie/memory")
	path := filepath.Join(tree, filepath.FromSlash(file))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("kind = "), []byte("expires = 2099-01-01\nkind = "), 1)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	r.Run("-C", tree, "commit", "-qam", "expires")
	at := func(year int, args ...string) int {
		var talk bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &talk, Err: &talk, Width: 80}, Now: func() time.Time { return time.Date(year, 6, 1, 0, 0, 0, 999, time.UTC) }}
		code := Run(context.Background(), env, append([]string{"reverie", "-C", r.Dir, "render", "agents-md"}, args...))
		t.Logf("%d %v: %d %s", year, args, code, &talk)
		return code
	}
	agents := filepath.Join(r.Dir, "AGENTS.md")
	if code := at(2098); code != exit.Done {
		t.Fatalf("exit code %d", code)
	}
	before, _ := os.ReadFile(agents)
	if !bytes.Contains(before, []byte("Soon gone")) {
		t.Fatalf("wrote %s", before)
	}
	if code := at(2100, "--check"); code != exit.Done {
		t.Errorf("--check after the expiry: exit code %d", code)
	}
	at(2100)
	if after, _ := os.ReadFile(agents); bytes.Contains(after, []byte("Soon gone")) {
		t.Errorf("what expired is still written: %s", after)
	}
	if code := at(2101, "--check"); code != exit.Done {
		t.Errorf("--check of a block without what expired: exit code %d", code)
	}
}

// Edits made while the question is open are kept.
func TestUninstallKeepsLateEdits(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "render", "agents-md")
	agents := filepath.Join(r.Dir, "AGENTS.md")
	edit := func() {
		f, err := os.OpenFile(agents, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("Mine.\n")
		f.Close()
	}
	var talk bytes.Buffer
	env := &Env{Terminal: term.Terminal{In: &waited{strings.NewReader("y\n"), edit}, Out: &talk, Err: &talk, Interactive: true, Width: 80}, Now: time.Now}
	if code := Run(context.Background(), env, []string{"reverie", "-C", r.Dir, "uninstall"}); code != exit.Done {
		t.Fatalf("exit code %d\n%s", code, &talk)
	}
	if got, _ := os.ReadFile(agents); string(got) != "Mine.\n" {
		t.Errorf("left %q", got)
	}
}
