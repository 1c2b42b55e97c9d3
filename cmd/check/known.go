package check

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
)

// knownMemory is a memory that others are held against, once for each variant.
type knownMemory struct {
	record.Memory
	path   string
	print  record.Fingerprint
	text   string // of the variant, made normal
	beside bool   // it is not at head
}

// readMemories reads every memory at head, and those that came to the base meanwhile.
func (c *checker) readMemories() error {
	if !c.bounded() {
		return nil
	}
	for _, tree := range []*gitstore.Tree{c.head, c.beside} {
		if tree == nil {
			continue
		}
		var paths []string
		var blobs []gitstore.ID
		err := tree.Walk(record.MemoryDir, func(path string, blob gitstore.ID) error {
			if tree == c.beside {
				if _, err := c.head.Stat(path); err == nil {
					return nil
				}
				if c.base != nil {
					if _, err := c.base.Stat(path); err == nil {
						return nil // the change deletes it
					}
				}
			}
			paths, blobs = append(paths, path), append(blobs, blob)
			return nil
		})
		if err != nil && entryErrors(err) == nil {
			return err
		}
		for i := range blobs {
			err := tree.ReadAll(blobs[i:i+1], func(_ int, data []byte) error {
				if m, err := record.ParseMemory(paths[i], data); err == nil {
					c.know(m, tree == c.beside)
				}
				return nil
			})
			if err != nil && !errors.Is(err, gitstore.ErrTooLarge) {
				return err
			}
		}
	}
	return nil
}

func (c *checker) know(m record.Memory, beside bool) {
	c.known = append(c.known, knownMemory{m, m.Path(), record.Print(m.Text), record.Normal(m.Text), beside})
	for _, v := range m.Variants {
		c.known = append(c.known, knownMemory{m, m.Path(), record.Print(v.Text), record.Normal(v.Text), beside})
	}
}

// maxRelated bounds how many memories a finding of one sort names for one memory.
const maxRelated = 5

// checkMemories holds what changed against all else that is known.
func (c *checker) checkMemories() error {
	type changed struct {
		changedFile
		record.Memory
	}
	var all []changed
	for _, f := range c.changes {
		m, err := record.ParseMemory(f.path, f.new)
		if f.id == "" || f.new == nil || err != nil || m.Status == record.Retired {
			continue
		}
		all = append(all, changed{f, m})
		was, err := record.ParseMemory(f.path, f.old)
		c.claims[f.path] = err != nil || claim(was) != claim(m)
	}
	for _, m := range all {
		if c.claims[m.path] {
			c.relate(m.changedFile, m.Memory)
		}
		c.checkReferences(m.changedFile, m.Memory)
		if len(m.Anchors) == 0 || m.Branch != "" { // a side branch's code is not the default branch's
			continue
		}
		for _, why := range c.Stale(m.Memory) {
			c.add("anchor", finding.Note, m.path, keyLine(m.new, "anchors"), m.id, "%s", why)
		}
	}
	c.checkLosses()
	c.checkEvidence()
	return nil
}

// claim returns the parts of a memory that make its claim: text, scope and status.
func claim(m record.Memory) string {
	texts := []string{m.Text}
	for _, v := range m.Variants {
		texts = append(texts, v.Text)
	}
	return strings.Join([]string{string(m.Status), string(m.Kind), m.Topic, strings.Join(m.Paths, "\x01"), strings.Join(texts, "\x01")}, "\x00")
}

// relate names memories that say the same, nearly the same, or the opposite. If both are new, the
// later one names the earlier.
func (c *checker) relate(f changedFile, m record.Memory) {
	line := statementLine(f.new)
	told := map[string]int{}
	seen := map[string]bool{}
	tell := func(rule string, at finding.Level, k *knownMemory, format string) {
		if told[rule+string(at)]++; told[rule+string(at)] <= maxRelated {
			c.add(rule, at, f.path, line, m.ID, format+" %s: %s", k.ID, c.Brief(k.Text))
		}
	}
	print, normal := record.Print(m.Text), record.Normal(m.Text)
	for i := range c.known {
		k := &c.known[i]
		alike := k.print.Alike(print)
		if alike < dream.Alike && k.text != normal && (m.Topic == "" || m.Topic != k.Topic) {
			continue
		}
		if k.ID == m.ID || seen[k.ID] || slices.Contains(m.Supersedes, k.ID) || slices.Contains(k.Supersedes, m.ID) || k.path > f.path && c.claims[k.path] {
			continue
		}
		same := k.print.Same(print)
		switch {
		case k.Status == record.Retired:
			if same {
				tell("retired", finding.Error, k, "says what was retired as")
			}
			continue
		case k.text == normal:
			tell("duplicate", finding.Error, k, "says the same as")
		case same:
			tell("duplicate", finding.Warning, k, "says nearly the same as")
		case dream.Contradict(m, k.Memory):
			tell("contradiction", finding.Warning, k, "may contradict")
		case m.Topic != "" && m.Topic == k.Topic && m.Kind == k.Kind:
			tell("contradiction", finding.Note, k, "is on the same topic as")
		case dream.Resembles(m.Text, k.Text):
			tell("duplicate", finding.Note, k, "is much like")
		default:
			continue
		}
		seen[k.ID] = true
	}
}

// statementLine is the line of a memory's file that holds its statement; 0 when it cannot be told.
func statementLine(data []byte) int {
	fences := 0
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if fences == 2 && line != "" {
			return i + 1
		}
		if line == "+++" && fences < 2 {
			fences++
		}
	}
	return 0
}

// checkReferences looks whether what a memory takes the place of is there, and out of force.
func (c *checker) checkReferences(f changedFile, m record.Memory) {
	for _, id := range m.Supersedes {
		i := slices.IndexFunc(c.known, func(k knownMemory) bool { return k.ID == id })
		switch {
		case i < 0:
			c.add("reference", finding.Warning, f.path, keyLine(f.new, "supersedes"), f.id, "supersedes %s, which is not there", id)
		case c.known[i].Status != record.Retired:
			c.add("reference", finding.Warning, f.path, keyLine(f.new, "supersedes"), f.id, "supersedes %s, which is still in force", id)
		}
	}
}

// checkEvidence looks for added candidates that support no memory of the same change. A reviewer of
// memories does not see them, and a later dream may count them.
func (c *checker) checkEvidence() {
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
		added := unsupported(r, was, changed)
		if len(added) == 0 {
			continue
		}
		at, such := finding.Note, ""
		for _, cand := range added {
			such = cmp.Or(such, cand.Text)
			print := record.Print(cand.Text)
			told := slices.ContainsFunc(c.known, func(k knownMemory) bool { return !k.beside && k.Status != record.Retired && k.print.Same(print) })
			if cand.How == record.Said && !told {
				at, such = finding.Warning, cand.Text
			}
		}
		c.add("evidence", at, f.path, 0, "", "%s for no memory of this change, such as: %s", plural.Count(len(added), "statement", "statements"), c.Brief(such))
	}
}

// statement is one that a change adds to a memory.
type statement struct {
	print   record.Fingerprint
	session string
}

// unsupported returns the candidates that a reflection has gained, and that support no changed
// memory. A memory from its session in other words supports one of them.
func unsupported(r, was record.Reflection, changed []statement) (out []record.Candidate) {
	reworded := 0
	for _, s := range changed {
		if s.session == r.Client+"/"+r.Session && !slices.ContainsFunc(r.Candidates, func(cand record.Candidate) bool { return s.print.Same(record.Print(cand.Text)) }) {
			reworded++
		}
	}
	for _, cand := range r.Candidates {
		print := record.Print(cand.Text)
		switch {
		case slices.ContainsFunc(was.Candidates, func(old record.Candidate) bool { return old.Text == cand.Text && old.How == cand.How }),
			slices.ContainsFunc(changed, func(s statement) bool { return s.print.Same(print) }):
		case reworded > 0:
			reworded--
		default:
			out = append(out, cand)
		}
	}
	return out
}
