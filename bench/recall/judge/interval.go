package judge

import (
	"math/rand/v2"
	"slices"

	"github.com/reverie-memory/reverie/bench/figure"
)

// resamples is the number of times that queries are redrawn. With 2000 the ends of an interval move
// by about a twentieth of its width from seed to seed.
const resamples = 2000

// Interval is a mean over queries with its 95 % confidence interval for other queries of the same
// sort.
type Interval struct {
	Mean, Low, High float64
}

// Bootstrap returns the mean of some values with its percentile interval by resampling with
// replacement (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). The draw
// is the same each time. To compare two engines, pass the differences query by query: a query that
// is hard for both then widens nothing.
func Bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	chance := rand.New(rand.NewPCG(20, 26))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[chance.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	const tail = resamples * 25 / 1000
	return Interval{sum / float64(len(values)), means[tail], means[resamples-1-tail]}
}

// Mean makes a figure of shares, from 0 to 1.
func Mean(set, name string, values []float64, of string) figure.Figure {
	i := Bootstrap(values)
	return figure.Percent(set, name, i.Mean, i.Low, i.High, len(values), of)
}
