package worktree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A place for a sandbox is committed without filters, held files wait for a person, and files that
// the host would run block by their content.
func TestSealedPlaceRunsNoFilter(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox, s.Settings.MaxIterations = "docker", 2 })
	canary := filepath.Join(t.TempDir(), "canary")
	b.Run("config", "filter.host.clean", "touch '"+filepath.ToSlash(canary)+"'; tr a-z A-Z")
	b.Run("config", "filter.host.smudge", "touch '"+filepath.ToSlash(canary)+"'; cat")
	b.Run("config", "filter.host.required", "true")
	waived := map[string]bool{}
	b.place.Sandbox.Runs = func(p string) string {
		if p == "Makefile" || p == ".gitattributes" {
			return "it is run"
		}
		return ""
	}
	b.place.Sandbox.Holds = func(p string) bool { return p == ".gitattributes" }
	b.place.Sandbox.Waived = func(_ context.Context, _, rule string) (bool, error) { return waived[rule], nil }
	work := func(Turn) (Outcome, error) {
		b.in(".gitattributes", "* filter=host text eol=crlf\n")
		b.in("lines", "a\r\nb\n")
		b.in("Makefile", "all:\n")
		return Outcome{}, nil
	}
	s := b.run(work, func(Turn) (Outcome, error) {
		b.in("README", "spoilt\n") // so that git writes files again
		return Outcome{Passed: true}, nil
	}, fine)
	if s.Reason != MaxIterations || s.Blocking != 2 {
		t.Errorf("%s, %d blocking", s.Reason, s.Blocking)
	}
	if got := b.Run("ls-tree", "--name-only", "reverie/loop/two"); got != "Makefile\nREADME\nlines" {
		t.Errorf("%q", got)
	}
	if got := b.Run("cat-file", "-s", "reverie/loop/two:lines"); got != "5" {
		t.Errorf("not as it is: %s bytes", got)
	}
	l, err := b.record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Findings {
		if f.By != ByHost || !strings.HasPrefix(f.Rule, "runs-") {
			t.Errorf("%+v", f)
		}
		waived[f.Rule] = true
	}
	c, err := b.place.Commit(t.Context(), s.Tip, Message{Subject: "waived"}, s.Changed)
	if err != nil || len(c.Left) > 0 {
		t.Fatalf("%+v %v", c, err)
	}
	if got := b.Run("cat-file", "-p", c.Tip+":.gitattributes"); got != "* filter=host text eol=crlf" {
		t.Errorf("%q", got)
	}
	if err := b.place.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(canary); !os.IsNotExist(err) {
		t.Error("a filter ran")
	}
}

// A link in place of a folder is committed as a link, and the folder's files are gone.
func TestFolderBecomesALink(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.MaxIterations = 2 })
	s := b.run(func(turn Turn) (Outcome, error) {
		folder := filepath.Join(turn.Dir, "folder")
		if turn.Loop.State.Iteration == 1 {
			b.in("folder/file", "x\n")
			return Outcome{}, nil
		}
		if err := os.RemoveAll(folder); err != nil {
			return Outcome{}, err
		}
		return Outcome{}, os.Symlink(t.TempDir(), folder)
	}, func(turn Turn) (Outcome, error) { return Outcome{Passed: turn.Loop.State.Iteration == 2}, nil }, fine)
	if s.Phase != Done {
		t.Fatalf("%s %s", s.Reason, s.Detail)
	}
	if got := b.Run("ls-tree", "-r", "--format=%(objectmode) %(path)", "reverie/loop/two"); !strings.Contains(got, "120000 folder") || strings.Contains(got, "folder/") {
		t.Errorf("%q", got)
	}
}

// Git called in a place for a sandbox finds no repository, not even in the folders above.
func TestSealedPlaceIsNoRepository(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox = "docker" })
	if err := b.place.Make(t.Context(), b.Run("rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "status")
	cmd.Dir = b.place.Dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not a git repository") || !strings.Contains(string(out), "made-in-a-sandbox") {
		t.Errorf("%v %s", err, out)
	}
}

// A waiver covers the files present then, even unlisted ones. Individually examined files make room
// for others.
func TestWaivedRestIsOfItsFiles(t *testing.T) {
	list := func(n int, last string) (all []Reported) {
		for i := range n {
			all = append(all, Reported{File: fmt.Sprintf("%04d/Makefile", i), Rule: ruleOfContent(strings.Repeat("a", 40)), Severity: Bug, Text: "x"})
		}
		all[n-1].Rule = ruleOfContent(last)
		return all
	}
	a, b := strings.Repeat("b", 40), strings.Repeat("b", 39)+"c"
	var known []Finding
	waive := func(reported ...Reported) {
		for _, r := range reported {
			known = append(known, Finding{File: r.File, Rule: r.Rule, By: ByHost, State: Waived})
		}
	}
	first := few(list(300, a), known)
	if len(first) != 101 || first[100].File != "" || !strings.HasPrefix(first[100].Text, "There are 200 more") {
		t.Fatalf("%d: %+v", len(first), first[len(first)-1])
	}
	waive(first[100])
	if got := few(list(300, a), known); len(got) != 100 || got[99].File != "0099/Makefile" {
		t.Errorf("%d are left where the rest is waived", len(got))
	}
	for name, all := range map[string][]Reported{"another content": list(300, b), "one more": list(301, a), "one less": list(299, a)} {
		if got := few(all, known); len(got) != 101 || got[100].Rule == first[100].Rule {
			t.Errorf("%s: %d", name, len(got))
		}
	}
	waive(first[:60]...)
	if got := few(list(300, a), known); len(got) != 40 || got[0].File != "0060/Makefile" {
		t.Errorf("%d are left of the listed", len(got))
	}
	if got := few(list(300, b), known); len(got) != 101 || got[100].Text != "There are 140 more files like these; the first 100 are listed." {
		t.Errorf("waived ones count: %+v", got[len(got)-1])
	}
	other := Finding{File: "0299/Makefile", Rule: ruleOfContent(b), By: ByAudit, State: Waived}
	known = append(known, other)
	if got := few(list(300, b), known); len(got) != 101 || got[100].Text != "There are 140 more files like these; the first 100 are listed." {
		t.Error("a finding of the audit's waives one of the host's")
	}
}

// Contents with similar ids give two findings, and an auditor cannot fake a host finding.
func TestHostFindingsAreOfWholeContents(t *testing.T) {
	a, b := strings.Repeat("0", 39)+"a", strings.Repeat("0", 39)+"b"
	tip := newest{line: func(string, int) string { return "" }, moves: func(f Finding) (string, int, bool) { return f.File, f.Line, false }}
	report := func(blob string) Audit {
		return Audit{Findings: []Reported{{File: "Makefile", Rule: ruleOfContent(blob), Severity: Bug, Text: "x"}}}
	}
	known := mergeFindings(nil, report(a), ByAudit, 1, tip)
	known = append(known, mergeFindings(known, report(a), ByHost, 1, tip)...)
	if len(known) != 2 || known[1].By != ByHost || !known[1].OfContent() || known[0].OfContent() {
		t.Fatalf("%+v", known)
	}
	known[1].State = Waived
	if now := mergeFindings(known, report(b), ByHost, 2, tip); len(now) != 1 || now[0].State != OpenFinding || now[0].ID == known[1].ID {
		t.Errorf("%+v", now)
	}
}

// For any number of refused or held paths, git is asked once about the previous commit. A folder
// that became a link no longer counts as one.
func TestManyRefusedAreOneLook(t *testing.T) {
	b := newBench(t, func(s *State) { s.Settings.Sandbox = "docker" })
	b.Write("folder/file", "x\n")
	b.Write("kept", "x\n")
	b.Commit("more")
	if err := b.place.Make(t.Context(), b.Run("rev-parse", "HEAD")); err != nil {
		t.Fatal(err)
	}
	tip, err := b.place.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{"folder": "a link", "kept": "x"}
	for i := range 60 {
		b.in(fmt.Sprintf("no/%d", i), "x\n")
		refused[fmt.Sprintf("no/%d", i)] = "x"
		b.in(fmt.Sprintf("held/%d", i), "x\n")
	}
	b.in("kept", "y\n")
	if err := os.RemoveAll(filepath.Join(b.place.Dir, "folder")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(b.place.Dir, "folder")); err != nil {
		t.Skip(err)
	}
	b.place.Sandbox.Refused = func(context.Context, []string) (map[string]string, error) { return refused, nil }
	b.place.Sandbox.Runs = func(string) string { return "x" }
	b.place.Sandbox.Holds = func(name string) bool { return strings.HasPrefix(name, "held/") }
	trace := filepath.Join(t.TempDir(), "trace")
	t.Setenv("GIT_TRACE", trace)
	c, err := b.place.Commit(t.Context(), tip, Message{Subject: "x"}, noon)
	if err != nil || len(c.Left) != 122 {
		t.Fatalf("%d left out, %v", len(c.Left), err)
	}
	text, err := os.ReadFile(trace)
	if n := strings.Count(string(text), "built-in: git ls-tree"); err != nil || n != 1 {
		t.Errorf("%d calls of ls-tree, %v", n, err)
	}
	if got := b.Run("diff", "--name-status", tip, c.Tip); got != "D\tfolder/file" {
		t.Errorf("%q", got)
	}
}
