package transfer

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Options are the inputs of Plan besides the view.
type Options struct {
	Pending    []record.Operation // the operations in the inbox
	Rejections []record.Rejection
	Private    []record.Kind // kinds that stay in the clone
	// Reviewed means that a person has seen the import, which overrides pending and rejected
	// operations.
	Reviewed bool
	Why      string // the reason in each operation
}

// Result counts the outcomes of an import.
type Result struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Known   int `json:"known"`             // already present or pending
	Refused int `json:"refused"`           // retired, or rejected by a person
	Retired int `json:"retired,omitempty"` // out of force at their origin
	// Waiting counts the proposed retirements in a reviewed import. Plan leaves it 0.
	Waiting int `json:"waiting,omitempty"`
}

// plan is the state of one call of Plan.
type plan struct {
	Options
	v        *record.View
	waiting  map[string]record.Operation // by the memory's id
	unwanted map[string]bool             // text keys that a person rejected
	rejected map[string]bool             // ids of operations that a person rejected
	byText   map[string]string           // text key → id in force
	saying   map[string]string           // normal statement → id in force
	at       map[string]int              // memory id → index in ops
	ops      []record.Operation
	res      Result
}

// Plan compares imported memories with known and pending ones. It identifies a memory by its ref,
// otherwise by its id, otherwise by its text. It refuses rejected and retired memories, except that
// Reviewed overrides a rejection. A memory that is out of force at its origin is retired here. If
// it is unknown here it is stored as retired, so that it is not learned again.
func Plan(v *record.View, memories []record.Memory, o Options) ([]record.Operation, Result) {
	p := &plan{Options: o, v: v, waiting: map[string]record.Operation{}, unwanted: map[string]bool{}, rejected: map[string]bool{},
		byText: map[string]string{}, saying: map[string]string{}, at: map[string]int{}}
	for _, w := range o.Pending {
		p.waiting[w.Memory.ID] = w
	}
	for _, r := range o.Rejections {
		key := textKey(r.Text, r.Body)
		p.unwanted[key] = p.unwanted[key] || r.How != record.Model
		p.rejected[r.ID] = true
	}
	for _, m := range v.Memories() {
		if m.Status != record.Retired {
			p.byText[textKey(m.Text, m.Body)] = m.ID
			p.saying[record.Normal(m.Text)] = m.ID
		}
	}
	for _, m := range memories {
		if m = named(m); m.Status == record.Retired {
			p.retire(m)
		} else {
			p.take(m)
		}
	}
	p.dropSuperseded()
	return p.ops, p.res
}

// take handles a memory that is in force at its origin.
func (p *plan) take(m record.Memory) {
	key := textKey(m.Text, m.Body)
	op := record.Operation{Op: record.Add, How: record.Written, Why: p.Why}
	held, err := p.v.Find(m.ID)
	isHeld := err == nil
	_, retired := p.v.Retired(m.Text)
	other, waits := p.waiting[m.ID]
	waits = waits && other.Op != record.Retire
	switch {
	case isHeld:
		m = onto(m, held)
	case waits:
		m = onto(m, other.Memory)
	case m.Kind == "":
		m.Kind = record.Note
	}
	m.Private = m.Private || slices.Contains(p.Private, m.Kind)
	switch {
	case m.Ref == "" && p.byText[key] != "", isHeld && held.Status != record.Retired && sameContent(held, m):
		p.res.Known++
		return
	case isHeld && held.Status == record.Retired, !isHeld && retired, !p.Reviewed && p.unwanted[key]:
		p.res.Refused++
		return
	case !p.Reviewed && waits && sameContent(other.Memory, m):
		p.res.Known++
		return
	case isHeld:
		op.Op = record.Edit
		op.Base = p.base(held)
	default:
		for _, id := range m.Supersedes {
			if old, err := p.v.Find(id); err == nil && old.Status != record.Retired {
				op.Base = append(op.Base, p.base(old)...)
			}
		}
	}
	op.Memory = m
	if waits {
		op.Sightings = other.Sightings // evidence gathered while it was pending
	}
	if m.Ref == "" {
		p.byText[key] = m.ID
	}
	p.put(op)
}

// retire handles a memory that is out of force at its origin.
func (p *plan) retire(m record.Memory) {
	op := record.Operation{Op: record.Retire, How: record.Written, Why: p.Why, Memory: m}
	held, err := p.v.Find(m.ID)
	if id := p.saying[record.Normal(m.Text)]; err != nil && id != "" { // the same, learned here
		held, err = p.v.Find(id)
	}
	_, known := p.v.Retired(m.Text)
	switch {
	case err == nil && held.Status == record.Retired, err != nil && known:
		p.res.Known++
		return
	case err == nil:
		op.Memory, op.Base = held, p.base(held)
		reasons := m.Reasons()
		if len(reasons) == 0 {
			reasons = []string{"Retired where it was imported from."}
		}
		for _, r := range reasons {
			op.Memory = op.Memory.Retire(r)
		}
	case op.Memory.Kind == "":
		op.Memory.Kind = record.Note
	}
	op.Memory.Private = op.Memory.Private || err != nil && slices.Contains(p.Private, op.Memory.Kind)
	op = record.NewOperation(op)
	waits := slices.ContainsFunc(p.Pending, func(o record.Operation) bool { return o.ID == op.ID && o.File == op.File })
	switch {
	case !p.Reviewed && p.rejected[op.ID]:
		p.res.Refused++
	case !p.Reviewed && waits:
		p.res.Known++
	default:
		p.put(op)
	}
}

// put adds an operation. The last one for a memory counts.
func (p *plan) put(op record.Operation) {
	op = record.NewOperation(op)
	if i, twice := p.at[op.Memory.ID]; twice {
		p.count(p.ops[i], -1)
		p.ops[i] = op
	} else {
		p.at[op.Memory.ID] = len(p.ops)
		p.ops = append(p.ops, op)
	}
	p.count(op, 1)
}

func (p *plan) count(op record.Operation, n int) {
	switch op.Op {
	case record.Edit:
		p.res.Changed += n
	case record.Retire:
		p.res.Retired += n
	default:
		p.res.Added += n
	}
}

// dropSuperseded drops the retirement of a memory that another operation supersedes.
func (p *plan) dropSuperseded() {
	gone := map[string]bool{}
	for _, op := range p.ops {
		for _, b := range op.Base {
			gone[b.ID] = gone[b.ID] || b.ID != op.Memory.ID
		}
	}
	p.ops = slices.DeleteFunc(p.ops, func(op record.Operation) bool {
		drop := op.Op == record.Retire && gone[op.Memory.ID]
		if drop {
			p.count(op, -1)
			p.res.Known++
		}
		return drop
	})
}

func (p *plan) base(m record.Memory) []record.Base {
	blob, _ := p.v.Blob(m.ID)
	return []record.Base{{ID: m.ID, Path: m.Path(), Blob: string(blob)}}
}

func textKey(text, body string) string { return record.Normal(text) + "\x00" + record.Normal(body) }

// onto turns an imported memory into a change of the one with its id. Fields that the line lacks
// stay as they are, and so do source and anchors.
func onto(m, held record.Memory) record.Memory {
	held.Text, held.Body = m.Text, m.Body
	if m.Kind != "" {
		held.Kind = m.Kind
	}
	if m.Paths != nil {
		held.Paths = m.Paths
	}
	if m.Tags != nil {
		held.Tags = m.Tags
	}
	if m.Topic != "" {
		held.Topic = m.Topic
	}
	if !m.Expires.IsZero() {
		held.Expires = m.Expires
	}
	return held
}

func sameContent(a, b record.Memory) bool {
	return a.Text == b.Text && a.Body == b.Body && a.Kind == b.Kind && a.Topic == b.Topic && a.Expires.Equal(b.Expires) &&
		strings.Join(a.Paths, "\x00") == strings.Join(b.Paths, "\x00") && strings.Join(a.Tags, "\x00") == strings.Join(b.Tags, "\x00")
}
