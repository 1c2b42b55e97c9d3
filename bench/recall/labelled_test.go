package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/bench/recall/judge"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// labelled is the project's own set; its README explains the classes and splits.
const labelled = "../../gitstore/recall/testdata/labelled"

func TestLabelledSetIsWhole(t *testing.T) {
	s, err := judge.Read(labelled) // ids exist, each once
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Memories(); n < 400 {
		t.Errorf("%d memories", n)
	}
	if n := len(s.Labelled()); n < 300 {
		t.Errorf("%d labelled queries", n)
	}
	if n := len(s.Foreign()); n < 60 {
		t.Errorf("%d foreign queries", n)
	}
	fewest := map[string]int{"paraphrase": 60, "question": 60, "identifier": 40, "error": 40, "path": 30, "chinese": 30, "japanese": 30, "korean": 30, "misspelt": 40, "foreign": 60}
	classes := map[string]map[string]int{} // class → split → queries
	texts := map[string]string{}
	splits := map[string]string{} // memory → split of its queries
	for _, q := range s.Queries {
		if classes[q.Class] == nil {
			classes[q.Class] = map[string]int{}
		}
		classes[q.Class][q.Split]++
		text := strings.Join(strings.Fields(strings.ToLower(q.Text)), " ")
		if other, twice := texts[text]; twice {
			t.Errorf("%s asks what %s does", q.ID, other)
		}
		texts[text] = q.ID
		if (q.Class == "foreign") != (len(q.Rel) == 0) {
			t.Errorf("%s: class %s with %d right memories", q.ID, q.Class, len(q.Rel))
		}
		for id := range q.Rel {
			if other := splits[id]; other != "" && other != q.Split {
				t.Errorf("%s: %s is right in both splits", q.ID, id)
			}
			splits[id] = q.Split
		}
	}
	for class, by := range classes {
		n := by["dev"] + by["test"]
		if least, known := fewest[class]; !known || n < least {
			t.Errorf("class %q: %d queries, want %d", class, n, least)
		}
		if d := by["dev"] - by["test"]; len(by) != 2 || d*d > n {
			t.Errorf("class %q: %v is not about half and half", class, by)
		}
	}
	if len(classes) != len(fewest) {
		t.Errorf("%d classes, want %d", len(classes), len(fewest))
	}
}

// A user could have the memories of the set: each can be stored and read back, and no statement
// occurs twice.
func TestLabelledMemoriesCanBeKept(t *testing.T) {
	s, err := judge.Read(labelled)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	statements := map[string]string{}
	for _, m := range s.Stores[""] {
		kinds[m.Kind]++
		r := m.Record()
		if _, err := record.ParseMemory(r.Path(), r.Format()); err != nil {
			t.Errorf("%s: %v", m.ID, err)
		}
		if other, twice := statements[record.Normal(r.Text)]; twice {
			t.Errorf("%s says what %s does", m.ID, other)
		}
		statements[record.Normal(r.Text)] = m.ID
	}
	for _, kind := range record.Kinds {
		if kinds[string(kind)] < 5 {
			t.Errorf("%d memories of kind %s", kinds[string(kind)], kind)
		}
		delete(kinds, string(kind))
	}
	if len(kinds) > 0 {
		t.Errorf("kinds that are none: %v", kinds)
	}
}

// A score equals the parts that --explain shows: the sum of its parts times its factors, for every
// hit of every query. The part of the words is the sum of theirs.
func TestPartsAddUpToTheScore(t *testing.T) {
	s, err := judge.Read(labelled)
	if err != nil {
		t.Fatal(err)
	}
	var all []record.Memory
	for _, m := range s.Stores[""] {
		all = append(all, m.Record())
	}
	x, err := recall.Of(all)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	hits, characters, spelt := 0, 0, 0
	for _, q := range s.Queries {
		for _, f := range x.Rank(recall.Request{Text: q.Text, Now: time.Unix(1_800_000_000, 0), HalfOf: recall.HalfLife, Files: []string{"web/src/app.ts"}}) {
			hits++
			p, words := f.Parts, 0.0
			for _, w := range f.Words {
				words += w.Score
				if strings.Contains(w.String(), " → ") {
					spelt++
				}
			}
			if p.Characters > 0 {
				characters++
			}
			sum := (words + p.Characters + p.Grams + p.Near + p.Passage + p.Beside + p.SameFile) * p.Prior * p.Files
			if math.Abs(sum-f.Score) > 1e-9 || math.Abs(words-p.Words) > 1e-9 {
				t.Fatalf("%s: %q: score %v, parts %+v, words %v", q.ID, q.Text, f.Score, p, f.Words)
			}
		}
	}
	if hits < 10_000 || characters < 1000 || spelt < 100 {
		t.Errorf("%d hits, %d with characters, %d spelt otherwise: too few to tell", hits, characters, spelt)
	}
}

// No figure may get clearly worse. The figures are exact, so a change that lowers one shows; if a
// change raises them, raise the floors.
func TestRecallOnTheLabelledSet(t *testing.T) {
	if testing.Short() {
		t.Skip("it only calculates")
	}
	s, err := judge.Read(labelled)
	if err != nil {
		t.Fatal(err)
	}
	all, err := measure(s, options{})
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]float64{"nDCG@10": 84, "recall@10": 90, "prompts given a right memory unasked": 36, "prompts on another topic given nothing": 99}
	for _, f := range all {
		name, _, _ := strings.Cut(f.Name, ",")
		if floor, measured := floors[name]; measured && f.Value < floor {
			t.Errorf("%s is %.1f, below %.0f", name, f.Value, floor)
		}
		delete(floors, name)
	}
	if len(floors) > 0 {
		t.Errorf("not measured: %v", floors)
	}
}

// A question of the set meaning shares no word with the memory that answers it.
func TestMeaningHasNoWordInCommon(t *testing.T) {
	s, err := judge.Read("../../gitstore/recall/testdata/meaning")
	if err != nil {
		t.Fatal(err)
	}
	termsOf := func(text string) map[string]bool {
		var a terms.Analyzer
		out := map[string]bool{}
		for _, term := range a.Query(text) {
			out[term.Text] = true
		}
		return out
	}
	statement := map[string]string{}
	for _, m := range s.Stores[""] {
		statement[m.ID] = m.Text
	}
	for _, q := range s.Queries {
		asked := termsOf(q.Text)
		for id := range q.Rel {
			for term := range termsOf(statement[id]) {
				if asked[term] {
					t.Errorf("%s and %s: %q", q.ID, id, term)
				}
			}
		}
	}
	if n := len(s.Labelled()); n != 50 || s.Memories() != 100 {
		t.Errorf("%d questions, %d memories", n, s.Memories())
	}
}
