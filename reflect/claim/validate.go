package claim

import (
	"cmp"
	"slices"
)

// A Judged is the model's judgement of a sentence whose voice was held out.
type Judged struct {
	Voice, Lang, Text string
	Kept              bool // by its label
	Kind              Kind // likewise
	Plain             bool // its message holds no words of others
	Got               Claim
}

// CrossValidate judges each sentence of the messages by a model trained without its voice, in the
// given number of rounds.
func CrossValidate(messages []Message, rounds int) []Judged {
	list := examples(messages)
	var voices []string
	for _, e := range list {
		if !slices.Contains(voices, e.voice) {
			voices = append(voices, e.voice)
		}
	}
	var out []Judged
	for round := range rounds {
		held := func(e *example) bool { return slices.Index(voices, e.voice)%rounds == round }
		var known []*example
		for _, e := range list {
			if !held(e) {
				known = append(known, e)
			}
		}
		m := train(known)
		m.propose, m.lasting = 0, 0
		var features []uint32
		for _, e := range list {
			if !held(e) {
				continue
			}
			j := Judged{Voice: e.voice, Lang: e.lang, Text: e.text, Kept: e.label != nil, Plain: e.plain}
			if e.label != nil {
				j.Kind = e.label.Kind
			}
			j.Got, features = m.judge(e.s, features[:0])
			if j.Got.Asks {
				j.Got.Keep = 0
			}
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(a, b Judged) int { return cmp.Compare(b.Got.Keep, a.Got.Keep) })
	return out
}

// Threshold returns the lowest probability at which the kept share of the counted sentences reaches
// precision, and the share of all kept ones above it. The sentences are sorted in falling order.
func Threshold(list []Judged, precision float64, counts func(Judged) bool) (at, recall float64) {
	at = 1
	n, right, all, best := 0, 0, 0, 0
	for _, j := range list {
		if j.Kept && counts(j) {
			all++
		}
	}
	for _, j := range list {
		if !counts(j) {
			continue
		}
		n++
		if j.Kept {
			right++
		}
		if n >= 10 && float64(right) >= precision*float64(n) {
			at, best = j.Got.Keep, right
		}
	}
	return at, float64(best) / float64(max(all, 1))
}

// May reports whether the words may be accepted without review once the model is certain.
func (j Judged) May() bool {
	return j.Plain && j.Got.Lasts && !j.Got.Leans && !j.Got.Asks && !j.Got.Pasted && !j.Got.Bound
}

// SetThresholds takes the thresholds from a cross-validation with held-out voices. 90 % of the
// sentences accepted without review are right, 85 % of those proposed without a lasting mark, and
// 80 % of those with one. Sentences of other people are right less often.
func (m *Model) SetThresholds(list []Judged) {
	m.accept, _ = Threshold(list, 0.90, Judged.May)
	m.propose, _ = Threshold(list, 0.85, func(j Judged) bool { return j.Got.May() && !j.Got.Lasts })
	m.lasting, _ = Threshold(list, 0.80, func(j Judged) bool { return j.Got.May() && j.Got.Lasts })
}
