package check

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Known reports whether a file of the memory branch is one that belongs there: ours, or a forge's.
func Known(path string) bool {
	top, _, inside := strings.Cut(path, "/")
	if inside {
		return slices.Contains([]string{"memories", "reflections", "dreams", "checkpoints", record.PurgeDir, "skills", ".github"}, top)
	}
	return slices.Contains([]string{"README.md", "reverie.toml", ".gitlab-ci.yml"}, top)
}

// Conflict returns the first line, from 1, with a conflict marker of git, or 0. A line of = alone
// is no sign: it also underlines a heading.
func Conflict(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		for _, mark := range []string{"<<<<<<< ", "||||||| ", ">>>>>>> "} {
			if bytes.HasPrefix(line, []byte(mark)) {
				return n
			}
		}
	}
	return 0
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
