package intake

import (
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// repeats returns a function that reports whether a statement of a file is known already: known,
// waiting or earlier in the file, in nearly the same words. A memory that was edited since has the
// id of its first words, and the edit counts.
func repeats(v *record.View, waiting []record.Operation, now time.Time) func(record.Memory) bool {
	var prints []record.Fingerprint
	for _, o := range waiting {
		if o.Op == record.Add || o.Op == record.Edit || o.Op == record.Merge {
			prints = append(prints, record.Print(o.Memory.Text))
		}
	}
	return func(m record.Memory) bool {
		print := record.Print(m.Text)
		if slices.ContainsFunc(prints, print.Same) {
			return true
		}
		if k, err := v.Find(record.New(m).ID); err == nil && k.Live(now) {
			return true
		}
		if slices.ContainsFunc(v.Alike(m.Text, dream.Alike), func(k record.Memory) bool { return k.Live(now) && print.Same(record.Print(k.Text)) }) {
			return true
		}
		prints = append(prints, print)
		return false
	}
}

// maxNear bounds the near statements of each sort that an operation names.
const maxNear = 10

// markNear adds near statements to operations: known, pending and newly imported ones. A statement
// that differs in a negation, a number or a version contradicts.
func (in *Intake) markNear(v *record.View, ops []record.Operation) error {
	waiting, err := v.Inbox().Operations()
	if err := in.Tolerate(err); err != nil {
		return err
	}
	waiting = slices.DeleteFunc(append(waiting, ops...), func(o record.Operation) bool { return o.Op != record.Add })
	prints := make([]record.Fingerprint, len(waiting))
	for i, o := range waiting {
		prints[i] = record.Print(o.Memory.Text)
	}
	for i := range ops {
		o := &ops[i]
		if o.Op != record.Add {
			continue
		}
		print := record.Print(o.Memory.Text)
		alike := v.Alike(o.Memory.Text, dream.Alike)
		for _, k := range alike[:min(maxNear, len(alike))] {
			switch {
			case k.ID == o.Memory.ID || k.Status == record.Retired:
			case print.Turned(record.Print(k.Text)):
				o.Contradicts = append(o.Contradicts, k.ID)
			case dream.Resembles(o.Memory.Text, k.Text):
				o.Alike = append(o.Alike, k.ID)
			}
		}
		for j, k := range waiting {
			if len(o.Contradicts) < maxNear && k.Memory.ID != o.Memory.ID && print.Turned(prints[j]) && print.Alike(prints[j]) >= dream.Alike {
				o.Contradicts = append(o.Contradicts, k.Memory.ID)
			}
		}
	}
	return nil
}
