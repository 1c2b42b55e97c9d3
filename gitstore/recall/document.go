package recall

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// fieldWeights are the counts of a term by field: the statement is the shortest true summary of a
// memory.
var fieldWeights = [terms.Fields]uint8{terms.Statement: 3, terms.Tags: 2, terms.Paths: 2, terms.Body: 1}

// kept changes with the part of a memory that Document stores.
const kept = 2

// analysis identifies the analysis of documents. It changes with everything that tokens depend on,
// and with kept.
func analysis() string {
	version := strconv.Itoa(kept) + "." + strconv.Itoa(terms.Version)
	for _, w := range fieldWeights {
		version += "." + strconv.Itoa(int(w))
	}
	return version
}

// Tokens returns the tokens of a memory, from each of its texts and its labels.
func Tokens(a *terms.Analyzer, m record.Memory) []catalog.Token {
	var all []terms.Token
	for _, t := range m.Texts() {
		all = a.Append(all, t.Text, terms.Statement)
		all = a.Append(all, t.Body, terms.Body)
	}
	for _, t := range m.Tags {
		all = a.Append(all, t, terms.Tags)
	}
	for _, p := range m.Paths {
		all = a.Append(all, p, terms.Paths)
	}
	out := make([]catalog.Token, len(all))
	for i, t := range all {
		out[i] = catalog.Token{Term: t.Text, Weight: fieldWeights[t.Field], Word: t.Word, Passage: t.Passage, Gram: t.Gram}
	}
	return out
}

// KindNumber returns the number of a kind in the index: its place in record.Kinds, from 1; 0 for
// another.
func KindNumber(k record.Kind) uint8 { return uint8(slices.Index(record.Kinds, k) + 1) }

// HalfLife returns the age at which the prior of a memory of a kind, by number, has lost half its
// weight. Zero means that it never fades.
func HalfLife(kind uint8) time.Duration {
	if kind == 0 || int(kind) > len(record.Kinds) {
		return 0
	}
	switch record.Kinds[kind-1] {
	case record.Decision, record.Pattern, record.Workflow:
		return 180 * day
	case record.Failure:
		return 90 * day
	case record.Fact:
		return 60 * day
	case record.Note:
		return 30 * day
	}
	return 0
}

// Without the query, a ranking knows only what a memory's document holds: its kind, time, files and
// anchors. It ignores two other measures of trust.
//
// The number of supporting sessions comes from the reflections, which change without the memory's
// file, so an index would miss the change. The command context reads them anyway and counts them.
//
// Whether the anchored code still exists depends on the asker's work tree. The command recall
// checks it only for the hits it shows, and ranks a memory without its code lower.

// priorRange bounds the effect of a memory's age on its score, either way. It decides between
// equally good memories, and never outvotes the words.
const priorRange = 0.1

// filesFactor multiplies the score of a memory about a file that the asker works on, or anchored in
// one.
const filesFactor = 1.25

// day is the unit of half-lives.
const day = 24 * time.Hour

// prior returns the factor for a memory's age. It is 1 + priorRange for a new memory, or one that
// never fades (half is 0). It falls to 1 - priorRange for a very old one. A memory without a time
// is between them.
func prior(now time.Time, written int64, half time.Duration) float64 {
	switch {
	case half <= 0:
		return 1 + priorRange
	case written == 0 || now.IsZero():
		return 1
	}
	age := max(now.Sub(time.Unix(written, 0)), 0)
	return 1 + priorRange*(2*math.Exp2(-float64(age)/float64(half))-1)
}

// files returns the factor of a document about files that the asker works on, or that rests on one
// of them.
func (r *ranking) files(at Ref) float64 {
	if r.about == nil {
		r.about = r.Index.about(r.request.Files, true)
	}
	if r.about.path(at) != "" {
		return filesFactor
	}
	return 1
}
