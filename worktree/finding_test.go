package worktree

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestParseAudit(t *testing.T) {
	a, err := ParseAudit([]byte("I looked.\n{\"findings\":[{\"file\":\"./a.go\",\"line\":3,\"severity\":\"major\",\"text\":\"off by one\"}],\"fixed\":[\"x\"]}\nThat is all.\n"))
	want := Audit{Findings: []Reported{{File: "a.go", Line: 3, Severity: Bug, Text: "off by one"}}, Fixed: []string{"x"}}
	if d := cmp.Diff(want, a); d != "" || err != nil {
		t.Error(d, err)
	}
	if a, err := ParseAudit([]byte(`{"findings":[]}`)); err != nil || len(a.Findings) != 0 {
		t.Error(a, err)
	}
	for text, want := range map[string]string{
		"":                     "no JSON object",
		"No issues found.":     "no JSON object",
		"{}":                   `no list "findings"`,
		`{"findings": null}`:   `no list "findings"`,
		`{"findings": "none"}`: "the audit's answer",
		`{"findings":[{"severity":"terrible","text":"x"}]}`:                                                        `severity "terrible"`,
		`{"findings":[{"severity":"bug","text":" "}]}`:                                                             "has no text",
		`{"findings":[{"severity":"bug","text":"x","file":"a\nb"}]}`:                                               `file "a\nb" has a control character`,
		`{"findings":[{"severity":"bug","text":"x","line":-1}]}`:                                                   "line -1",
		`{"findings":[` + strings.Repeat(`{"severity":"bug","text":"x"},`, 50) + `{"severity":"bug","text":"x"}]}`: "51 findings",
	} {
		if _, err := ParseAudit([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{
		"I say {\"x\":1} first.\n```json\n{\"fixed\":[\"{\"], \"findings\": [\n  {\"severity\":\"bug\",\"text\":\"it prints {\\\"findings\\\":[]}\"}\n]}\n```\nThat is all }",
		"Warning: no colours{\"FINDINGS\":[],\"findings\":[{\"severity\":\"bug\",\"text\":\"x\"}],\"Findings\":[]}",
	} {
		if a, err := ParseAudit([]byte(text)); err != nil || len(a.Findings) != 1 {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
	// The output of a program that the auditor runs does not replace the verdict.
	verdict := `{"findings":[{"severity":"bug","text":"x"}]}`
	for _, text := range []string{
		"{\"findings\":[]}\n" + verdict + "\n", verdict + "\n{\"findings\":[]}\n", "{\"findings\":[]}\nok " + verdict, "{\"findings\":[],\"x\":\n" + verdict + "\n}", `{"findings":[],"findings":[]}`,
	} {
		if a, err := ParseAudit([]byte(text)); err == nil || !strings.Contains(err.Error(), `"findings" 2 times`) {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
}

// The text decides where a line went: every line of the old file is unique. move's new line must
// hold it, unless move reports a change.
func TestMovesFollowTheLine(t *testing.T) {
	var old, now []string
	for i := 1; i <= 40; i++ {
		old = append(old, fmt.Sprintf("line %d", i))
	}
	now = append(now, "new at the top", "and another")
	for i, line := range old {
		switch n := i + 1; {
		case n == 10: // gone
		case n == 20:
			now = append(now, "line twenty", "and more of it")
		case n == 30:
			now = append(now, line, "put in below")
		default:
			now = append(now, line)
		}
	}
	r := testrepo.New(t)
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	r.Write("a.txt", text(old))
	r.Write("gone.txt", "x\n")
	r.Write("same.txt", "x\n")
	r.Write("b \"ü\".txt", text(old))
	r.Write("--- a.txt", "-- x\n++ y\n")
	from := r.Commit("old")
	r.Write("a.txt", text(now))
	r.Run("mv", "b \"ü\".txt", "moved/ü.txt", "-k")
	r.Run("rm", "-q", "gone.txt")
	r.Write("moved/keep", "")
	r.Run("mv", "b \"ü\".txt", "moved/ü.txt")
	r.Write("--- a.txt", "z\n")
	to := r.Commit("new")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := diffLines(t.Context(), repo, from, to)
	if err != nil {
		t.Fatal(err)
	}
	changed := map[int]bool{1: true, 9: true, 10: true, 11: true, 19: true, 20: true, 21: true, 30: true, 31: true}
	for i, line := range old {
		file, n, differs := d.move("a.txt", i+1)
		if file != "a.txt" || differs != changed[i+1] {
			t.Errorf("%s: %s:%d, changed %v", line, file, n, differs)
		}
		if i+1 != 10 && i+1 != 20 && now[n-1] != line {
			t.Errorf("%s is said to be line %d, which is %q", line, n, now[n-1])
		}
	}
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{"gone.txt", 1, "gone.txt 1 true"}, {"same.txt", 1, "same.txt 1 false"}, {"b \"ü\".txt", 7, "moved/ü.txt 7 false"},
		{"", 0, " 0 true"}, {"a.txt", 0, "a.txt 0 true"}, {"--- a.txt", 1, "--- a.txt 1 true"}, {"a.txt", 20, "a.txt 21 true"},
	} {
		file, line, differs := d.move(c.file, c.line)
		if got := fmt.Sprint(file, " ", line, " ", differs); got != c.want {
			t.Errorf("%s:%d: %s, want %s", c.file, c.line, got, c.want)
		}
	}
}

// A new file may settle a finding that names no file.
func TestNewFileChangesTheWhole(t *testing.T) {
	r := testrepo.New(t)
	from := r.Commit("old")
	r.Write("new.txt", "x\n")
	to := r.Commit("new")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := diffLines(t.Context(), repo, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, differs := d.move("", 0); !differs {
		t.Errorf("%+v", d)
	}
}

func TestMergeFindings(t *testing.T) {
	stay := func(f Finding) (string, int, bool) { return f.File, f.Line, false }
	touched := func(f Finding) (string, int, bool) { return f.File, f.Line + 5, true }
	tip := func(m func(Finding) (string, int, bool)) newest {
		return newest{commit: "c", moves: m, line: func(file string, line int) string { return "  return  nil" }}
	}
	bug := Reported{File: "a.go", Line: 3, Severity: Bug, Text: "It drops the last item."}
	first := mergeFindings(nil, Audit{Findings: []Reported{bug}}, ByAudit, 1, tip(stay))
	if len(first) != 1 || first[0].State != OpenFinding || first[0].First != 1 || first[0].Context != "return nil" || len(first[0].ID) != 16 {
		t.Fatalf("%+v", first)
	}
	for _, c := range []struct {
		name  string
		audit Audit
		moves func(Finding) (string, int, bool)
		state Standing
		more  int // findings that are new
		again int // recurrences
		line  int
	}{
		{"not named, same code", Audit{}, stay, OpenFinding, 0, 0, 3},
		{"not named, its code changed", Audit{}, touched, Fixed, 0, 0, 8},
		{"said to be fixed", Audit{Fixed: []string{first[0].ID}}, stay, Fixed, 0, 0, 3},
		{"named again elsewhere", Audit{Findings: []Reported{{File: "a.go", Line: 9, Severity: Warning, Text: "it drops the LAST  item."}}}, stay, OpenFinding, 0, 1, 9},
		{"the same line in other words", Audit{Findings: []Reported{{File: "a.go", Line: 8, Severity: Bug, Text: "The last one is lost."}}}, touched, OpenFinding, 0, 1, 8},
		{"something else", Audit{Findings: []Reported{{File: "b.go", Line: 3, Severity: Bug, Text: "It drops the last item."}}}, stay, OpenFinding, 1, 0, 3},
		{"named and said to be fixed", Audit{Findings: []Reported{bug}, Fixed: []string{first[0].ID}}, stay, OpenFinding, 0, 1, 3},
	} {
		known := []Finding{first[0]}
		for _, f := range mergeFindings(first, c.audit, ByAudit, 2, tip(c.moves)) {
			if f.ID == known[0].ID {
				known[0] = f
			} else {
				known = append(known, f)
			}
		}
		f := known[0]
		if f.State != c.state || len(known)-1 != c.more || f.Recurrences != c.again || f.Line != c.line {
			t.Errorf("%s: %+v, %d more", c.name, f, len(known)-1)
		}
	}
	waived := first[0]
	waived.State = Waived
	if now := mergeFindings([]Finding{waived}, Audit{Findings: []Reported{bug}}, ByAudit, 2, tip(stay)); len(now) != 1 || now[0].State != Waived {
		t.Errorf("a waived one comes back: %+v", now)
	}
	fixed := first[0]
	fixed.State = Fixed
	if now := mergeFindings([]Finding{fixed}, Audit{Findings: []Reported{bug}}, ByAudit, 3, tip(stay)); len(now) != 1 || now[0].State != OpenFinding {
		t.Errorf("a fixed one that is there again: %+v", now)
	}
	if now := mergeFindings(first, Audit{}, ByHost, 2, tip(touched)); len(now) != 1 || now[0].State != OpenFinding {
		t.Errorf("another finder has no say: %+v", now)
	}
}

func TestTwoFindingsOfOneLineAreTwo(t *testing.T) {
	tip := newest{commit: "c", line: func(string, int) string { return "x := y" }, moves: func(f Finding) (string, int, bool) { return f.File, f.Line, false }}
	one := Audit{Findings: []Reported{{File: "a.go", Line: 3, Severity: Bug, Text: "It is wrong."}, {File: "a.go", Line: 3, Severity: Warning, Text: "It is slow."}}}
	known := mergeFindings(nil, one, ByAudit, 1, tip)
	if len(known) != 2 {
		t.Fatalf("%d findings: %v", len(known), known)
	}
	other := Audit{Findings: []Reported{{File: "a.go", Line: 3, Severity: Bug, Text: "It still is wrong."}, {File: "a.go", Line: 3, Severity: Warning, Text: "It still is slow."}}}
	for _, f := range mergeFindings(known, other, ByAudit, 2, tip) {
		if f.First != 1 || f.Recurrences != 1 {
			t.Errorf("in other words it is another one: %+v", f)
		}
	}
}

// A secret across the length limit of a text is removed whole, in all texts of a finding.
func TestFindingIsCutBehindItsSecrets(t *testing.T) {
	r, rec := newRecord(t)
	secret := "AKIA" + "IOSFODNN7EXAMPLX"
	across := func(most int) string { // ten characters of it are before the limit
		return strings.Repeat("x", most-11) + " " + secret + " " + strings.Repeat("y ", most)
	}
	answer, err := json.Marshal(Audit{Findings: []Reported{
		{File: "a.go", Line: 1, Severity: Bug, Text: across(maxSaid), Scenario: across(maxSaid), Rule: across(maxRule)},
		{File: "b.go", Line: 1, Severity: Bug, Text: "short", Scenario: "still"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	audit, err := ParseAudit(answer)
	if err != nil {
		t.Fatal(err)
	}
	steps := []Step{
		{Event: Event{Kind: Placed}},
		{Event: Event{Kind: Coded, Tip: r.Run("rev-parse", "HEAD"), Tree: "x"}},
		{Event: Event{Kind: Checked, Passed: true}},
		{Event: Event{Kind: Audited}, Findings: func(known []Finding, before State) []Finding {
			return mergeFindings(known, audit, ByAudit, before.Iteration, newest{
				line:  func(string, int) string { return across(maxContext) },
				moves: func(f Finding) (string, int, bool) { return f.File, f.Line, false },
			})
		}},
	}
	for _, s := range steps {
		if _, err := rec.Take(t.Context(), s, noon); err != nil {
			t.Fatal(err)
		}
	}
	l, err := rec.Load(t.Context())
	if err != nil || len(l.Findings) != 2 {
		t.Fatal(l.Findings, err)
	}
	if all := r.Run("log", "-p", Refs+"one"); strings.Contains(all, secret[:8]) {
		t.Error("a part of the secret is in the record")
	}
	for _, f := range l.Findings {
		for what, got := range map[string][2]int{"text": {len(f.Text), maxSaid}, "scenario": {len(f.Scenario), maxSaid}, "rule": {len(f.Rule), maxRule}, "context": {len(f.Context), maxContext}} {
			if got[0] > got[1]+len("…") {
				t.Errorf("%s: %s has %d bytes of %d", f.File, what, got[0], got[1])
			}
		}
	}
	if i := slices.IndexFunc(l.Findings, func(f Finding) bool { return f.File == "b.go" }); i < 0 || l.Findings[i].Text != "short" || l.Findings[i].Scenario != "still" {
		t.Errorf("%+v", l.Findings)
	}
}
