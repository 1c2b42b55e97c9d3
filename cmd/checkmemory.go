package cmd

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/finding"
)

// checkFile applies the rules for a file's place and form.
func (c *diffCheck) checkFile(f changedFile) {
	top, _, _ := strings.Cut(f.path, "/")
	switch {
	case isCIFile(f.path):
		c.checkCIFile(f)
	case f.path == "reverie.toml":
		c.checkRestrictions(f)
	case !known(f.path):
		if f.new != nil {
			c.add("unknown-file", finding.Error, f.path, 0, "", "nothing of Reverie's; remove it from the branch")
		}
	case f.new == nil:
		switch {
		case top == record.MemoryDir && c.movedTo(f.id) != "":
			c.add("immutable", finding.Error, c.movedTo(f.id), 0, f.id, "the memory was at %s; its path never changes", f.path)
		case top == record.MemoryDir:
			c.add("deleted", finding.Warning, f.path, 0, f.id, "the memory is deleted; 'reverie forget' retires it and keeps it from coming back")
		case top == record.ReflectionDir:
			c.add("deleted", finding.Warning, f.path, 0, "", "the evidence for memories is deleted")
		case top == record.CheckpointDir:
			c.add("deleted", finding.Note, f.path, 0, "", "a shared checkpoint is deleted")
		case top == record.SkillDir:
			c.add("deleted", finding.Note, f.path, 0, "", "a skill is deleted")
		}
	case top == record.MemoryDir:
		c.checkMemoryFile(f)
	case top == record.CheckpointDir && f.old != nil && f.new != nil:
		c.add("immutable", finding.Error, f.path, 0, "", "a checkpoint never changes")
	default:
		c.addFormat(f, parseRecord(f.path, f.new))
	}
}

// checkCIFile looks whether a file that decides what runs for a pull request is one that is known here. Even
// then a person should see which branch it guards and what it installs.
func (c *diffCheck) checkCIFile(f changedFile) { c.checkCIVersion(f, version()) }

// checkCIVersion is checkCIFile for this version of Reverie.
func (c *diffCheck) checkCIVersion(f changedFile, own string) {
	if f.new == nil {
		c.add("ci-file", finding.Error, f.path, 0, "", "the file is taken away that decides what runs for a pull request")
		return
	}
	branch, version, ok := writtenByInit(f.path, f.new)
	before, pinned, had := writtenByInit(f.path, f.old)
	if !ok || had && before != branch {
		c.add("ci-file", finding.Error, f.path, 0, "", "this file decides what runs for a pull request, and it is not what 'reverie init --ci' writes")
		return
	}
	switch {
	case had && pinned != "latest" && version == "latest":
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests were checked by version %s, and would be by whichever is the latest", pinned)
		return
	case had && older(version, pinned):
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests were checked by version %s, and would be by %s, which is older", pinned, version)
		return
	case older(version, own):
		c.add("ci-file", finding.Error, f.path, 0, "", "pull requests would be checked by version %s, which is older than this one, %s", version, own)
		return
	case had && pinned == "latest" && version != "latest":
		c.add("ci-file", finding.Warning, f.path, 0, "", "pull requests were checked by the latest version, and would be by %s: look whether that goes back", version)
		return
	}
	c.add("ci-file", finding.Note, f.path, 0, "", "this is what 'reverie init --ci' writes: pull requests against %s are checked by version %s", branch, version)
}

// older reports whether one released version comes before another.
func older(a, b string) bool {
	if !release.MatchString(a) || !release.MatchString(b) {
		return false
	}
	number := func(s string) string { return strings.TrimLeft(s, "0") }
	return slices.CompareFunc(strings.Split(a[1:], "."), strings.Split(b[1:], "."), func(x, y string) int {
		x, y = number(x), number(y)
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	}) < 0
}

// parseRecord returns what is wrong with the form of a record that is no memory, or nil.
func parseRecord(path string, data []byte) error {
	top, _, _ := strings.Cut(path, "/")
	var err error
	switch top {
	case record.ReflectionDir:
		_, err = record.ParseReflection(path, data)
	case "dreams":
		_, err = record.ParseDream(path, data)
	case "checkpoints":
		_, err = record.ParseCheckpoint(path, data)
	case record.SkillDir:
		_, err = record.ParseSkill(path, data)
	}
	return err
}

func (c *diffCheck) addFormat(f changedFile, err error) {
	var bad *record.FormatError
	if errors.As(err, &bad) {
		reason := bad.Reason
		if bad.Field != "" {
			reason = bad.Field + ": " + reason
		}
		c.add("format", finding.Error, f.path, bad.Line, f.id, "%s", reason)
	} else if err != nil {
		c.add("format", finding.Error, f.path, 0, f.id, "%v", err)
	}
}

// twin is another file with the id of a new memory, readable or not, or "".
func (c *diffCheck) twin(f changedFile) (at string) {
	if f.id == "" || f.old != nil {
		return ""
	}
	for _, tree := range []*gitstore.Tree{c.head, c.beside} {
		if tree == nil {
			continue
		}
		_ = tree.Walk(path.Dir(f.path), func(other string, _ gitstore.ID) error { // what cannot be walked was told
			if at == "" && other != f.path && memoryID(other) == f.id && (tree == c.head || !c.gone(other)) {
				at = other
			}
			return nil
		})
	}
	return at
}

// gone reports whether a change deletes a file.
func (c *diffCheck) gone(path string) bool {
	return slices.ContainsFunc(c.changes, func(f changedFile) bool { return f.path == path && f.new == nil })
}

// movedTo is another path of a memory at head, or "".
func (c *diffCheck) movedTo(id string) string {
	for _, f := range c.changes {
		if f.new != nil && f.old == nil && id != "" && f.id == id {
			return f.path
		}
	}
	return ""
}

// checkMemoryFile applies the rules for one memory by itself and against what it was.
func (c *diffCheck) checkMemoryFile(f changedFile) {
	if twin := c.twin(f); twin != "" {
		c.add("format", finding.Error, f.path, 0, f.id, "the same id as %s; keep one of them", twin)
	}
	m, err := record.ParseMemory(f.path, f.new)
	if err != nil {
		c.addFormat(f, err)
		return
	}
	if m.Status == record.Contested {
		c.add("contested", finding.Warning, f.path, keyLine(f.new, "status"), f.id, "%s that a merge could not decide between; keep one: reverie edit %s --take NUMBER", count(1+len(m.Variants), "variant", "variants"), f.id)
	}
	if f.old == nil {
		return
	}
	was, err := record.ParseMemory(f.path, f.old)
	if err != nil {
		return
	}
	immutable := func(key, old string, merged bool) {
		at, why := finding.Error, ""
		if merged {
			at, why = finding.Warning, ", save by a merge with another clone's"
		}
		c.add("immutable", at, f.path, keyLine(f.new, key), f.id, "%s was %q and never changes%s", key, old, why)
	}
	if was.Source != m.Source { // a merge keeps the earliest
		immutable("source", was.Source.String(), m.Source.Time.Before(was.Source.Time))
	}
	if was.Ref != m.Ref {
		immutable("ref", was.Ref, false)
	}
	if !slices.Equal(was.Supersedes, m.Supersedes) { // and the supersedes of both
		gone := slices.ContainsFunc(was.Supersedes, func(id string) bool { return !slices.Contains(m.Supersedes, id) })
		immutable("supersedes", strings.Join(was.Supersedes, " "), !gone)
	}
	if was.Status == record.Retired && m.Status != record.Retired {
		c.add("retired", finding.Warning, f.path, keyLine(f.new, "status"), f.id, "it was retired and comes back")
	}
}

// knownMemory is a memory that others are held against, once for each variant.
type knownMemory struct {
	record.Memory
	path   string
	print  record.Fingerprint
	text   string // of the variant, made normal
	beside bool   // it is not at head
}

// readMemories reads every memory at head, and those that came to the base meanwhile.
func (c *diffCheck) readMemories() error {
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

func (c *diffCheck) know(m record.Memory, beside bool) {
	c.known = append(c.known, knownMemory{m, m.Path(), record.Print(m.Text), record.Normal(m.Text), beside})
	for _, v := range m.Variants {
		c.known = append(c.known, knownMemory{m, m.Path(), record.Print(v.Text), record.Normal(v.Text), beside})
	}
}

// maxRelated bounds how many memories a finding of one sort names for one memory.
const maxRelated = 5

// checkMemories holds what changed against all else that is known.
func (c *diffCheck) checkMemories() error {
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
		for _, why := range c.w.judged(c.ctx).Gone(c.ctx, m.Memory) {
			c.add("anchor", finding.Note, m.path, keyLine(m.new, "anchors"), m.id, "%s", why)
		}
	}
	c.checkLosses()
	c.checkEvidence()
	return nil
}

// claim is what a memory says, where and whether it does.
func claim(m record.Memory) string {
	texts := []string{m.Text}
	for _, v := range m.Variants {
		texts = append(texts, v.Text)
	}
	return strings.Join([]string{string(m.Status), string(m.Kind), m.Topic, strings.Join(m.Paths, "\x01"), strings.Join(texts, "\x01")}, "\x00")
}

// relate names memories that say the same, nearly the same, or otherwise. Of two that are both new, the
// later names the earlier.
func (c *diffCheck) relate(f changedFile, m record.Memory) {
	line := statementLine(f.new)
	told := map[string]int{}
	seen := map[string]bool{}
	tell := func(rule string, at finding.Level, k *knownMemory, format string) {
		if told[rule+string(at)]++; told[rule+string(at)] <= maxRelated {
			c.add(rule, at, f.path, line, m.ID, format+" %s: %s", k.ID, oneLine(k.Text, 120))
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
		case dream.Contradict(m, k.Memory, print, k.print):
			tell("contradiction", finding.Warning, k, "may contradict")
		case m.Topic != "" && m.Topic == k.Topic && m.Kind == k.Kind:
			tell("contradiction", finding.Note, k, "is on the same topic as")
		case alike >= dream.Alike:
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
func (c *diffCheck) checkReferences(f changedFile, m record.Memory) {
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

// checkRestrictions looks whether reverie.toml allows more than it did.
func (c *diffCheck) checkRestrictions(f changedFile) {
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
