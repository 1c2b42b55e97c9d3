package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
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

// A block that was prepared is given though git's objects are gone, and not when anything it is made from moved.
func TestPreparedContextReadsNoMemories(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "-k", "constraint", "Never push to main")
	w := at(t, r.Dir, noon)
	ask := contextRequest{For: forStart, Session: "codex/s1", Dir: r.Dir, Record: true}
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
		return preparedContext(ctx, w.env, repo, c, ask)
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
	if n := len(w.injections("codex/s1")); n != 2 {
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

// A session that goes on has its block in its transcript: it is given again when it changed, or was lost in a summary.
func TestResumedSessionIsNotGivenTheSameAgain(t *testing.T) {
	ctx := context.Background()
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "One")
	ask := contextRequest{For: forStart, Session: "claude/s1", Resumed: true, Record: true}
	give := func(ask contextRequest) bool {
		w := at(t, r.Dir, noon)
		text, err := w.context(ctx, ask)
		if err != nil {
			t.Fatal(err)
		}
		return text != ""
	}
	compacted := ask
	compacted.For = forCompacted
	anew := ask
	anew.Resumed = false
	for i, step := range []struct {
		ask  contextRequest
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
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		tx.Describe(gitstore.Commit{Subject: "remember: goes"})
		return tx.PutMemory(record.New(record.Memory{Kind: record.Fact, Text: "Goes at one", Expires: noon.Add(time.Hour),
			Source: record.Source{Time: noon, By: "human", How: record.Written}}), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 59 * time.Minute, time.Hour} {
		want := after < time.Hour
		text, err := at(t, r.Dir, noon.Add(after)).context(ctx, contextRequest{For: forStart})
		if err != nil || strings.Contains(text, "Goes at one") != want || !strings.Contains(text, "Stays") {
			t.Errorf("after %v: %v %q", after, err, text)
		}
	}
}

// Sessions that are given something at once do not mix, and none loses a line.
func TestLedgerOfParallelSessions(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "One")
	w := at(t, r.Dir, noon)
	const each = 40
	var wg sync.WaitGroup
	for s := range 4 {
		for half := range 2 {
			wg.Go(func() {
				for i := range each / 2 {
					in := injection{Session: fmt.Sprintf("claude/s%d", s), For: forPrompt, Items: []given{{ID: fmt.Sprintf("%d-%d-%d", s, half, i)}}}
					in.setText(strings.Repeat("x", i))
					if err := in.record(w.Repo, noon.Add(time.Duration(half*each+i)*time.Second)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	ids := map[string]bool{}
	for s := range 4 {
		name := fmt.Sprintf("claude/s%d", s)
		all := w.injections(name)
		for _, in := range all {
			if in.Session != name || !strings.HasPrefix(in.Items[0].ID, fmt.Sprintf("%d-", s)) {
				t.Errorf("%s has %+v", name, in)
			}
			ids[in.ID] = true
		}
		if len(all) != each {
			t.Errorf("%s: %d lines, want %d", name, len(all), each)
		}
	}
	if len(ids) != 4*each {
		t.Errorf("%d ids, want %d", len(ids), 4*each)
	}
	if err := w.expireLedger(time.Now().Add(time.Hour)); err != nil || len(w.allInjections(0)) != 0 {
		t.Errorf("%v; %d stay", err, len(w.allInjections(0)))
	}
}

// The order: what binds, then what more sessions bore out, then by kind and age; what is stale last.
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
	in, err := at(t, r.Dir, noon).inject(context.Background(), contextRequest{For: forStart})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines(in.text) {
		if kind, text, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(line, "- ") {
			order = append(order, kind[2:]+" "+strings.Fields(text)[0]+" "+strings.Fields(text)[1])
		}
	}
	got := strings.Join(order, "; ")
	want := "constraint Never push; constraint The REST; failure Before `go; convention Use tabs; convention Always use; note A note; convention `SaveOrder` is"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.Contains(in.text, "may be out of date") {
		t.Error("the stale one is not labelled")
	}
}

// What is asked for takes the place of what the settings give, unless they give nothing.
func TestBudgetOfARequest(t *testing.T) {
	for _, c := range []struct{ asked, setting, want int }{
		{0, 1500, 1500}, {80, 1500, 80}, {9000, 1500, 9000}, {-1, 1500, 0},
		{0, 0, 0}, {80, 0, 0}, {-1, 0, 0},
	} {
		if got := (contextRequest{Budget: c.asked}).budget(c.setting); got != c.want {
			t.Errorf("asked for %d where the settings give %d: %d, want %d", c.asked, c.setting, got, c.want)
		}
	}
}
