package check

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/finding"
)

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
