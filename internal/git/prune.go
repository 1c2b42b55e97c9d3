package git

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// Reachable returns the objects that any ref, reflog, index or HEAD of this repository reaches. It
// lists the whole repository. For a partial clone it returns an error, because git would have to
// fetch.
func (r *Repo) Reachable(ctx context.Context, objects map[string]bool, more ...string) (map[string]bool, error) {
	args := []string{"rev-list", "--objects", "--no-object-names"}
	if len(more) == 0 {
		more = []string{"--all", "--reflog", "--indexed-objects"}
	}
	if r.Partial {
		return nil, errors.New("a partial clone cannot tell what it still needs")
	}
	cmd := r.Command(ctx, append(args, more...)...)
	stderr := &limitedBuffer{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, newError(cmd, nil, err)
	}
	found := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id := lines.Text(); objects[id] {
			found[id] = true
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		return nil, newError(cmd, stderr.bytes(), err)
	}
	return found, nil
}

// DropLoose removes the loose files of objects in this repository's own folder; packed ones stay.
// left lists the objects that the repository still has. The caller knows that they are unreachable,
// and holds the lock of State.Lock.
func (r *Repo) DropLoose(ctx context.Context, ids []string) (left []string, err error) {
	root := filepath.Join(r.CommonDir, "objects")
	var files []string
	for _, id := range ids {
		if r.ObjectFormat.IsID(id) {
			files = append(files, loosePath(root, id))
		}
	}
	if err := removeAll(files); err != nil {
		return nil, err
	}
	return r.Have(ctx, ids)
}

// Have returns the objects that the repository has, without fetching any.
func (r *Repo) Have(ctx context.Context, ids []string) ([]string, error) {
	var have []string
	if len(ids) == 0 {
		return nil, nil
	}
	cmd := r.Command(ctx, "cat-file", "--batch-check=%(objectname)")
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := run(cmd)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if id := strings.TrimSuffix(line, "\n"); r.ObjectFormat.IsID(id) {
			have = append(have, id)
		}
	}
	return have, nil
}

// Whole reports whether commits and their histories are complete here.
func (r *Repo) Whole(ctx context.Context, ids ...string) bool { return r.whole(ctx, ids) }

// Complete reports whether commits, their histories and all files are complete here.
func (r *Repo) Complete(ctx context.Context, ids ...string) bool {
	return r.whole(ctx, ids, "--objects")
}

func (r *Repo) whole(ctx context.Context, ids []string, options ...string) bool {
	have, err := r.Have(ctx, ids)
	if err != nil || len(have) < len(ids) {
		return false
	}
	if len(ids) > 0 {
		_, err = r.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), append([]string{"rev-list", "--quiet", "--stdin"}, options...)...)
	}
	return err == nil
}
