package recall

import (
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
