package redact

import "slices"

// scan is one pass over a text.
type scan struct {
	text  string
	found []span // may overlap, not sorted
	from  int    // nothing before it is looked at again
	// Positions already examined, so that each byte is examined once, not once per nearby trigger.
	named  int    // end of the last name
	beside int    // end of what was searched for random strings
	head   header // of the last table
	table  int    // end of it
	run    run    // the value without quotes that was looked at last
	line   struct {
		end, commands int // of the line with the last command
	}
}

// take adds a secret at the place that is looked at; the scan goes on behind it.
func (s *scan) take(f span) {
	s.found = append(s.found, f)
	s.from = max(s.from, f.end)
}

// note adds a secret elsewhere: what lies between is still looked at.
func (s *scan) note(f span) { s.found = append(s.found, f) }

// taking makes a look of a function that needs only the text.
func taking(look func(text string, at int, found []span) []span) func(*scan, int) {
	return func(s *scan, at int) {
		n := len(s.found)
		s.found = look(s.text, at, s.found)
		for _, f := range s.found[n:] {
			s.from = max(s.from, f.end)
		}
	}
}

// run is a value without quotes: it is looked for once, however many names stand in it.
type run struct {
	start, end int
	line       bool // it goes on to a blank
	judged     int  // how often a part that ends with it was no secret
}

// header is the line that heads a table, or may.
type header struct {
	start, end int
	read       int // how many of its columns have been read
}

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
