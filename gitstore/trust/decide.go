package trust

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Choose returns the pending changes of some memories, or of all. Each id is a prefix, of the
// current id or of the version for agents. idle lists the named memories that are neither in force
// nor withheld.
func (w *Withheld) Choose(v *record.View, now time.Time, ids []string, all bool) (chosen []Pending, idle []string, err error) {
	pending := w.Pending(v, now)
	if all {
		return pending, nil, nil
	}
	agents := w.Given(v)
	wanted := map[string]bool{}
	for _, id := range ids {
		m, err := v.Find(id)
		if errors.Is(err, record.ErrNoMemory) {
			m, err = agents.Find(id)
		}
		if err != nil {
			return nil, nil, err
		}
		wanted[m.ID] = true
		if !m.Live(now) && !slices.ContainsFunc(pending, func(p Pending) bool { return p.ID == m.ID }) {
			idle = append(idle, m.ID)
		}
	}
	return slices.DeleteFunc(pending, func(p Pending) bool { return !wanted[p.ID] }), idle, nil
}

// Keep replaces pending changes with the versions that agents get, and returns the replaced ones.
// It skips changes without such a version.
func Keep(tx *record.Tx, chosen []Pending) ([]Pending, error) {
	chosen = slices.DeleteFunc(slices.Clone(chosen), func(p Pending) bool { return p.Given == nil })
	for _, p := range chosen {
		if err := tx.PutMemory(*p.Given, &p.Memory); err != nil {
			return nil, err
		}
	}
	text := ""
	if len(chosen) > 0 {
		text = record.CommitSubject(chosen[0].Given.Text)
	}
	if len(chosen) > 1 {
		text = fmt.Sprintf("%d statements", len(chosen))
	}
	tx.Describe(gitstore.Commit{Subject: "keep: " + text, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "keep"}}})
	return chosen, nil
}

// fingerprint matches the fingerprint of an ssh key, or a full OpenPGP one.
var fingerprint = pattern.New(`^(SHA256:[A-Za-z0-9+/]{43}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$`)

// Edit adds people to the lists of trusted authors and signers, or removes them. It returns the
// changed lists by their settings, and the people listed before. A fingerprint is a signer; with
// signer set every name is one. Any other name must be an address.
func Edit(c config.Trust, add bool, people []string, signer bool) (changed map[string][]string, already []string, err error) {
	lists := map[string][]string{"trust.authors": slices.Clone(c.Authors), "trust.signers": slices.Clone(c.Signers)}
	changed = map[string][]string{}
	for _, who := range people {
		key := "trust.authors"
		switch {
		case signer || fingerprint.MatchString(who):
			key = "trust.signers"
		case !strings.Contains(who, "@"):
			return nil, nil, exit.Usage("an address as ann@example.com, a whole fingerprint, or with --signer a principal", "%q is neither an author's address nor a key", who)
		}
		at := slices.IndexFunc(lists[key], func(s string) bool { return strings.EqualFold(s, who) })
		switch {
		case add && at < 0:
			lists[key] = append(lists[key], who)
		case !add && at >= 0:
			lists[key] = slices.Delete(lists[key], at, at+1)
		case !add:
			return nil, nil, exit.Usage("remove changes this clone's list, or with --user your own; 'reverie config' shows the files", "%s is not in that list of %s", who, key)
		default:
			already = append(already, who)
			continue
		}
		changed[key] = lists[key]
	}
	return changed, already, nil
}

// Pending is a change for a person to decide. Agents do not get it.
type Pending struct {
	record.Memory                // the current version, or the last one of a removed file
	By            []string       // untrusted authors of the last change
	Given         *record.Memory // the version that agents get meanwhile, or nil
	When          time.Time      // date of that version; zero if unknown
	Gone          bool           // its file was taken away
}

// Pending returns the changes of a view that await a decision, sorted by id. They are withheld
// memories in force at now, and memories that were changed, retired or removed while agents get an
// older version.
func (w *Withheld) Pending(v *record.View, now time.Time) []Pending {
	if w.None() {
		return nil
	}
	given := map[string]*record.Memory{}
	var all []Pending
	there := map[string]bool{}
	agents, v := w.Given(v), v.Actual()
	for i, f := range agents.Files() { // read only changed files
		if _, ok := w.Changed(f.Path, f.Private); !ok {
			continue
		}
		if m := agents.Memory(i); m.Live(now) {
			given[key(m)] = &m
		}
	}
	for i, f := range v.Files() {
		by := w.WhoseFile(f.Blob, f.Private)
		if len(by) == 0 {
			continue
		}
		m := v.Memory(i)
		there[key(m)] = true
		c, _ := w.Changed(f.Path, f.Private)
		if m.Live(now) || given[key(m)] != nil {
			all = append(all, Pending{Memory: m, By: by, Given: given[key(m)], When: c.When})
		}
	}
	for at, m := range given {
		if c, ok := w.Changed(m.Path(), m.Private); ok && !there[at] {
			all = append(all, Pending{Memory: *m, By: c.By, Given: m, When: c.When, Gone: true})
		}
	}
	slices.SortFunc(all, func(a, b Pending) int { return strings.Compare(key(a.Memory), key(b.Memory)) })
	return all
}

// OutOfForce returns the ids of withheld memories about which there is nothing to decide, because
// agents get no version of them. Without an approval, a later trust in an earlier author would give
// them that author's version.
func (w *Withheld) OutOfForce(v *record.View, now time.Time) (ids []string) {
	pending := map[string]bool{}
	for _, p := range w.Pending(v, now) {
		pending[p.ID] = true
	}
	v = v.Actual()
	for i, f := range v.Files() {
		if len(w.WhoseFile(f.Blob, f.Private)) == 0 {
			continue
		}
		if m := v.Memory(i); !pending[m.ID] {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// key identifies a memory: one in the journal may have the same file name as one on the branch.
func key(m record.Memory) string {
	if m.Private {
		return m.Path() + "+"
	}
	return m.Path()
}
