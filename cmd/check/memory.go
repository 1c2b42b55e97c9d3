package check

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
)

// checkFile applies the rules for a file's place and form.
func (c *checker) checkFile(f changedFile) {
	top, _, _ := strings.Cut(f.path, "/")
	switch {
	case ci.Decides(f.path):
		c.checkCIFile(f)
	case f.path == "reverie.toml":
		c.checkRestrictions(f)
	case !Known(f.path):
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

func (c *checker) addFormat(f changedFile, err error) {
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
func (c *checker) twin(f changedFile) (at string) {
	if f.id == "" || f.old != nil {
		return ""
	}
	for _, tree := range []*gitstore.Tree{c.head, c.beside} {
		if tree == nil {
			continue
		}
		// an unreadable tree was reported before
		_ = tree.Walk(path.Dir(f.path), func(other string, _ gitstore.ID) error {
			if at == "" && other != f.path && memoryID(other) == f.id && (tree == c.head || !c.gone(other)) {
				at = other
			}
			return nil
		})
	}
	return at
}

// gone reports whether a change deletes a file.
func (c *checker) gone(path string) bool {
	return slices.ContainsFunc(c.changes, func(f changedFile) bool { return f.path == path && f.new == nil })
}

// movedTo is another path of a memory at head, or "".
func (c *checker) movedTo(id string) string {
	for _, f := range c.changes {
		if f.new != nil && f.old == nil && id != "" && f.id == id {
			return f.path
		}
	}
	return ""
}

// checkMemoryFile applies the rules for one memory by itself and against what it was.
func (c *checker) checkMemoryFile(f changedFile) {
	if twin := c.twin(f); twin != "" {
		c.add("format", finding.Error, f.path, 0, f.id, "the same id as %s; keep one of them", twin)
	}
	m, err := record.ParseMemory(f.path, f.new)
	if err != nil {
		c.addFormat(f, err)
		return
	}
	if m.Status == record.Contested {
		c.add("contested", finding.Warning, f.path, keyLine(f.new, "status"), f.id, "%s that a merge could not decide between; keep one: reverie edit %s --take NUMBER", plural.Count(1+len(m.Variants), "variant", "variants"), f.id)
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

// Known reports whether a file of the memory branch is one that belongs there: ours, or a forge's.
func Known(path string) bool {
	top, _, inside := strings.Cut(path, "/")
	if inside {
		return slices.Contains([]string{"memories", "reflections", "dreams", "checkpoints", record.PurgeDir, "skills", ".github"}, top)
	}
	return slices.Contains([]string{"README.md", "reverie.toml", ".gitlab-ci.yml"}, top)
}

// isMemory reports whether a state is one of a memory: it has a reverie.toml, or lost it but has
// memories, or is the first commit of every store.
func (c *checker) isMemory(t *gitstore.Tree) bool {
	if _, err := t.Stat("reverie.toml"); err == nil || t.Commit() == c.Store.First() {
		return true
	}
	found := false
	stop := errors.New("stop")
	t.Walk(record.MemoryDir, func(path string, _ gitstore.ID) error {
		if found = memoryID(path) != ""; found {
			return stop
		}
		return nil
	})
	return found
}
