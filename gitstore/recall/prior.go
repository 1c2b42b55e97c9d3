package recall

import (
	"math"
	"time"
)

// priorRange is how far what is known of a memory without the query may move its score, either way: so little that it
// decides between memories that answer equally well, and never outvotes the words.
const priorRange = 0.1

// filesFactor is what the score of a memory about a file that the asker works on is multiplied by.
const filesFactor = 1.25

// day is what half-lives are counted in.
const day = 24 * time.Hour

// prior is the factor of a memory of some age: 1 + priorRange for a new one and one that never fades, which has no
// half-life, and 1 - priorRange for one that is very old. What has no time is between them.
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
