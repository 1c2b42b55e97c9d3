package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestRunPrintsLinesOfSetsAndClasses(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{small(t)}, Every: 1}, classes: true, json: true}); err != nil {
		t.Fatal(err)
	}
	var got []line
	for dec := json.NewDecoder(&out); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if len(got) != 4 || got[1].Class != "foreign" || got[2].Class != "identifier" || got[3].Class != "question" {
		t.Fatalf("%+v", got)
	}
	all := got[0]
	if all.Memories != 2 || all.Queries != 2 || all.Foreign != 1 || all.Metrics["R@1"].Mean != 1 || all.Median <= 0 || all.P95 < all.Median {
		t.Errorf("%+v", all)
	}
	if all.Gate == nil || all.Gate.Silent.Mean != 1 {
		t.Errorf("gate: %+v", all.Gate)
	}
	if foreign := got[1]; foreign.Queries != 0 || foreign.Metrics != nil || foreign.Gate.Right != nil {
		t.Errorf("%+v", foreign)
	}
}

func TestRunKeepsASplit(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{small(t)}, Every: 1, Split: "dev"}}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 2 || !strings.Contains(rows[1], "100.0 (100.0-100.0)") {
		t.Errorf("%s", &out)
	}
	if err := run(&out, options{Choice: judge.Choice{Dirs: []string{small(t)}, Every: 1, Split: "tset"}}); err == nil || !strings.Contains(err.Error(), "-split") {
		t.Errorf("a split that is not there: %v", err)
	}
}
