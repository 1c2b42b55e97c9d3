package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/period"
	"github.com/reverie-memory/reverie/internal/term"
)

// neighbour is a memory that a new one will stand beside, and that whoever says the new one should know of.
type neighbour struct {
	record.Memory
	topic   bool // it is on the same topic; else it is much like it
	opposed bool // the two cannot both hold
}

// minBeside is the share of words in common from which a memory is held against a new one.
const minBeside = 0.3

// maxBeside is how many neighbours are told one by one.
const maxBeside = 3

// besideOf are the memories in force on the topic of a new one, the most alike first, and then one that has much the same words.
// What the new one takes the place of is none of them.
func (w *workspace) besideOf(v *record.View, m record.Memory) (out []neighbour) {
	other := func(k record.Memory) bool {
		return k.Live(w.env.Now()) && k.ID != m.ID && !slices.Contains(m.Supersedes, k.ID)
	}
	print := record.Print(m.Text)
	like := false
	for _, k := range v.Alike(m.Text, minBeside) {
		opposed := dream.Opposed(m.Text, k.Text)
		if other(k) && (opposed || !like && record.Print(k.Text).Alike(print) >= dream.Alike) {
			like = like || !opposed
			out = append(out, neighbour{k, m.Topic != "" && k.Topic == m.Topic, opposed})
		}
	}
	if m.Topic == "" {
		return out
	}
	for _, k := range v.Memories() {
		if other(k) && k.Topic == m.Topic && !slices.ContainsFunc(out, func(n neighbour) bool { return n.ID == k.ID }) {
			out = append(out, neighbour{k, true, false})
		}
	}
	order := func(n neighbour) float64 {
		if n.opposed {
			return -1 // before all others
		}
		if !n.topic {
			return 2 // behind all others
		}
		return 1 - record.Print(n.Text).Alike(print)
	}
	slices.SortStableFunc(out, func(a, b neighbour) int { return cmp.Compare(order(a), order(b)) })
	return out
}

// tellBeside names the neighbours of a new memory, and how it takes the place of one.
func (w *workspace) tellBeside(m record.Memory, beside []neighbour) {
	for i, n := range beside {
		if i == maxBeside && len(beside) > maxBeside+1 {
			w.env.Say("%d more are on that topic", len(beside)-i)
			break
		}
		what := "is much like it"
		switch {
		case n.opposed:
			what = "says otherwise"
		case n.topic:
			what = "is on that topic, too"
		}
		w.env.Say("%s %s: %s", n.ID[:8], what, term.OneLine(n.Text, 240))
	}
	if len(beside) > 0 {
		w.env.Say("both are kept; to keep the new one alone: reverie remember --replace %s %s", beside[0].ID[:8], hooks.Quote(term.Visible(m.Text)))
	}
}

// rememberJSON is the answer of remember.
type rememberJSON struct {
	memoryJSON
	Beside []string `json:"beside,omitempty"` // ids of memories on its topic, or much like it
}

func newRememberJSON(m record.Memory, beside []neighbour) rememberJSON {
	j := rememberJSON{memoryJSON: newMemoryJSON(m)}
	for _, n := range beside {
		j.Beside = append(j.Beside, n.ID)
	}
	return j
}

// replaced is m as it takes the place of another memory, as --replace says, and that memory; m itself and nil without --replace. It
// must not go where m does not hold. Kind, files, tags and topic are its own where no others were given.
func replaced(v *record.View, m record.Memory, o rememberOptions) (record.Memory, *record.Memory, error) {
	if o.replace == "" {
		return m, nil, nil
	}
	old, err := v.Find(o.replace)
	if err != nil {
		return m, nil, err
	}
	if same, known := v.Same(m.Text); known && same.ID == old.ID && old.Status != record.Retired {
		return m, nil, exit.Usage("to say it in other words: reverie edit "+old.ID[:8]+" TEXT", "--replace %s: it says the same", o.replace)
	}
	switch {
	case old.Status == record.Retired:
		return m, nil, exit.New(exit.NeedsPerson, fmt.Errorf("--replace %s: it is retired already", old.ID[:8]), "leave --replace out")
	case m.Branch != "" && old.Branch == "" && o.branch != "":
		return m, nil, exit.Usage("leave --branch out, or keep both", "--replace %s: it holds everywhere, and the new one would on a side branch alone", old.ID[:8])
	case m.Branch != "" && old.Branch != m.Branch:
		m.Branch = ""
	}
	if !o.ofKind {
		m.Kind = old.Kind
	}
	if len(m.Paths) == 0 {
		m.Paths = old.Paths
	}
	if len(m.Tags) == 0 {
		m.Tags = old.Tags
	}
	m.Topic, m.Supersedes = cmp.Or(m.Topic, old.Topic), []string{old.ID}
	return m, &old, nil
}

// retireReplaced takes what --replace names out of force, if it is there, in favour of the memory with an id.
func retireReplaced(tx *record.Tx, old *record.Memory, by string) error {
	if old == nil {
		return nil
	}
	return tx.PutMemory(old.Retire("Superseded by "+by+"."), old)
}

// parseExpires reads when a memory expires; empty is never.
func parseExpires(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil {
		left, ok := period.Parse(text)
		if !ok {
			return time.Time{}, exit.Usage("as 2026-12-31, 90d or 2w", "--expires does not understand %q", text)
		}
		at = now.Add(left)
	}
	if !at.After(now) {
		return time.Time{}, exit.Usage("give a day that is still to come", "--expires %s: that has passed", text)
	}
	return at.UTC().Truncate(time.Second), nil
}
