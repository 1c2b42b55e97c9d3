package diff

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Between returns the redacted diff between two commits. Readable files that git takes for binary
// follow at its end.
func Between(ctx context.Context, repo *git.Repo, scanner *redact.Scanner, base, tip string) (string, error) {
	c := change{repo, base, tip}
	hidden, err := c.readable(ctx)
	if err != nil {
		return "", fmt.Errorf("read the change: %w", err)
	}
	paths := []string{":(top)"}
	for _, name := range hidden {
		paths = append(paths, ":(exclude,literal,top)"+name)
	}
	out, err := c.diff(ctx, "--", paths...)
	if err == nil && len(hidden) > 0 {
		for i, name := range hidden {
			hidden[i] = ":(literal,top)" + name
		}
		var more []byte
		more, err = c.diff(ctx, "--text", append([]string{"--"}, hidden...)...)
		out = append(out, more...)
	}
	if err != nil {
		return "", fmt.Errorf("read the change: %w", err)
	}
	clean, _ := scanner.Text(string(out))
	return clean.String(), nil
}

// change is the difference between two commits.
type change struct {
	repo      *git.Repo
	base, tip string
}

func (c change) diff(ctx context.Context, option string, more ...string) ([]byte, error) {
	return c.repo.Git(ctx, nil, append([]string{"-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--src-prefix=a/", "--dst-prefix=b/", c.base, c.tip, option}, more...)...)
}

// readable returns the changed files whose lines git hides because of a NUL or an attribute
// although they are readable. A single byte must not hide a script from an auditor.
func (c change) readable(ctx context.Context) ([]string, error) {
	counts, err := c.diff(ctx, "--numstat", "-z", "--")
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.SplitSeq(string(counts), "\x00") {
		name, binary := strings.CutPrefix(line, "-\t-\t")
		if !binary {
			continue
		}
		entry, err := c.repo.History().Entry(ctx, c.tip, name)
		if err != nil {
			return nil, err
		}
		if !entry.IsFile() { // it is gone
			continue
		}
		text, err := c.repo.Git(ctx, nil, "cat-file", "blob", entry.ID)
		if err != nil {
			return nil, err
		}
		if isScript(text) {
			all = append(all, name)
		}
	}
	return all, nil
}
