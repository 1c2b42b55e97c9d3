// Package eval measures what detectors and models find in labelled sessions: precision and recall,
// with 95 % confidence intervals. Begin with Measure.
package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/labelled"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A Study returns the reflection of a session. Its result counts even beside an error.
type Study func(ctx context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error)

// A Subject is measured. A model is measured twice: by itself, and together with the detectors.
type Subject struct {
	Name  string
	Read  Study
	Model bool
}

// Detectors names the subject without a model.
const Detectors = "detectors"

// Rows returns the names of the subject's rows.
func (r Subject) Rows() []string {
	if r.Model {
		return []string{r.Name, Detectors + " + " + r.Name}
	}
	return []string{r.Name}
}

// ByDetectors studies a session without a model.
func ByDetectors(_ context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error) {
	return reflect.Study(s, events), nil
}

// ByModel studies a session with a model and the detectors. Without an answer only the detectors'
// findings count.
func ByModel(m *prompts.Model, set prompts.Set) Study {
	return func(ctx context.Context, s transcript.Session, events []transcript.Event) (record.Reflection, error) {
		base := reflect.Study(s, events)
		r, err := reflect.Read(ctx, m, set, s, events, base, nil)
		if err != nil {
			return base, err
		}
		return r.Reflection, nil
	}
}

// Row holds the result of a subject. Found counts its candidates: right, wrong, and allowed ones.
type Row struct {
	Name      string  `json:"name"`
	Sessions  int     `json:"sessions"`
	Failed    int     `json:"failed"` // sessions that it did not read
	Found     int     `json:"found"`
	Right     int     `json:"right"`
	Wrong     int     `json:"wrong"`
	Missed    int     `json:"missed"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	Classes   []Share `json:"classes"`   // recall, by class of label
	Detectors []Share `json:"detectors"` // precision, by detector
	// precision of candidates that a policy may accept after one session, and of the rest
	Policy   []Share   `json:"policy"`
	Mistakes []Mistake `json:"mistakes"`

	Cause error `json:"-"` // why the first failed session failed
}

// A Share is a part of a count, with its 95 % confidence interval.
type Share struct {
	Name  string  `json:"name"`
	Right int     `json:"right"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// parts returns named shares, in the order of their names.
func parts(by map[string]labelled.Share) []Share {
	round := func(x float64) float64 { return math.Round(x*10000) / 10000 }
	out := []Share{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if s := by[name]; s.Of > 0 {
			low, high := s.Interval()
			out = append(out, Share{Name: name, Right: s.N, Of: s.Of, Share: round(float64(s.N) / float64(s.Of)), Low: round(low), High: round(high)})
		}
	}
	return out
}

// A Mistake is a wrong or missed statement.
type Mistake struct {
	File  string `json:"file"`
	What  string `json:"what"`  // wrong or missed
	Class string `json:"class"` // the detector of a wrong one, the label's class of a missed one
	Text  string `json:"text"`
}

// Measure has a subject study every labelled session and returns a row for each of its names. step
// receives the number of each label before it is read.
func Measure(ctx context.Context, labels []labelled.Label, r Subject, step func(n int)) ([]Row, error) {
	rows := make([]Row, len(r.Rows()))
	scores := make([]labelled.Score, len(rows))
	for n, name := range r.Rows() {
		rows[n] = Row{Name: name, Mistakes: []Mistake{}}
	}
	scanner := redact.New()
	for i, l := range labels {
		step(i)
		sessions, err := l.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		found := make([][]record.Candidate, len(rows))
		for _, s := range sessions {
			events, err := redacted(scanner, s.Events)
			if err != nil {
				return nil, err
			}
			read, err := r.Read(ctx, s.Session, events)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			for n := range rows {
				if err != nil && rows[n].Failed == 0 {
					rows[n].Cause = fmt.Errorf("%s: %w", l.Session, err)
				}
				if err != nil {
					rows[n].Failed++
				}
				rows[n].Sessions++
			}
			if r.Model {
				own := slices.DeleteFunc(slices.Clone(read.Candidates), func(c record.Candidate) bool { return c.Detector != record.ByModel })
				found[0], found[1] = append(found[0], own...), append(found[1], read.Candidates...)
			} else {
				found[0] = append(found[0], read.Candidates...)
			}
		}
		for n := range rows {
			v := l.Judge(found[n])
			scores[n].Add(v)
			for _, c := range v.Wrong {
				rows[n].Mistakes = append(rows[n].Mistakes, Mistake{l.Session, "wrong", c.Detector, c.Text})
			}
			for _, e := range v.Missed {
				rows[n].Mistakes = append(rows[n].Mistakes, Mistake{l.Session, "missed", e.Class, e.Accept})
			}
		}
	}
	for n, score := range scores {
		row := &rows[n]
		row.Found, row.Right, row.Wrong, row.Missed = score.Right+score.Allowed+score.Wrong, score.Right, score.Wrong, score.Missed
		row.Precision, row.Recall = score.Precision(), score.Recall()
		row.Classes, row.Detectors = parts(score.Classes), parts(score.Detectors)
		row.Policy = parts(map[string]labelled.Share{"at once": score.AtOnce, "waiting": score.Waiting})
	}
	return rows, nil
}

// redacted returns events as a stored session has them, without secrets.
func redacted(scanner *redact.Scanner, events []transcript.Event) ([]transcript.Event, error) {
	raw, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	text, _, err := scanner.JSON(raw)
	if err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	var out []transcript.Event
	err = json.NewDecoder(strings.NewReader(text.String())).Decode(&out)
	return out, err
}
