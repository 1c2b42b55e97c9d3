package recall

import (
	"math"
	"time"
)

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
