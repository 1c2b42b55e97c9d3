package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// at is a workspace in a folder at a time.
func at(t *testing.T, dir string, now time.Time) *workspace {
	t.Helper()
	env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: new(bytes.Buffer), Err: new(bytes.Buffer), Width: 80}, Dir: dir, Now: func() time.Time { return now }}
	w, err := env.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A block that was prepared is given though git's objects are gone, and not when anything it is
// made from moved.
func TestPreparedContextReadsNoMemories(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "-k", "constraint", "Never push to main")
	w := at(t, r.Dir, noon)
	ask := brief.Request{For: brief.Start, Session: "codex/s1", Dir: r.Dir, Record: true}
	want, err := w.context(ctx, ask)
	if err != nil || !strings.Contains(want, "Never push") {
		t.Fatal(want, err)
	}
	ready := func() (string, bool) {
		repo, err := git.Find(ctx, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.UserFile(), clone.SettingsFile(filepath.Join(repo.CommonDir, "reverie")))
		if err != nil {
			t.Fatal(err)
		}
		in, found, err := brief.Prepared(ctx, brief.Ledger{Repo: repo, Scanner: w.Scanner}, c, ask, noon)
		if err != nil {
			t.Error(err)
		}
		return in.Text, found
	}
	if err := os.Rename(filepath.Join(r.Dir, ".git/objects"), filepath.Join(r.Dir, ".git/gone")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.Dir, ".git/objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, found := ready(); !found || got != want {
		t.Errorf("found %v: %q", found, got)
	}
	os.Remove(filepath.Join(r.Dir, ".git/objects"))
	if err := os.Rename(filepath.Join(r.Dir, ".git/gone"), filepath.Join(r.Dir, ".git/objects")); err != nil {
		t.Fatal(err)
	}
	if n := len((brief.Ledger{Repo: w.Repo, Scanner: w.Scanner}).Session("codex/s1")); n != 2 {
		t.Errorf("%d injections are noted, want 2", n)
	}
	points := 0
	point := func(ref string) func() { // at a commit that nothing else points at
		return func() {
			points++
			r.Run("update-ref", ref, r.Run("commit-tree", "-m", fmt.Sprint(points), "HEAD^{tree}"))
		}
	}
	for _, move := range []struct {
		what string
		do   func()
	}{
		{"the memory", func() { answer(t, r.Dir, "", "remember", "Two") }},
		{"the journal", func() { answer(t, r.Dir, "", "remember", "-k", "preference", "Three") }},
		{"HEAD", func() { r.Write("more", "x"); r.Commit("more") }},
		{"the branch", func() { r.Run("checkout", "-qb", "other") }},
		{"the settings", func() { answer(t, r.Dir, "", "config", "context.budget", "900") }},
		{"what is trusted", func() { answer(t, r.Dir, "", "config", "trust.authors", `["eve@example.org"]`) }},
		{"approvals", func() {
			if err := os.WriteFile(filepath.Join(w.State, trust.ApprovedFile), []byte(`{"approved":{"0123456789abcdef":"x"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"AGENTS.md", func() { answer(t, r.Dir, "", "render", "agents-md") }},
		{"main", point("refs/heads/main")},
		{"origin's main", point("refs/remotes/origin/main")},
		{"git's setting of the default branch", func() { r.Run("branch", "trunk"); r.Run("config", "init.defaultBranch", "trunk") }},
		{"the default branch by that setting", point("refs/heads/trunk")},
		{"origin's HEAD", func() {
			point("refs/remotes/origin/next")()
			r.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")
		}},
		{"the default branch by origin's HEAD", point("refs/remotes/origin/next")},
	} {
		if _, err := at(t, r.Dir, noon).context(ctx, ask); err != nil {
			t.Fatal(err)
		}
		if _, found := ready(); !found {
			t.Errorf("before %s moved nothing was prepared", move.what)
		}
		move.do()
		if _, found := ready(); found {
			t.Errorf("%s moved, and what was prepared before is given", move.what)
		}
	}
}

// A session that goes on has its block in its transcript: it is given again when it changed, or was
// lost in a summary.
func TestResumedSessionIsNotGivenTheSameAgain(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "One")
	ask := brief.Request{For: brief.Start, Session: "claude/s1", Resumed: true, Record: true}
	give := func(ask brief.Request) bool {
		w := at(t, r.Dir, noon)
		text, err := w.context(ctx, ask)
		if err != nil {
			t.Fatal(err)
		}
		return text != ""
	}
	compacted := ask
	compacted.For = brief.Compacted
	anew := ask
	anew.Resumed = false
	for i, step := range []struct {
		ask  brief.Request
		want bool
		then func()
	}{
		{ask, true, nil}, {ask, false, nil}, {ask, false, func() { answer(t, r.Dir, "", "remember", "Two") }},
		{ask, true, nil}, {ask, false, nil}, {compacted, true, nil}, {ask, true, nil}, {anew, true, nil},
	} {
		if got := give(step.ask); got != step.want {
			t.Errorf("step %d: given %v, want %v", i, got, step.want)
		}
		if step.then != nil {
			step.then()
		}
	}
}

// A block ends when the first memory that it shows expires.
func TestPreparedContextEndsWithItsMemories(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Stays")
	w := at(t, r.Dir, noon)
	err := w.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		tx.Describe(gitstore.Commit{Subject: "remember: goes"})
		return tx.PutMemory(record.New(record.Memory{Kind: record.Fact, Text: "Goes at one", Expires: noon.Add(time.Hour),
			Source: record.Source{Time: noon, By: "human", How: record.Written}}), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 59 * time.Minute, time.Hour} {
		want := after < time.Hour
		text, err := at(t, r.Dir, noon.Add(after)).context(ctx, brief.Request{For: brief.Start})
		if err != nil || strings.Contains(text, "Goes at one") != want || !strings.Contains(text, "Stays") {
			t.Errorf("after %v: %v %q", after, err, text)
		}
	}
}

// The order: what binds, then what more sessions bore out, then by kind and age; what is stale
// last.
func TestRank(t *testing.T) {
	r := testrepo.New(t)
	r.Write("store/save.go", "func SaveOrder() {}\n")
	r.Commit("save")
	for _, args := range [][]string{
		{"remember", "-k", "note", "A note"}, {"remember", "-k", "convention", "`SaveOrder` is called once in store/save.go"},
		{"remember", "-k", "convention", "Use tabs"}, {"remember", "-k", "constraint", "Never push"},
	} {
		answer(t, r.Dir, "", args...)
	}
	example, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	answer(t, r.Dir, "", "learn", filepath.Join(example, "claude-code.jsonl"))
	answer(t, r.Dir, "", "learn", filepath.Join(example, "codex.jsonl"))
	r.Write("store/save.go", "package store\n")
	r.Commit("gone")
	in, err := brief.Give(context.Background(), at(t, r.Dir, noon).Reader, brief.Request{For: brief.Start})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines(in.Text) {
		if kind, text, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(line, "- ") {
			order = append(order, kind[2:]+" "+strings.Fields(text)[0]+" "+strings.Fields(text)[1])
		}
	}
	got := strings.Join(order, "; ")
	want := "constraint Never push; constraint The REST; failure Before `go; convention Use tabs; convention Always use; note A note; convention `SaveOrder` is"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(in.Text, "may be out of date") {
		t.Error("the stale one is not labelled")
	}
}

// A hand-over is prepared with the block of a start, and ends when the checkpoint is too old.
func TestHandoverEndsWithItsAge(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Stays")
	if _, err := notebook(at(t, r.Dir, noon)).Add(ctx, "", "The parser is half done"); err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]brief.Request{
		"its own session": {For: brief.Start, Session: "human/notes"},
		"a loop":          {For: brief.Start, Bare: true},
		"a resumed one":   {For: brief.Start, Session: "claude/s", Resumed: true},
		"a prompt":        {For: brief.Prompt, Query: "Stays the parser half done"},
	} {
		if text, err := at(t, r.Dir, noon).context(ctx, ask); err != nil || strings.Contains(text, "half done") {
			t.Errorf("%s is told: %v %q", name, err, text)
		}
	}
	if text, err := at(t, r.Dir, noon).context(ctx, brief.Request{For: brief.Start, Session: "claude/s"}); err != nil || !strings.Contains(text, "half done") {
		t.Errorf("afterwards: %v %q", err, text)
	}
	const week = 7 * 24 * time.Hour
	for _, after := range []time.Duration{0, week - time.Minute, week} {
		text, err := at(t, r.Dir, noon.Add(after)).context(ctx, brief.Request{For: brief.Start})
		if want := after < week; err != nil || strings.Contains(text, "The parser is half done") != want || !strings.Contains(text, "Stays") {
			t.Errorf("after %v: %v %q", after, err, text)
		}
	}
}

// A resumed session that has its block gets its own checkpoint without the memories.
func TestResumedSessionIsGivenItsCheckpoint(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Stays")
	w := at(t, r.Dir, noon)
	put := func(session string, n int) {
		err := w.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
			tx.Describe(gitstore.Commit{Subject: "checkpoint: " + session})
			return tx.PutCheckpoint(record.Journal, record.Checkpoint{Client: "claude", Session: session, N: n, Reason: record.Unfinished, Time: noon,
				Branch: "main", Text: fmt.Sprintf("Point %d of %s", n, session)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask := brief.Request{For: brief.Start, Session: "claude/s1", Record: true}
	again := ask
	again.Resumed = true
	put("s0", 1)
	for i, step := range []struct {
		ask      brief.Request
		memories bool
		tells    string // "" for no checkpoint
		then     func()
	}{
		{ask, true, "Point 1 of s0", nil},
		{again, false, "", func() { put("s1", 1) }}, // another's is told at a start only
		{again, false, "Point 1 of s1", nil},
		{again, false, "", func() { put("s1", 2) }},
		{again, false, "Point 2 of s1", func() { answer(t, r.Dir, "", "remember", "Stays too") }},
		{again, true, "Point 2 of s1", nil},
		{again, false, "", nil},
	} {
		text, err := at(t, r.Dir, noon).context(ctx, step.ask)
		if err != nil {
			t.Fatal(err)
		}
		_, tells, _ := strings.Cut(text, "Point ")
		tells, _, _ = strings.Cut(tells, "\n")
		if got := strings.Contains(text, "Stays"); got != step.memories || tells != strings.TrimPrefix(step.tells, "Point ") {
			t.Errorf("step %d: memories %v, %q", i, got, text)
		}
		if step.then != nil {
			step.then()
		}
	}
}

// The worker judges a session by the worktree in which it ran, wherever the worker runs.
func TestStopIsJudgedInItsWorkTree(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	linked := filepath.Join(t.TempDir(), "linked")
	r.Run("worktree", "add", "-qb", "side", linked)
	answer(t, r.Dir, "", "init")
	w := at(t, r.Dir, noon)
	for _, e := range []hooks.Event{{Kind: hooks.Prompt, Prompt: "Make it faster"}, {Kind: hooks.End}} {
		e.Agent, e.Session, e.Dir, e.Time = "generic", "s", linked, noon.Add(-time.Minute)
		if err := w.Spool().Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ingester(w).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := notebook(w).List(ctx, "")
	if err != nil || len(all) != 1 || all[0].Branch != "side" || all[0].Reason != record.Unfinished || !all[0].Time.Equal(noon.Add(-time.Minute)) {
		t.Fatalf("%v %+v", err, all)
	}
}

// context returns the text that an agent is given, or "". Without a memory the error wraps
// gitstore.ErrNoStore.
func (w *workspace) context(ctx context.Context, r brief.Request) (string, error) {
	in, err := brief.Give(ctx, w.Reader, r)
	return in.Text, err
}
