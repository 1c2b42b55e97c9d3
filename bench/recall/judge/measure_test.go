package judge

import (
	"math"
	"testing"
)

// The numbers were calculated by hand. Discounts log2(rank+1): 1, 1.585, 2, 2.3219, 2.585, …
// log2(11) = 3.4594 at rank 10.
func TestMeasure(t *testing.T) {
	one := map[string]float64{"a": 1}
	long := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "a"}
	for name, test := range map[string]struct {
		answer []string
		rel    map[string]float64
		want   Score
	}{
		"first":      {[]string{"a", "b"}, one, Score{1, 1, 1, 1, 1}},
		"second":     {[]string{"b", "a"}, one, Score{0, 1, 1, 0.5, 1 / 1.5849625007}},
		"tenth":      {long, one, Score{0, 0, 1, 0.1, 1 / 3.4594316186}},
		"eleventh":   {append([]string{"0"}, long...), one, Score{}},
		"no answer":  {nil, one, Score{}},
		"none right": {[]string{"x", "y"}, one, Score{}},
		// b and c at 2 and 3 of two right ones: (1/1.585 + 1/2) / (1 + 1/1.585) = 1.1309 / 1.6309
		"two of two": {[]string{"x", "b", "c"}, map[string]float64{"b": 1, "c": 1}, Score{0, 1, 1, 0.5, 0.6934264036}},
		// grades 3 and 1, the lesser first: (1 + 3/1.585) / (3 + 1/1.585) = 2.8928 / 3.6309
		"grades": {[]string{"low", "high"}, map[string]float64{"low": 1, "high": 3}, Score{0.5, 1, 1, 1, 0.7967075809}},
		// one of four, first: 1 / (1 + 0.6309 + 0.5 + 0.4307)
		"one of four": {[]string{"a"}, map[string]float64{"a": 1, "b": 1, "c": 1, "d": 1}, Score{0.25, 0.25, 0.25, 1, 0.3903800499}},
	} {
		got := Measure(test.answer, test.rel)
		for _, m := range Metrics {
			if math.Abs(m.Of(got)-m.Of(test.want)) > 1e-9 {
				t.Errorf("%s: %s is %.10f, want %.10f", name, m.Name, m.Of(got), m.Of(test.want))
			}
		}
	}
}

// With more right memories than an answer can show, the best answer has Depth of them: ten of
// twelve count fully.
func TestNDCGOfMoreThanFit(t *testing.T) {
	rel := map[string]float64{}
	var answer []string
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c"} {
		rel[id] = 1
		answer = append(answer, id)
	}
	if got := Measure(answer, rel); math.Abs(got.NDCG-1) > 1e-12 || math.Abs(got.Recall10-10./12) > 1e-12 {
		t.Errorf("%+v", got)
	}
}

func TestBootstrap(t *testing.T) {
	if got := Bootstrap([]float64{0.4, 0.4, 0.4}); math.Abs(got.Mean-0.4) > 1e-12 || got.Low != got.High {
		t.Errorf("values that are all the same: %+v", got)
	}
	if got := Bootstrap(nil); got != (Interval{}) {
		t.Errorf("no values: %+v", got)
	}
	// 100 coins: the mean's standard deviation is 0.05, so the interval is 0.5 ± 0.098.
	coins := make([]float64, 100)
	for i := range 50 {
		coins[i] = 1
	}
	got := Bootstrap(coins)
	if got.Mean != 0.5 || math.Abs(got.Low-0.402) > 0.015 || math.Abs(got.High-0.598) > 0.015 {
		t.Errorf("coins: %+v", got)
	}
	if again := Bootstrap(coins); again != got {
		t.Errorf("another draw: %+v, %+v", got, again)
	}
}
