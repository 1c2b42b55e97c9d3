package check

import (
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
)

// checkEvidence looks for added candidates that support no memory of the same change. A reviewer of
// memories does not see them, and a later dream may count them.
func (c *checker) checkEvidence() {
	type statement struct {
		print   record.Fingerprint
		session string
	}
	var changed []statement
	for _, f := range c.changes {
		m, err := record.ParseMemory(f.path, f.new)
		if f.id == "" || f.new == nil || err != nil {
			continue
		}
		for _, v := range m.Texts() {
			changed = append(changed, statement{record.Print(v.Text), m.Source.By})
		}
	}
	for _, f := range c.changes {
		r, err := record.ParseReflection(f.path, f.new)
		if f.new == nil || err != nil {
			continue
		}
		was, _ := record.ParseReflection(f.path, f.old) // what cannot be read had nothing
		at, first, n := finding.Note, "", 0
		reworded := 0 // memories from this session that say no candidate's words
		for _, s := range changed {
			if s.session == r.Client+"/"+r.Session && !slices.ContainsFunc(r.Candidates, func(cand record.Candidate) bool { return s.print.Same(record.Print(cand.Text)) }) {
				reworded++
			}
		}
		for _, cand := range r.Candidates {
			print := record.Print(cand.Text)
			if slices.ContainsFunc(was.Candidates, func(old record.Candidate) bool { return old.Text == cand.Text && old.How == cand.How }) ||
				slices.ContainsFunc(changed, func(s statement) bool { return s.print.Same(print) }) {
				continue
			}
			if reworded > 0 {
				reworded--
				continue
			}
			if n++; first == "" {
				first = cand.Text
			}
			told := slices.ContainsFunc(c.known, func(k knownMemory) bool { return !k.beside && k.Status != record.Retired && k.print.Same(print) })
			if cand.How == record.Said && !told {
				at, first = finding.Warning, cand.Text
			}
		}
		if n > 0 {
			c.add("evidence", at, f.path, 0, "", "%s for no memory of this change, such as: %s", plural.Count(n, "statement", "statements"), c.Brief(first))
		}
	}
}
