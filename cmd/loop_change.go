package cmd

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/worktree"
)

// diff is what a loop has changed since it began. At its end stand the files that git takes for binary and that can be read all the same.
func (l *looper) diff(ctx context.Context, s worktree.State) (string, error) {
	hidden, err := l.readable(ctx, s)
	if err != nil {
		return "", fmt.Errorf("read the change: %w", err)
	}
	paths := []string{":(top)"}
	for _, name := range hidden {
		paths = append(paths, ":(exclude,literal,top)"+name)
	}
	out, err := l.gitDiff(ctx, s, "--", paths...)
	if err == nil && len(hidden) > 0 {
		for i, name := range hidden {
			hidden[i] = ":(literal,top)" + name
		}
		var more []byte
		more, err = l.gitDiff(ctx, s, "--text", append([]string{"--"}, hidden...)...)
		out = append(out, more...)
	}
	if err != nil {
		return "", fmt.Errorf("read the change: %w", err)
	}
	clean, _ := l.w.scanner.Text(string(out))
	return clean.String(), nil
}

// diffFor is what of a diff stands in the prompt of an agent or a command that audits. In a sandbox there is no git that could tell the rest, so
// none is passed over there.
func diffFor(diff string, inside bool) (string, error) {
	switch {
	case !inside && len(diff) > maxDiff:
		return cutOff(diff, maxDiff) + fmt.Sprintf("\n[%d bytes more: read them in the work tree]\n", len(diff)-maxDiff), nil
	case inside && len(diff) > maxDiffInside:
		return "", fmt.Errorf("the change is too large to be audited in a sandbox: its diff has %d bytes, and %d stand in a prompt, beside which there is no git; --audit-model asks about it in parts", len(diff), maxDiffInside)
	}
	return diff, nil
}

// gitDiff is a diff between where a loop began and its tip.
func (l *looper) gitDiff(ctx context.Context, s worktree.State, option string, more ...string) ([]byte, error) {
	return l.w.repo.Git(ctx, nil, append([]string{"-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--src-prefix=a/", "--dst-prefix=b/", s.Base, s.Tip, option}, more...)...)
}

// readable are the files of a change of which git shows no lines, for a NUL or an attribute, and that somebody could read: one byte must not
// keep an auditor from a script.
func (l *looper) readable(ctx context.Context, s worktree.State) ([]string, error) {
	counts, err := l.gitDiff(ctx, s, "--numstat", "-z", "--")
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.SplitSeq(string(counts), "\x00") {
		name, binary := strings.CutPrefix(line, "-\t-\t")
		if !binary {
			continue
		}
		entry, err := l.w.repo.Git(ctx, nil, "ls-tree", "--full-tree", "--format=%(objecttype) %(objectname)", s.Tip, "--", ":(literal)"+name)
		if err != nil {
			return nil, err
		}
		id, file := strings.CutPrefix(strings.TrimSpace(string(entry)), "blob ")
		if !file { // it is gone
			continue
		}
		text, err := l.w.repo.Git(ctx, nil, "cat-file", "blob", id)
		if err != nil {
			return nil, err
		}
		if isScript(text) {
			all = append(all, name)
		}
	}
	return all, nil
}

// scriptHead is how much of a file is looked at for text, in bytes.
const scriptHead = 1 << 10

// isScript reports whether a content can be read as text, whatever git says: it names its interpreter, is UTF-16, or its beginning or all of it
// has seven of eight bytes in characters. NUL does not count, for shells pass over it.
func isScript(text []byte) bool {
	if slices.ContainsFunc([]string{"#!", "\xff\xfe", "\xfe\xff"}, func(head string) bool { return bytes.HasPrefix(text, []byte(head)) }) {
		return true
	}
	return isText(text[:min(len(text), scriptHead)]) || isText(text)
}

func isText(text []byte) bool {
	bytes, odd := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == 0:
			continue
		case r == utf8.RuneError && n == 1, r < ' ' && !strings.ContainsRune("\t\n\r\f", r), r == 0x7f:
			odd++
		}
		bytes += n
	}
	return bytes > 0 && odd*8 < bytes
}
