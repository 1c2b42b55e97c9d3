package redact

import "slices"

// span is a secret's place in a text: text[start:end].
type span struct {
	start, end int
	rule       string
}

// maxValue is the longest secret, in bytes, that an assignment can have and that is looked for
// elsewhere.
const maxValue = 4096

// settle sorts spans, joins those that overlap, drops those within a marker, and widens those that
// cut one. A joined span keeps the rule of its first part.
func settle(text string, found []span) []span {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	out := found[:0]
	for _, f := range found {
		f, ok := clearOfMarkers(text, f)
		if !ok {
			continue
		}
		if n := len(out); n > 0 && f.start < out[n-1].end {
			out[n-1].end = max(out[n-1].end, f.end)
			continue
		}
		out = append(out, f)
	}
	return out
}
