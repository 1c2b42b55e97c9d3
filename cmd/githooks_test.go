package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup/doctor"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/rogpeppe/go-internal/testscript"
)

// tree FILE DIR writes down every entry of a folder: mode, name, where a link leads, and the bytes
// of a file. A folder that is not there has none.
func treeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree FILE DIR")
	}
	var b strings.Builder
	dir := ts.MkAbs(args[1])
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := d.Info()
		ts.Check(err)
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%v %s", info.Mode(), name)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			ts.Check(err)
			fmt.Fprintf(&b, " -> %s", to)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			ts.Check(err)
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
		return nil
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

// A line that a person pastes into a hook is whole, however narrow the terminal.
func TestHookLinesAreNotWrapped(t *testing.T) {
	for _, tool := range []string{"", "husky", "lefthook"} {
		var out strings.Builder
		env := &Env{Terminal: term.Terminal{Err: &out, Interactive: true, Screen: true, Width: 40}}
		var left []githook.Left
		for _, h := range githook.All {
			left = append(left, githook.Left{Hook: h.Name, Why: "left alone", Line: h.Snippet()})
		}
		for _, avoid := range []string{"", "it belongs to another program"} {
			tellGitHooks(env, &githook.Installed{Left: left, Place: githook.Place{Tool: tool, Avoid: avoid}}, false)
		}
		for _, l := range left {
			if n := strings.Count(out.String(), l.Line+"\n"); n != 2 {
				t.Errorf("%q: the line of %s is whole %d times:\n%s", tool, l.Hook, n, out.String())
			}
		}
	}
}

// doctorOfHooks returns the finding of doctor about the git hooks of a repository.
func doctorOfHooks(t *testing.T, dir string, mend bool) doctor.Finding {
	t.Helper()
	checks := doctor.Checks(at(t, dir, noon).Reader, nil, nil)
	found := checks[slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == "git hooks" })].Run(t.Context())
	if len(found) != 1 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	if mend {
		if found[0].Mend == nil {
			t.Fatalf("nothing mends %+v", found[0])
		}
		if _, err := found[0].Mend(t.Context()); err != nil {
			t.Fatal(err)
		}
		return doctorOfHooks(t, dir, false)
	}
	return found[0]
}

func TestDoctorFindsHooksThatDoNotWork(t *testing.T) {
	r := testrepo.New(t)
	later(t, r.Dir, 0, "init")
	if row := doctorOfHooks(t, r.Dir, false); row.State != "ok" || row.Detail != "not installed" {
		t.Errorf("none asked for: %+v", row)
	}
	later(t, r.Dir, 0, "init", "--git-hooks", "--trailers")
	if row := doctorOfHooks(t, r.Dir, false); row.State != "ok" || !strings.HasPrefix(row.Detail, "6 in ") {
		t.Errorf("installed: %+v", row)
	}
	for name, spoil := range map[string]func(path string) error{
		"hooks/post-commit":             os.Remove,
		"reverie/githooks/pre-push":     os.Remove,
		"reverie/links":                 os.Remove,
		"reverie/githooks/post-rewrite": func(path string) error { return os.WriteFile(path, []byte("# of an older version\n"), 0o600) },
		"hooks/prepare-commit-msg":      func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\n:\n"), 0o755) },
	} {
		if err := spoil(filepath.Join(r.Dir, ".git", name)); err != nil {
			t.Fatal(err)
		}
		if row := doctorOfHooks(t, r.Dir, false); row.State != "broken" || row.Fix == "" {
			t.Errorf("%s spoilt: %+v", name, row)
		}
		if row := doctorOfHooks(t, r.Dir, true); row.State != "ok" || !strings.HasPrefix(row.Detail, "6 in ") {
			t.Errorf("%s mended: %+v", name, row)
		}
	}
	r.Run("config", "core.hooksPath", t.TempDir())
	if row := doctorOfHooks(t, r.Dir, false); row.State != "broken" || !strings.Contains(row.Detail, "git looks in") || row.Mend != nil {
		t.Errorf("git looks elsewhere: %+v", row)
	}
	reverie(t, r.Dir, "uninstall", "--yes")
	for _, h := range githook.All {
		if githook.HasSection(filepath.Join(r.Dir, ".git/hooks", h.Name)) {
			t.Errorf("%s is left where git does not look any more", h.Name)
		}
	}
}
