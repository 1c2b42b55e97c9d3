package check

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/finding"
)

// maxEarlier bounds what is looked at of files that a later commit took back, in bytes.
const maxEarlier = 4 * maxNew

// checkHistory looks for secrets in the commits of a change: in their messages, and in files that a
// later commit took back. Merged as they are, they would stay in the branch's history.
func (c *checker) checkHistory() error {
	if c.head.Commit() == "" || c.base != nil && c.base.Commit() == "" {
		return nil // trees have no history
	}
	repo := c.Store.Repo()
	limits := []string{string(c.To)}
	for _, not := range []gitstore.ID{c.From, c.Beside} {
		if not != "" {
			limits = append(limits, "^"+string(not))
		}
	}
	text, err := repo.Git(c.ctx, nil, append([]string{"log", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%B%x00"}, limits...)...)
	if err != nil {
		return &HistoryError{err}
	}
	messages := strings.Split(string(text), "\x00")
	if repo.Shallow {
		ends, _ := os.ReadFile(filepath.Join(repo.CommonDir, "shallow"))
		for _, m := range messages {
			if id, _, _ := strings.Cut(strings.TrimSpace(m), "\n"); id != "" && strings.Contains(string(ends), id) {
				return &HistoryError{errors.New("not all commits of the change are here")}
			}
		}
	}
	for _, m := range messages {
		id, text, _ := strings.Cut(strings.TrimSpace(m), "\n")
		if _, report := c.Scanner.Text(text); report.Found > 0 {
			c.add("secret", finding.Error, "", 0, "", "the message of commit %s holds what looks like a secret (%s)", id[:min(12, len(id))], report.Kinds())
		}
	}
	var limit *gitstore.LimitError
	if err := gitstore.AdmitHistory(c.ctx, c.Store.Repo(), limits...); errors.As(err, &limit) {
		c.add("size", finding.Error, limit.Path, 0, "", "a commit of this change has %s", limit.Limit)
		return nil
	} else if err != nil {
		return err
	}
	read := 0
	objects, err := repo.Git(c.ctx, nil, append([]string{"rev-list", "--objects", "--filter=object:type=blob"}, limits...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(objects)) {
		id, path, isFile := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !isFile || c.looked[gitstore.ID(id)] {
			continue
		}
		if read > maxEarlier {
			c.add("size", finding.Error, path, 0, "", "earlier commits of this change hold more than %d bytes, the limit of this check: rewrite the change as fewer commits", maxEarlier)
			return nil
		}
		err := c.head.ReadAll([]gitstore.ID{gitstore.ID(id)}, func(_ int, data []byte) error {
			read += len(data)
			if _, report := c.Scanner.Text(string(data)); report.Found > c.secretsBefore(path) {
				c.add("secret", finding.Error, path, 0, memoryID(path), "an earlier commit of this change holds what looks like a secret (%s); it would stay in the history: make the change again without it", report.Kinds())
			}
			return nil
		})
		if errors.Is(err, gitstore.ErrTooLarge) {
			c.add("format", finding.Error, path, 0, "", "an earlier commit of this change holds a file that is too large: %d bytes are allowed", gitstore.MaxFile)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// secretsBefore counts the secrets in a file of the base.
func (c *checker) secretsBefore(path string) int {
	if c.base == nil {
		return 0
	}
	data, err := c.base.Read(path)
	if err != nil {
		return 0
	}
	_, report := c.Scanner.Text(string(data))
	return report.Found
}
