package recall

import (
	"math"
	"time"
)

// A ranking reads nothing but the index, and knows of a memory without the query only what its
// document holds: its kind, its time, the files it is about and those it rests on. Two things that
// would tell how far to trust it are not among them.
//
// How many sessions bore it out is counted from the reflections, which come and go while the
// memory's file stays as it is: an index that kept the number would not learn that it changed. The
// command context counts them, since it reads them anyway.
//
// Whether the code is still what it rests on depends on the tree where the asker stands. The
// command recall looks there, only for what it is about to show, and ranks a memory whose code is
// gone lower.

// priorRange is how far what is known of a memory without the query may move its score, either way:
// so little that it decides between memories that answer equally well, and never outvotes the
// words.
const priorRange = 0.1

// filesFactor is what the score of a memory is multiplied by that is about a file that the asker
// works on, or rests on one.
const filesFactor = 1.25

// day is what half-lives are counted in.
const day = 24 * time.Hour

// prior is the factor of a memory of some age: 1 + priorRange for a new one and one that never
// fades, which has no half-life, and 1 - priorRange for one that is very old. What has no time is
// between them.
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

// files is the factor of a document about files that the asker works on, or that rests on one of
// them.
func (r *ranking) files(at Ref) float64 {
	if r.about == nil {
		r.about = r.Index.about(r.request.Files, true)
	}
	if r.about.path(at) != "" {
		return filesFactor
	}
	return 1
}
