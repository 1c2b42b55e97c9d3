package recall

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"Use pnpm, never npm":         {"use", "pnpm", "never", "npm"},
		"parseHTTPHeader_v2":          {"parse", "httpheader", "v", "2", "parsehttpheaderv2"},
		"the tests in web/src/app.ts": {"test", "web", "src", "app", "ts", "websrcappts"},
		"用中文写提交":                      {"用中", "中文", "文写", "写提", "提交"},
		"テスト run":                     {"テス", "スト", "run"},
		"は":                           {"は"},
		"how do I":                    {"how", "do", "i"},
		"":                            nil,
	} {
		if diff := cmp.Diff(want, Terms(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func memories(texts ...string) []record.Memory {
	var out []record.Memory
	for _, text := range texts {
		out = append(out, record.New(record.Memory{Kind: record.Fact, Text: text}))
	}
	return out
}

func TestSearchRanksByWhatIsRare(t *testing.T) {
	got := Search(memories("Run the tests with make test.", "Run make lint before a commit.", "The database must run for the tests of the store package."), "how to run the database tests?", 0)
	var order []string
	for _, h := range got {
		order = append(order, h.Memory.Text)
	}
	want := []string{"The database must run for the tests of the store package.", "Run the tests with make test.", "Run make lint before a commit."}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if c := got[0].Covered; math.Abs(c-1) > 1e-9 {
		t.Errorf("the best hit covers %v of the query, want all of it", c)
	}
}

// Two memories of equal length 6 (two terms, weight 3); "lint" is in one: df 1 of 2.
// idf = ln(1 + 1.5/1.5) = 0.6931; tf 3: 0.6931·3·2.2/(3 + 1.2·1) = 1.0892.
func TestScoreIsBM25(t *testing.T) {
	got := Search(memories("make lint", "make test"), "lint", 0)
	if len(got) != 1 || math.Abs(got[0].Score-1.0892) > 1e-4 {
		t.Errorf("got %+v, want one hit of 1.0892", got)
	}
}

func TestNothingInCommonIsNoHit(t *testing.T) {
	if got := Search(memories("make lint", "make test"), "kubernetes ingress", 0); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
