package git

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// maxGrep bounds the bytes read of git's answer: words with more matches tell nothing.
const maxGrep = 4 << 20

// Grep lists for each word, matched whole and literally, the files of a commit that contain it: at
// most n, or n + 1 if there are more. Paths start at the top. It skips prose, that is Markdown and
// plain text. It costs one process for any number of words.
func (r *Repo) Grep(ctx context.Context, commit string, words []string, n int) (map[string][]string, error) {
	args := []string{"grep", "-I", "-o", "-z", "-F", "-w", "--no-textconv", "--no-recurse-submodules", "--no-color", "--no-column", "--no-line-number", "--full-name"}
	for _, word := range words {
		args = append(args, "-e", word)
	}
	args = append(args, commit, "--", ":(top)")
	for _, ending := range []string{"md", "markdown", "rst", "adoc", "txt"} {
		args = append(args, ":(top,exclude,icase)*."+ending)
	}
	cmd := r.Command(ctx, args...)
	out, stderr := &limited{max: maxGrep}, bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 1 && out.Len() == 0:
		return nil, nil
	default:
		return nil, newError(cmd, stderr.Bytes(), err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		place, word, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		_, path, ok := strings.Cut(place, ":")
		if list := found[word]; ok && len(list) <= n && !slices.Contains(list, path) {
			found[word] = append(list, path)
		}
	}
	return found, nil
}

// limited is a buffer that keeps at most max bytes.
type limited struct {
	bytes.Buffer
	max int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.max {
		return 0, errors.New("there is more than is looked at")
	}
	return l.Buffer.Write(p)
}
