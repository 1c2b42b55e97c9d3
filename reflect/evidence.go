package reflect

import (
	"sort"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/reflect/claim"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// maxEvidence bounds the quotes of one candidate.
const maxEvidence = 6

// index returns the index in the view's events of the event at position n of the session.
func (v *view) index(n int) (int, bool) {
	if n >= 0 && n < len(v.events) && v.events[n].N == n {
		return n, true
	}
	i := sort.Search(len(v.events), func(i int) bool { return v.events[i].N >= n })
	return i, i < len(v.events) && v.events[i].N == n
}

// quote makes evidence of words in the event at an index, cut to the allowed length.
func (v *view) quote(i int, words string) record.Evidence {
	e := record.Evidence{Event: v.events[i].N, Quote: excerpt(words), Time: v.events[i].Time}
	switch {
	case v.events[i].Mixed:
		e.Doubt = record.Mixed
	case v.reports(i):
		e.Doubt = record.Reported
	}
	return e
}

// reports reports whether the event at an index is a message that may hold words of others.
func (v *view) reports(i int) bool {
	if e := &v.events[i]; e.Kind != transcript.User || e.Origin != transcript.Typed {
		return false
	}
	is, known := v.hearsay[i]
	if !known {
		is = claim.Hearsay(v.events[i].Text) != ""
		v.hearsay[i] = is
	}
	return is
}

// quoteCommand returns evidence of a command, in its own words.
func (v *view) quoteCommand(a act) record.Evidence {
	command := v.events[a.call].Command
	if len(command) <= record.MaxQuote {
		return v.quote(a.call, strings.TrimSpace(command))
	}
	// The part of a long command line for this step.
	for _, begin := range []string{head(a.step), a.step.words[0]} {
		if at := strings.Index(command, begin); at >= 0 {
			command = command[at:]
			break
		}
	}
	line, _, _ := strings.Cut(command, "\n")
	return v.quote(a.call, strings.TrimSpace(line))
}

// quoteError returns evidence of a command's error, or of the command if the error cannot be quoted
// verbatim.
func (v *view) quoteError(a act, sig signature) record.Evidence {
	// Colour codes are not part of a quote: take the longest part without them.
	best := ""
	for _, part := range ansi.Split(sig.line, -1) {
		if part = strings.TrimSpace(part); len(part) > len(best) {
			best = part
		}
	}
	for _, words := range []string{best, sig.text} {
		if len(words) >= 4 && complains(words) && strings.Contains(v.events[a.result].Text, excerpt(words)) {
			return v.quote(a.result, words)
		}
	}
	return v.quoteCommand(a)
}

// excerpt returns the quotable part of a text: its first record.MaxQuote bytes.
func excerpt(text string) string {
	if len(text) <= record.MaxQuote {
		return text
	}
	return strings.TrimSpace(cut.Bytes(text, record.MaxQuote))
}
