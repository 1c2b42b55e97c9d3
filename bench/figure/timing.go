package figure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Timing is a median with its 95 % interval, or the whole range of fewer than minValues values.
type Timing struct {
	time.Duration
	Low, High time.Duration
	N         int // of values; fewer than minValues have no interval
}

// minValues is the least number of values whose range is a 95 % interval of the median.
const minValues = 6

// Median returns the median with its interval by order statistics: the ranks between which it lies
// with at least 95 %, whatever the distribution. Fewer than six values give the whole range. It
// sorts d, which is not empty.
func Median(d []time.Duration) Timing {
	slices.Sort(d)
	n, rank := len(d), 0
	tail, term := 0.0, math.Pow(0.5, float64(n)) // of the binomial distribution
	for k := 0; k < n/2; k++ {
		if tail += term; tail > 0.025 {
			break
		}
		rank, term = k, term*float64(n-k)/float64(k+1)
	}
	return Timing{d[n/2], d[rank], d[n-1-rank], n}
}

// Over subtracts a timing; the ends of the interval are those of the least and greatest difference.
func (t Timing) Over(u Timing) Timing {
	return Timing{max(0, t.Duration-u.Duration), max(0, t.Low-u.High), max(0, t.High-u.Low), min(t.N, u.N)}
}

// interval returns the interval of a figure that is computed of one or two timings.
func interval(low, high float64, of ...Timing) *Interval {
	if slices.ContainsFunc(of, func(t Timing) bool { return t.N < minValues }) {
		return nil
	}
	return &Interval{low, high}
}

// Time makes a figure of a timing in milliseconds.
func Time(set, name string, t Timing, of string) Figure {
	return Figure{Set: set, Name: name, Value: InMs(t.Duration), Unit: "ms", Range: interval(InMs(t.Low), InMs(t.High), t), N: t.N, Of: of}
}

// Ratio makes a figure of how many times as long ours takes. Its interval spans both intervals.
func Ratio(set, name string, ours, beside Timing, of string) Figure {
	by := func(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }
	return Figure{Set: set, Name: name, Value: by(ours.Duration, beside.Duration), Unit: "×", N: min(ours.N, beside.N), Of: of,
		Range:  interval(by(ours.Low, beside.High), by(ours.High, beside.Low), ours, beside),
		Beside: Milliseconds(ours.Duration) + " against " + Milliseconds(beside.Duration)}
}

// InMs returns a time in milliseconds.
func InMs(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Milliseconds formats a time.
func Milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", InMs(d)) }
