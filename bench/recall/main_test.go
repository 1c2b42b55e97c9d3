package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/recall/judge"
)

func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range map[string]string{
		"corpus.jsonl": `{"id":"pnpm","text":"Use pnpm, never npm, in web/"}
{"id":"port","text":"The test database listens on port 5433"}`,
		"queries.jsonl": `{"id":"1","text":"which port has the test database","rel":{"port":1},"class":"question","split":"dev"}
{"id":"2","text":"pnpm","rel":{"pnpm":1},"class":"identifier","split":"test"}
{"id":"3","text":"rotate the kubernetes certificates of the staging cluster","rel":{},"class":"foreign","split":"test"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunPrintsFiguresOfSetsAndClasses(t *testing.T) {
	var out bytes.Buffer
	dir := small(t)
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{dir}, Every: 1, JSON: true}, classes: true}); err != nil {
		t.Fatal(err)
	}
	got := map[string]figure.Figure{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var f figure.Figure
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(f.Set, filepath.Base(dir))+": "+f.Name] = f
	}
	for name, want := range map[string]figure.Figure{
		": recall@1, 2 documents": {Value: 100, N: 2, Of: "queries"}, ": prompts on another topic given nothing": {Value: 100, N: 1, Of: "prompts"},
		" · identifier: recall@10, 2 documents": {Value: 100, N: 1, Of: "queries"}, " · question: MRR@10, 2 documents": {Value: 100, N: 1, Of: "queries"},
		" · foreign: prompts on another topic given nothing": {Value: 100, N: 1, Of: "prompts"},
	} {
		if f := got[name]; f.Value != want.Value || f.N != want.N || f.Of != want.Of {
			t.Errorf("%s: %+v", name, f)
		}
	}
	median, p95 := got[": time of a search, median"], got[": time of a search, 95 of 100"]
	if median.Value <= 0 || p95.Value < median.Value || median.N != 2 {
		t.Errorf("%+v, %+v", median, p95)
	}
	if f, measured := got[" · foreign: recall@1, 2 documents"]; measured {
		t.Errorf("a class without labels: %+v", f)
	}
}

func TestRunKeepsASplit(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{small(t)}, Every: 1, Split: "dev"}}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	// The columns are as wide as the slowest search makes them.
	if len(rows) < 6 || !strings.Contains(strings.Join(strings.Fields(rows[1]), " "), "100.0 % 100.0 to 100.0 1 queries") {
		t.Errorf("%s", &out)
	}
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{small(t)}, Every: 1, Split: "tset"}}); err == nil || !strings.Contains(err.Error(), "-split") {
		t.Errorf("a split that is not there: %v", err)
	}
}
