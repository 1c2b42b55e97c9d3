package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

func TestQueriesOfFTS(t *testing.T) {
	for text, want := range map[string][3]string{ // any word, any trigram, every word
		"How do I run the web tests?": {`"run" OR "web" OR "tests"`, `"run" OR "web" OR "tes" OR "est" OR "sts"`, `"How" "do" "I" "run" "the" "web" "tests?"`},
		`say "hi"`:                    {`"say" OR "hi"`, `"say"`, `"say" """hi"""`},
		"the":                         {`"the"`, `"the"`, `"the"`},
		"水位の変化":                       {`"水位の変化"`, `"水位の" OR "位の変" OR "の変化"`, `"水位の変化"`},
		"?!":                          {"", "", `"?!"`},
	} {
		if got := [3]string{anyWord(text), anyTrigram(text), everyWord(text)}; got != want {
			t.Errorf("%s:\n got %q\nwant %q", text, got, want)
		}
	}
}

// By hand, two memories of 2 and 4 words, so 3 on average. idf of a word that one has: ln(1 +
// 1.5/1.5) = 0.6931. "zeta" once in two words: 0.6931 × 2.2 / (1 + 1.2 × (0.25 + 0.75 × 2/3)) =
// 0.8026. "xi" twice in four: 0.6931 × 4.4 / (2 + 1.2 × 1.25) = 0.8714.
func TestPlainIsBM25(t *testing.T) {
	store, err := plainEngine.Open([]judge.Memory{{ID: "short", Text: "zeta yak"}, {ID: "long", Text: "xi wolf xi volt"}})
	if err != nil {
		t.Fatal(err)
	}
	s := store.(*plainStore)
	if s.mean != 3 {
		t.Errorf("%v words on average", s.mean)
	}
	if got := s.score("xi zeta"); math.Abs(got[0]-0.8026) > 1e-4 || math.Abs(got[1]-0.8714) > 1e-4 {
		t.Errorf("%v", got)
	}
	for query, want := range map[string]string{"xi zeta": "long short", "wolf zeta": "short long", "ZETA": "short", "the": "", "nothing": ""} {
		ids, err := s.Search(query, 10)
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", query, got, err, want)
		}
	}
}

// Every peer is fair: it finds obvious matches, whatever signs a query has.
func TestEveryPeerFinds(t *testing.T) {
	memories := []judge.Memory{
		{ID: "pnpm", Title: "Use pnpm in the web folder", Text: "npm writes a lock file", Tags: []string{"build"}, Paths: []string{"web/**"}},
		{ID: "port", Text: "the test database listens on port 5433"},
		{ID: "ja", Text: "観測所の名前が文字化けする"},
	}
	s := judge.Set{Name: "s", Stores: map[string][]judge.Memory{"": memories}, Queries: []judge.Query{
		{ID: "1", Text: "pnpm web", Rel: map[string]float64{"pnpm": 1}},
		{ID: "2", Text: `database "port" 5433`, Rel: map[string]float64{"port": 1}},
		{ID: "3", Text: "build", Rel: map[string]float64{"pnpm": 1}},
		{ID: "4", Text: "観測所の名前が文字化けする", Rel: map[string]float64{"ja": 1}},
	}}
	for _, e := range append(peersFor(s), judge.Ours) {
		r, err := judge.Run(e, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, score := range r.Scores {
			if score.Recall1 != 1 {
				t.Errorf("%s does not find query %s first", e.Name, s.Queries[i].ID)
			}
		}
		store, err := e.Open(memories)
		if err != nil {
			t.Fatal(err)
		}
		for _, odd := range []string{`"`, `a"b AND (`, "NEAR(", "*", "-x:y", "^", ""} {
			if _, err := store.Search(odd, 3); err != nil {
				t.Errorf("%s: %q: %v", e.Name, odd, err)
			}
		}
		if err := store.Close(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func TestRunSaysWhoIsAhead(t *testing.T) {
	dir := t.TempDir()
	for name, lines := range map[string]string{
		"corpus.jsonl":  `{"id":"a","text":"fleetEach bounds concurrency"}` + "\n" + `{"id":"b","text":"levels are centimetres"}`,
		"queries.jsonl": `{"id":"1","text":"level in centimetre","rel":{"b":1}}` + "\n" + `{"id":"2","text":"fleet each","rel":{"a":1}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := (judge.Choice{Dirs: []string{dir}, Every: 1}).Print(&out, measure); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{", ours ", ", bleve en ", ", bleve en bm25 ", ", FTS5 unicode61 ", ", FTS5 porter ", ", FTS5 trigram ", ", FTS5 every word ", ", plain BM25 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "bleve cjk") {
		t.Error("the analyser for Chinese is compared on English")
	}
	var figures bytes.Buffer
	if err := (judge.Choice{Dirs: []string{dir}, Every: 1, JSON: true}).Print(&figures, measure); err != nil || !strings.Contains(figures.String(), `"name":"recall@10, FTS5 every word"`) ||
		strings.Count(figures.String(), `"beside":"ours − it: `)+2+8 != strings.Count(figures.String(), "\n") {
		t.Errorf("%v\n%s", err, &figures)
	}
	if err := (judge.Choice{Dirs: []string{dir}, Every: 1, Split: "dev"}).Print(&out, measure); err == nil || !strings.Contains(err.Error(), "-split") {
		t.Errorf("a split that is not there: %v", err)
	}
}

func TestAPeerIsBetterBeyondChanceOnly(t *testing.T) {
	worse := judge.Result{Scores: make([]judge.Score, 20), Took: make([]time.Duration, 20)}
	better := judge.Result{Scores: make([]judge.Score, 20), Took: make([]time.Duration, 20)}
	for i := range better.Scores {
		better.Scores[i] = judge.Score{NDCG: 1, Recall10: float64(i % 2)}
	}
	worse.Scores[1].Recall10 = 1
	figures := figuresOf(judge.Set{Name: "s"}, []measured{{name: "ours", r: worse}, {name: "a", r: better}, {name: "b", r: worse}})
	for i, want := range []bool{false, false, false, true, true, false, false, false, false} {
		if figures[i].Behind != want {
			t.Errorf("%+v", figures[i])
		}
	}
}
