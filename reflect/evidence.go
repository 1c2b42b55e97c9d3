package reflect

import (
	"sort"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
)

// maxEvidence is how many quotes one candidate keeps.
const maxEvidence = 6

// index returns where in the view's events the event at position n of the session is.
func (v *view) index(n int) (int, bool) {
	if n >= 0 && n < len(v.events) && v.events[n].N == n {
		return n, true
	}
	i := sort.Search(len(v.events), func(i int) bool { return v.events[i].N >= n })
	return i, i < len(v.events) && v.events[i].N == n
}

// quote makes evidence of words that stand in the event at an index, cut to what may be kept.
func (v *view) quote(i int, words string) record.Evidence {
	return record.Evidence{Event: v.events[i].N, Quote: excerpt(words), Time: v.events[i].Time}
}

// quoteCommand is evidence that a command was run, in its own words.
func (v *view) quoteCommand(a act) record.Evidence {
	command := v.events[a.call].Command
	if len(command) <= record.MaxQuote {
		return v.quote(a.call, strings.TrimSpace(command))
	}
	// The part of a long command line that this step is about.
	if first := a.step.words[0]; first != "" {
		if at := strings.Index(command, first); at >= 0 {
			command = command[at:]
		}
	}
	line, _, _ := strings.Cut(command, "\n")
	return v.quote(a.call, strings.TrimSpace(line))
}

// quoteLine is evidence of one line of an output; where the line cannot be quoted as it
// stands, of the command.
func (v *view) quoteLine(a act, line string) record.Evidence {
	// Colour codes are no part of a quote: take the longest stretch without them.
	best := ""
	for _, part := range ansi.Split(line, -1) {
		if part = strings.TrimSpace(part); len(part) > len(best) {
			best = part
		}
	}
	if len(best) < 4 || !strings.Contains(v.events[a.result].Text, excerpt(best)) {
		return v.quoteCommand(a)
	}
	return v.quote(a.result, best)
}

// excerpt is what is quoted of a text: its first record.MaxQuote bytes.
func excerpt(text string) string {
	if len(text) <= record.MaxQuote {
		return text
	}
	return strings.TrimSpace(cut.Bytes(text, record.MaxQuote))
}
