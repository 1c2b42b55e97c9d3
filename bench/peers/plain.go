package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// plainEngine is textbook BM25 (k1 1.2, b 0.75) over lower-case words, without stems. It drops stop
// words from queries.
var plainEngine = judge.Engine{Name: "plain BM25", Open: func(memories []judge.Memory) (judge.Store, error) {
	s := &plainStore{memories: memories, postings: map[string][]posting{}, lengths: make([]float64, len(memories))}
	for i, m := range memories {
		counts := map[string]float64{}
		for _, w := range words(whole(m)) {
			counts[w]++
			s.lengths[i]++
		}
		for w, n := range counts {
			s.postings[w] = append(s.postings[w], posting{i, n})
		}
		s.mean += s.lengths[i] / float64(len(memories))
	}
	return s, nil
}}

type posting struct {
	doc   int
	count float64
}

type plainStore struct {
	memories []judge.Memory
	postings map[string][]posting
	lengths  []float64 // in words
	mean     float64
}

// score returns the scores of the memories that have any word of a query.
func (s *plainStore) score(query string) map[int]float64 {
	const k1, b = 1.2, 0.75
	scores := map[int]float64{}
	for _, w := range sayingWords(query) {
		list := s.postings[w]
		idf := math.Log(1 + (float64(len(s.memories)-len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			scores[p.doc] += idf * p.count * (k1 + 1) / (p.count + k1*(1-b+b*s.lengths[p.doc]/s.mean))
		}
	}
	return scores
}

func (s *plainStore) Search(query string, n int) (ids []string, err error) {
	scores := s.score(query)
	var docs []int
	for doc := range scores {
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	for _, doc := range docs[:min(n, len(docs))] {
		ids = append(ids, s.memories[doc].ID)
	}
	return ids, nil
}

func (s *plainStore) Close() error { return nil }

// whole returns all texts of a memory as one.
func whole(m judge.Memory) string {
	return strings.TrimSpace(strings.Join([]string{m.Title, m.Text, strings.Join(m.Tags, " "), strings.Join(m.Paths, " ")}, "\n"))
}

// words returns the runs of letters, digits and underscores, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_'
	})
}

// sayingWords returns the words of a query without bleve's English stop words, unless it has no
// others. A repeated word counts each time.
func sayingWords(query string) []string {
	all := words(query)
	if saying := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return stopWords[w] }); len(saying) > 0 {
		return saying
	}
	return all
}

var stopWords = func() map[string]bool {
	stop := map[string]bool{}
	for line := range strings.Lines(string(en.EnglishStopWords)) {
		line, _, _ = strings.Cut(line, "|")
		for _, w := range strings.Fields(line) {
			stop[w] = true
		}
	}
	return stop
}()
