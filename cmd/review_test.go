package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// atTerminal runs a command as if a person typed the given lines at a terminal, and returns
// everything that was shown.
func atTerminal(t *testing.T, dir, typed string, args ...string) string {
	t.Helper()
	env, screen := terminal(dir, typed)
	if code := Run(context.Background(), env, append([]string{"reverie", "-C", dir}, args...)); code != exit.Done {
		t.Fatalf("reverie %q: exit code %d\n%s", args, code, screen)
	}
	return screen.String()
}

// terminal is a person's terminal in a folder, and what it shows.
func terminal(dir, typed string) (*Env, *bytes.Buffer) {
	var screen bytes.Buffer
	return &Env{Terminal: term.Terminal{In: strings.NewReader(typed), Out: &screen, Err: &screen, Width: 80, Interactive: true}, Dir: dir, Now: time.Now}, &screen
}

// waiting3 is a repository in which three statements wait.
func waiting3(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Run("commit", "--allow-empty", "-qm", "one")
	lines := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(lines, []byte("{\"text\":\"Alpha\"}\n{\"text\":\"Beta\"}\n{\"text\":\"Gamma\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t, r.Dir, "", "import", lines)
	return r
}

func TestReviewDoesAtOnceWhatIsSaid(t *testing.T) {
	r := waiting3(t)
	screen := atTerminal(t, r.Dir, "?\ny\nn\ns\n", "review")
	for _, want := range []string{"(1/3) [y,n,e,u,s,q,?]", "y accept", "(3/3)", "accepted 1, rejected 1, left 1"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen does not show %q:\n%s", want, screen)
		}
	}
	// help asks again below it, without the operation
	if strings.Count(screen, "(1/3)") != 2 || strings.Count(screen, "Alpha") != 2 {
		t.Errorf("after help:\n%s", screen)
	}
	if got := answer(t, r.Dir, "", "list"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "Alpha") {
		t.Errorf("known: %s", got)
	}
	if got := answer(t, r.Dir, "", "review"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "Gamma") {
		t.Errorf("waiting: %s", got)
	}
}

// Undo goes back, decision by decision, and the operation is asked about again.
func TestReviewUndoes(t *testing.T) {
	r := waiting3(t)
	screen := atTerminal(t, r.Dir, "y\nn\nu\nu\nn\nq\n", "review")
	for _, want := range []string{"undone: reject: beta", "undone: remember: alpha", "accepted 0, rejected 1, left 2"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen does not show %q:\n%s", want, screen)
		}
	}
	if got := answer(t, r.Dir, "", "list"); got != "" {
		t.Errorf("known: %s", got)
	}
	if got := answer(t, r.Dir, "", "review"); strings.Contains(got, "Alpha") || !strings.Contains(got, "Beta") || !strings.Contains(got, "Gamma") {
		t.Errorf("waiting: %s", got)
	}
}

func TestReviewEndsWithItsTerminal(t *testing.T) {
	r := waiting3(t)
	screen := atTerminal(t, r.Dir, "y\n", "review")
	if !strings.Contains(screen, "accepted 1, rejected 0, left 2") {
		t.Error(screen)
	}
}

func TestReviewQuits(t *testing.T) {
	r := waiting3(t)
	if screen := atTerminal(t, r.Dir, "q\ny\ny\n", "review"); !strings.Contains(screen, "accepted 0, rejected 0, left 3") {
		t.Error(screen)
	}
}

// An operation that another process decided meanwhile stays decided.
func TestReviewDecidesOnWhatStillWaits(t *testing.T) {
	r := waiting3(t)
	var screen bytes.Buffer
	env := &Env{Terminal: term.Terminal{In: &typist{lines: []string{"y\n", "q\n"}, before: func() { answer(t, r.Dir, "", "reject", "--all") }}, Out: &screen, Err: &screen, Width: 80, Interactive: true}, Dir: r.Dir, Now: time.Now}
	if code := Run(context.Background(), env, []string{"reverie", "-C", r.Dir, "review"}); code != exit.Done {
		t.Fatalf("exit code %d\n%s", code, &screen)
	}
	if got := answer(t, r.Dir, "", "list"); got != "" {
		t.Errorf("rejected elsewhere, and yet known: %s", got)
	}
	if !strings.Contains(screen.String(), "it was decided meanwhile") {
		t.Error(screen.String())
	}
}

// typist types one line for each read, after doing something before the first.
type typist struct {
	lines  []string
	before func()
}

func (p *typist) Read(b []byte) (int, error) {
	if p.before != nil {
		p.before()
		p.before = nil
	}
	if len(p.lines) == 0 {
		return 0, os.ErrClosed
	}
	n := copy(b, p.lines[0])
	p.lines = p.lines[1:]
	return n, nil
}

// The editor sees the file and what it writes is kept; a spoilt file is offered again.
func TestEditWithAnEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	r := waiting3(t)
	editor := filepath.Join(t.TempDir(), "editor")
	script := "#!/bin/sh\nif grep -q Spoilt \"$1\"; then sed -i.bak 's/Spoilt/\"note\"/; s/^Alpha$/Alpha, edited/' \"$1\"; else sed -i.bak 's/^kind = .*/kind = Spoilt/' \"$1\"; fi\n"
	if err := os.WriteFile(editor, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_EDITOR", editor)
	screen := atTerminal(t, r.Dir, "e\ny\ny\nq\n", "review")
	if !strings.Contains(screen, "Edit again") {
		t.Errorf("a spoilt file was not offered again:\n%s", screen)
	}
	if got := answer(t, r.Dir, "", "list"); !strings.Contains(got, "Alpha, edited") {
		t.Errorf("known: %s\n%s", got, screen)
	}
}
