package intake

import (
	"slices"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// unknown returns the memories that repeat no known, pending or earlier one in nearly the same
// words. known counts the others.
func (in *Intake) unknown(v *record.View, memories []record.Memory) (fresh []record.Memory, known int, err error) {
	ops, err := v.Inbox().Operations()
	if err := in.Tolerate(err); err != nil {
		return nil, 0, err
	}
	var prints []record.Fingerprint
	for _, o := range ops {
		if o.Op == record.Add || o.Op == record.Edit || o.Op == record.Merge {
			prints = append(prints, record.Print(o.Memory.Text))
		}
	}
	for _, m := range memories {
		print := record.Print(m.Text)
		same := slices.ContainsFunc(prints, print.Same) || slices.ContainsFunc(v.Alike(m.Text, dream.Alike), func(k record.Memory) bool {
			return k.Live(in.Now()) && print.Same(record.Print(k.Text))
		})
		if same {
			known++
			continue
		}
		fresh, prints = append(fresh, m), append(prints, print)
	}
	return fresh, known, nil
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
			default:
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
