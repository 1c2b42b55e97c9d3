package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A branch of memories that was made by hand, and looked at without anything of the command line.
func TestRun(t *testing.T) {
	r := testrepo.New(t)
	code := r.Commit("code")
	r.Run("checkout", "-q", "--orphan", "memory")
	r.Write("reverie.toml", "format = 1\n")
	base := r.Commit("memory")
	now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for _, ref := range []string{"rules/pnpm", "rules/web"} {
		m := record.New(record.Memory{Kind: record.Convention, Text: "Use pnpm, never npm, in web/.", Ref: ref, Anchors: []string{`web/a.ts: "pnpm"`}, Source: record.Source{Time: now, By: "human", How: record.Written}})
		r.Write(m.Path(), string(m.Format()))
	}
	r.Write("stray.txt", "ghp_16C7e42F292c6912E7710c838347Ae178B4a\n")
	r.Commit("stray")
	r.Write("stray.txt", "gone\n")
	head := r.Commit("take it back")

	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	change := Change{
		Store: gitstore.Open(repo, "refs/heads/memory"), From: gitstore.ID(base), To: gitstore.ID(head), Scanner: redact.New(), Now: now,
		Brief: func(text string) string { return "<" + text[:3] + ">" },
		Stale: func(m record.Memory) []string { return []string{strings.Join(m.Anchors, " ")} },
	}
	found, err := Run(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range Rules.Sort(found) {
		path, _, _ := strings.Cut(f.Path, "/")
		got = append(got, fmt.Sprintf("%s %s %s", f.Level, f.Rule, path))
		if f.Rule == "duplicate" && !strings.HasSuffix(f.Message, "<Use>") || strings.Contains(f.Message, "ghp_") {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(got)
	want := "error duplicate memories, error secret stray.txt, error unknown-file stray.txt, note anchor memories, note anchor memories"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	for _, side := range []bool{true, false} {
		other := change
		if side {
			other.From = gitstore.ID(code)
		} else {
			other.To = gitstore.ID(code)
		}
		var none *NoMemoryError
		if _, err := Run(t.Context(), other); !errors.As(err, &none) || none.Base != side {
			t.Errorf("the code instead of a memory: %v", err)
		}
	}
}
