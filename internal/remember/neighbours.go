package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Neighbour is a memory in force beside a new one.
type Neighbour struct {
	record.Memory
	Topic   bool // it has the same topic; otherwise it resembles the new one
	Opposed bool // the two cannot both hold
}

// minShared is the share of common words from which two memories are compared.
const minShared = 0.3

// neighbours returns the memories in force on the topic of a new one, most similar first, and then
// one with much the same words. Opposed ones come before all others; replaced ones are omitted.
func (k *Keeper) neighbours(v *record.View, m record.Memory) (out []Neighbour) {
	other := func(o record.Memory) bool {
		return o.Live(k.Now()) && o.ID != m.ID && !slices.Contains(m.Supersedes, o.ID)
	}
	print, opposes := record.Print(m.Text), dream.OpposedTo(m.Text)
	like := false
	for _, o := range v.Alike(m.Text, minShared) {
		if !other(o) {
			continue
		}
		if opposed := opposes(o.Text); opposed || !like && dream.Resembles(m.Text, o.Text) {
			like = like || !opposed
			out = append(out, Neighbour{o, m.Topic != "" && o.Topic == m.Topic, opposed})
		}
	}
	var topical []record.Memory
	if m.Topic != "" {
		topical = v.Memories() // which reads all of them
	}
	for _, o := range topical {
		if other(o) && o.Topic == m.Topic && !slices.ContainsFunc(out, func(n Neighbour) bool { return n.ID == o.ID }) {
			out = append(out, Neighbour{o, true, false})
		}
	}
	order := func(n Neighbour) float64 {
		if n.Opposed {
			return -1
		}
		if !n.Topic {
			return 2
		}
		return 1 - record.Print(n.Text).Alike(print)
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int { return cmp.Compare(order(a), order(b)) })
	return out
}

// maxArrived bounds the memories of one merge that Contradictions compares with all others.
const maxArrived = 500

// Contradictions returns pairs of memories that agents get and that may contradict each other. The
// first of a pair is one of those that arrived; each pair occurs once.
func (k *Keeper) Contradictions(ctx context.Context, v *record.View, arrived []string) (pairs [][2]record.Memory, err error) {
	foreign, err := k.Withheld(ctx, v)
	if err != nil {
		return nil, err
	}
	given := func(m record.Memory) bool {
		return m.Live(k.Now()) && m.Status != record.Contested && len(foreign.Whose(m)) == 0
	}
	done := map[string]bool{}
	for _, id := range arrived[:min(maxArrived, len(arrived))] {
		m, err := v.Find(id)
		if done[id] = true; err != nil || !given(m) {
			continue
		}
		for _, o := range v.Alike(m.Text, dream.Alike) {
			if !done[o.ID] && given(o) && dream.Contradict(m, o) {
				pairs = append(pairs, [2]record.Memory{m, o})
			}
		}
	}
	return pairs, nil
}

// replace prepares m to replace the memory that a statement names, and returns both. It returns m
// and nil if the statement names none. Kind, files, tags and topic come from the old memory unless
// given. A replacement must not remove a memory where the new one does not hold.
func replace(v *record.View, m record.Memory, s Statement) (record.Memory, *record.Memory, error) {
	if s.Replace == "" {
		return m, nil, nil
	}
	old, err := v.Find(s.Replace)
	if err != nil {
		return m, nil, err
	}
	if same, known := v.Same(m.Text); known && same.ID == old.ID && old.Status != record.Retired {
		return m, nil, exit.Usage("to say it in other words: reverie edit "+old.ID[:8]+" TEXT", "--replace %s: it says the same", s.Replace)
	}
	switch {
	case old.Status == record.Retired:
		return m, nil, exit.New(exit.NeedsPerson, fmt.Errorf("--replace %s: it is retired already", old.ID[:8]), "leave --replace out")
	case m.Branch != "" && old.Branch == "" && s.Branch != "":
		return m, nil, exit.Usage("leave --branch out, or keep both", "--replace %s: it holds everywhere, and the new one would on a side branch alone", old.ID[:8])
	case m.Branch != "" && old.Branch != m.Branch:
		m.Branch = ""
	}
	if s.Kind == "" {
		m.Kind = old.Kind
	}
	if len(m.Paths) == 0 {
		m.Paths = old.Paths
	}
	if len(m.Tags) == 0 {
		m.Tags = old.Tags
	}
	m.Topic, m.Supersedes = cmp.Or(m.Topic, old.Topic), []string{old.ID}
	if t, was := m.Trigger(), old.Trigger(); len(t.Guards) > 0 && s.Strength == "" && was.Strength != "" && (s.Guards == nil || was.Strength != record.Say) {
		t.Strength = was.Strength
		m = m.WithTrigger(t)
	}
	return m, &old, nil
}

// retireReplaced retires a replaced memory, if any, in favour of the memory with an id.
func retireReplaced(tx *record.Tx, old *record.Memory, by string) error {
	if old == nil {
		return nil
	}
	return tx.PutMemory(old.Retire("Superseded by "+by+"."), old)
}
