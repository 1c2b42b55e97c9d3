package cmd

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/redact"
)

// checkHistory looks for secrets in the commits of a change: in their messages, and in files that a later
// commit took back. Merged as they are, they would stay in the branch's history.
func (c *diffCheck) checkHistory(s span) error {
	if c.head.Commit() == "" || c.base != nil && c.base.Commit() == "" {
		return nil // trees have no history
	}
	repo := c.w.repo
	limits := []string{string(s.to)}
	for _, not := range []gitstore.ID{s.from, s.beside} {
		if not != "" {
			limits = append(limits, "^"+string(not))
		}
	}
	text, err := repo.Git(c.ctx, nil, append([]string{"log", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%B%x00"}, limits...)...)
	if err != nil {
		return c.w.cutOff(c.ctx, err)
	}
	messages := strings.Split(string(text), "\x00")
	if repo.Shallow {
		ends, _ := os.ReadFile(filepath.Join(repo.CommonDir, "shallow"))
		for _, m := range messages {
			if id, _, _ := strings.Cut(strings.TrimSpace(m), "\n"); id != "" && strings.Contains(string(ends), id) {
				return c.w.cutOff(c.ctx, errors.New("not all commits of the change are here"))
			}
		}
	}
	for _, m := range messages {
		id, text, _ := strings.Cut(strings.TrimSpace(m), "\n")
		if _, report := c.scanner.Text(text); report.Found > 0 {
			c.add("secret", finding.Error, "", 0, "", "the message of commit %s holds what looks like a secret (%s)", id[:min(12, len(id))], secretKinds(report))
		}
	}
	objects, err := repo.Git(c.ctx, nil, append([]string{"rev-list", "--objects", "--filter=object:type=blob"}, limits...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(objects)) {
		id, path, isFile := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !isFile || c.looked[gitstore.ID(id)] {
			continue
		}
		err := c.head.ReadAll([]gitstore.ID{gitstore.ID(id)}, func(_ int, data []byte) error {
			if _, report := c.scanner.Text(string(data)); report.Found > c.secretsBefore(path) {
				c.add("secret", finding.Error, path, 0, memoryID(path), "an earlier commit of this change holds what looks like a secret (%s); it would stay in the history: make the change anew without it", secretKinds(report))
			}
			return nil
		})
		if err != nil && !errors.Is(err, gitstore.ErrTooLarge) {
			return err
		}
	}
	return nil
}

// secretsBefore is how many secrets a file of the base holds.
func (c *diffCheck) secretsBefore(path string) int {
	if c.base == nil {
		return 0
	}
	data, err := c.base.Read(path)
	if err != nil {
		return 0
	}
	_, report := c.scanner.Text(string(data))
	return report.Found
}

// secretKinds names the rules that found something, never what they found.
func secretKinds(r redact.Report) string {
	return strings.Join(slices.Sorted(maps.Keys(r.ByRule)), ", ")
}
