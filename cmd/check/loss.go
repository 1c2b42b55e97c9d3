package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/finding"
)

// The bounds of a check: more cannot be reviewed, and checking it would take too long.
const (
	maxChanged = 5000     // files
	maxNew     = 16 << 20 // bytes of them together
)

// bounded reports whether a change is small enough to be checked. If not, that is all there is to
// say.
func (c *checker) bounded() bool {
	bytes := 0
	for i, f := range c.changes {
		bytes += len(f.new)
		if i < maxChanged && bytes <= maxNew && !(c.cut && i == len(c.changes)-1) {
			continue
		}
		c.add("size", finding.Error, f.path, 0, "", "%d files differ, and %d with %d bytes are looked at: make several changes of it", len(c.changes), maxChanged, maxNew)
		c.changes = nil
		return false
	}
	return true
}

// A loss is reported if a change retires all live memories, or more than three tenths of them. With
// few memories, a person sees each one that goes.
const (
	mostLost  = 0.3
	fewestOut = 3
)

// checkLosses looks at what was in force and is not any more, or says something else.
func (c *checker) checkLosses() {
	now := c.Now
	changed, live, lost, first := map[string]bool{}, map[string]bool{}, 0, ""
	for _, f := range c.changes {
		changed[f.path] = true
		was, err := record.ParseMemory(f.path, f.old)
		if f.id == "" || f.old == nil || err != nil || !was.Live(now) {
			continue
		}
		live[f.id] = true
		m, err := record.ParseMemory(f.path, f.new)
		gone := f.new == nil && c.movedTo(f.id) == "" || f.new != nil && (err != nil || !m.Live(now))
		if gone {
			lost++
			first = cmp.Or(first, f.path)
		}
		if was.Kind == record.Constraint && f.new != nil && err == nil {
			c.checkConstraint(f, was, m)
		} else if was.Kind == record.Constraint && gone {
			c.add("constraint", finding.Warning, f.path, 0, f.id, "a constraint is taken away: %s", c.Brief(was.Text))
		}
	}
	for i := range c.known {
		if k := &c.known[i]; !k.beside && !changed[k.path] && k.Live(now) {
			live[k.ID] = true
		}
	}
	if lost >= fewestOut && float64(lost) > mostLost*float64(len(live)) || lost > 1 && lost == len(live) {
		c.add("loss", finding.Error, first, 0, "", "%d of %d memories in force are retired or taken away at once, this one first", lost, len(live))
	}
}

// checkConstraint names a constraint that holds no more, holds in fewer places, or says something
// else.
func (c *checker) checkConstraint(f changedFile, was, m record.Memory) {
	tell := func(line int, what string) {
		c.add("constraint", finding.Warning, f.path, line, f.id, "a constraint %s; it said: %s", what, c.Brief(was.Text))
	}
	said, says := []string{}, []string{}
	for _, v := range was.Texts() {
		said = append(said, record.Normal(v.Text))
	}
	for _, v := range m.Texts() {
		says = append(says, record.Normal(v.Text))
	}
	switch {
	case m.Status == record.Retired:
		tell(keyLine(f.new, "status"), "is retired")
	case m.Kind != was.Kind:
		tell(keyLine(f.new, "kind"), "becomes a "+string(m.Kind))
	case strings.Join(said, "\n") != strings.Join(says, "\n"):
		tell(statementLine(f.new), "says something else")
	case strings.Join(was.Paths, "\n") != strings.Join(m.Paths, "\n"):
		tell(keyLine(f.new, "paths"), "is about other files")
	case was.Branch != m.Branch && m.Branch != "":
		tell(keyLine(f.new, "branch"), "holds on a branch only")
	case !was.Expires.Equal(m.Expires) && !m.Expires.IsZero():
		tell(keyLine(f.new, "expires"), "ends at another time")
	}
}

// checkRestrictions looks whether reverie.toml allows more than it did.
func (c *checker) checkRestrictions(f changedFile) {
	// Nothing is restricted here, so that every restriction of the file shows.
	open := config.Default()
	open.Accept, open.Sightings, open.KeepDays, open.Private = []string{"said", "seen"}, 2, 1<<30, nil
	was, now := open, open
	if f.old != nil && was.Restrict(f.path, f.old) != nil {
		was = open
	}
	if f.new == nil {
		c.add("restriction", finding.Error, f.path, 0, "", "the file is taken away: without it this is no memory")
		return
	}
	if err := now.Restrict(f.path, f.new); err != nil {
		c.add("format", finding.Error, f.path, 0, "", "%v", err)
		return
	}
	if f.old == nil {
		return
	}
	loosened := func(key, what string) {
		c.add("restriction", finding.Error, f.path, tomlLine(f.new, key), "", "%s", what)
	}
	for _, how := range now.Accept {
		if !slices.Contains(was.Accept, how) {
			loosened("accept", "what was "+how+" becomes memory without review again")
		}
	}
	if now.Sightings < was.Sightings {
		loosened("sightings", "fewer sessions are needed before a statement is accepted")
	}
	if now.KeepDays > was.KeepDays {
		loosened("keep-days", "sessions are kept longer")
	}
	for _, kind := range was.Private {
		if !slices.Contains(now.Private, kind) {
			loosened("private", "memories of the kind "+kind+" need not stay private any more")
		}
	}
	before := was.Settings()
	for i, s := range now.Settings() {
		judged := slices.Contains([]string{"accept", "sightings", "sessions.keep-days", "private"}, s.Key)
		if !judged && s.Value != before[i].Value {
			c.add("restriction", finding.Warning, f.path, tomlLine(f.new, s.Key), "", "%s was %s and is %s", s.Key, before[i].Value, s.Value)
		}
	}
}

// tomlLine is the line that sets a key, without the tables before it; 0 when none does.
func tomlLine(data []byte, key string) int {
	for i, line := range strings.Split(string(data), "\n") {
		if name, _, ok := strings.Cut(line, "="); ok {
			name = strings.TrimSpace(name)
			if name == key || strings.HasSuffix(name, "."+key) {
				return i + 1
			}
		}
	}
	return 0
}
