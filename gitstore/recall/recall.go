// Package recall finds memories by what they say. Search is the entry: BM25 over weighted
// fields, computed from the memories at hand. It keeps no state and is safe for concurrent use.
//
// Where a model gives texts their vectors, Vectors keeps them in a file, Nearest ranks memories by likeness, and Fuse
// merges that with what Search found. Without a model, and for every memory that has no vector yet, Search is all.
package recall

import (
	"cmp"
	"math"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009) with the weights
// of fields summed into one term frequency and one length.
const (
	k1 = 1.2  // how soon a repeated term stops adding
	b  = 0.65 // how much a long memory is discounted
)

// Weights of the fields.
const (
	weightText = 3
	weightTags = 2
	weightPath = 1
	weightBody = 1
)

// Hit is a memory that answers a query.
type Hit struct {
	Memory  record.Memory
	Score   float64 // greater is better; comparable within one answer only
	Covered float64 // share of the query's information that the memory has, 0 to 1
	Terms   []Part  // of Score
}

// Part is what one term of the query added to a score.
type Part struct {
	Term  string
	Score float64
}

// Search ranks memories against a query in plain words. Only memories that share a term with
// it are returned, at most n of them unless n is 0; equal scores keep the order of ids. Its
// cost is linear in the text of all memories.
func Search(memories []record.Memory, query string, n int) []Hit {
	terms := uniq(Terms(query))
	if len(terms) == 0 {
		return nil
	}
	index := map[string]int{}
	for i, t := range terms {
		index[t] = i
	}
	var begins [256]bool // with which bytes a term of the query begins: most words are passed over by that
	for _, t := range terms {
		begins[t[0]] = true
	}
	type doc struct {
		tf     []float64
		length float64
		score  float64
	}
	docs := make([]doc, len(memories))
	df := make([]int, len(terms))
	total := 0.0
	flat := make([]float64, len(memories)*len(terms))
	var found []int // in memories
	for i := range memories {
		m, d := &memories[i], &docs[i]
		d.tf = flat[i*len(terms) : (i+1)*len(terms)]
		any := false
		field := func(text string, weight float64) {
			eachTerm(text, func(term []byte) {
				d.length += weight
				if !begins[term[0]] {
					return
				}
				if j, ok := index[string(term)]; ok {
					d.tf[j] += weight
					any = true
				}
			})
		}
		field(m.Text, weightText)
		field(m.Body, weightBody)
		for _, t := range m.Tags {
			field(t, weightTags)
		}
		for _, p := range m.Paths {
			field(p, weightPath)
		}
		for _, v := range m.Variants {
			field(v.Text, weightText)
			field(v.Body, weightBody)
		}
		if any {
			found = append(found, i)
		}
		for j, f := range d.tf {
			if f > 0 {
				df[j]++
			}
		}
		total += d.length
	}
	mean := max(total/float64(max(1, len(memories))), 1)
	idf := make([]float64, len(terms))
	information := 0.0
	for j := range terms {
		idf[j] = math.Log(1 + (float64(len(memories)-df[j])+0.5)/(float64(df[j])+0.5))
		information += idf[j]
	}
	part := func(d *doc, j int) float64 {
		return idf[j] * d.tf[j] * (k1 + 1) / (d.tf[j] + k1*(1-b+b*d.length/mean))
	}
	for _, i := range found {
		for j, f := range docs[i].tf {
			if f > 0 {
				docs[i].score += part(&docs[i], j)
			}
		}
	}
	slices.SortStableFunc(found, func(i, j int) int { return cmp.Compare(docs[j].score, docs[i].score) })
	if n > 0 && len(found) > n {
		found = found[:n]
	}
	hits := make([]Hit, len(found))
	for at, i := range found {
		d, h := &docs[i], &hits[at]
		h.Memory, h.Score = memories[i], d.score
		h.Terms = make([]Part, 0, len(terms))
		for j, f := range d.tf {
			if f > 0 {
				h.Covered += idf[j] / information
				h.Terms = append(h.Terms, Part{terms[j], part(d, j)})
			}
		}
	}
	return hits
}

func uniq(terms []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(terms, func(t string) bool {
		known := seen[t]
		seen[t] = true
		return known
	})
}
