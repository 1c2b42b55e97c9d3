package recall

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// A query word without documents is replaced by words that one mistake made of it, or two if it is
// long. The answer names the replacement.
func TestMisspeltWords(t *testing.T) {
	x := indexOf(t, docsOf("Deploy on Fridays only", "Feature flags live in Redis", "The tests need a database", "The configuration is read once",
		"Queries are retried", "Running costs are low", "Authentication is middleware", "überprüfung der Verbindungen", "проверка соединения", "Take the lid off"), 2)
	for query, want := range map[string][]string{
		"depoly":        {"000", "depoly → deploy"}, // exchanged
		"flgas":         {"001", "flgas → flags"},
		"edploy":        {"000", "edploy → deploy"}, // the first two as well
		"databse":       {"002", "databse → database"},
		"datapase":      {"002", "datapase → database"},
		"databbase":     {"002", "databbase → database"},
		"configuratoin": {"003", "configuratoin → configuration"}, // behind the stem
		"configuring":   {"003", "configur"},                      // well spelt
		"quereis":       {"004", "quereis → queries"},
		"runnign":       {"005", "runnign → running"},
		"runnings":      {"005", "run"},
		"middelwaer":    {"006", "middelwaer → middlewar"}, // two
		"deplyo":        {"000", "deplyo → deploy"},
		"ueberprufung":  {"007", "ueberprufung → uberprufung"},
		"провекра":      {"008", "провекра → проверка"},
		"lidd":          nil, // too short
		"eploy":         nil, // another first letter
		"dplyo":         nil, // too many for its length
	} {
		var got []string
		if hits := x.Rank(Request{Text: query, N: 1}); len(hits) > 0 && len(hits[0].Words) > 0 {
			got = []string{x.segments[hits[0].Segment].Key(hits[0].Doc), hits[0].Words[0].String()}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

// With any one mistake, at most one in a hundred words of the labelled set misses its stem. Their
// ending is unusual or their stem has two letters.
func TestOneMistakeIsUndone(t *testing.T) {
	data, err := os.ReadFile("testdata/labelled/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var a terms.Analyzer
	stems := map[string]bool{}
	words := strings.FieldsFunc(strings.ToLower(string(data)), func(r rune) bool { return r < 'a' || 'z' < r })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) <= leastMisspelt || len(w) > 20 })
	slices.Sort(words)
	words = slices.Compact(words)
	for _, w := range words {
		stems[a.Stem(w)] = true
	}
	r := rand.New(rand.NewPCG(1, 2))
	tried, missed := 0, []string{}
	for _, w := range words {
		for range 4 {
			i := 1 + r.IntN(len(w)-2)
			c := string(rune('a' + r.IntN(26)))
			wrong := []string{w[:i] + w[i+1:], w[:i] + c + w[i:], w[:i] + c + w[i+1:], w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]}[r.IntN(4)]
			if wrong == w || stems[a.Stem(wrong)] {
				continue
			}
			tried++
			other := undo(&a, wrong, []byte(a.Stem(w)))
			if other == "" {
				missed = append(missed, wrong)
			} else if d := slowDistance([]rune(wrong), []rune(other)); d != 1 || a.Stem(other) != a.Stem(w) {
				t.Errorf("%s for %s: %d mistakes, with the stem %s", other, wrong, d, a.Stem(other))
			}
		}
	}
	if tried < 3000 || len(missed) > tried/100 {
		t.Errorf("%d of %d are not found: %q", len(missed), tried, missed)
	}
}
