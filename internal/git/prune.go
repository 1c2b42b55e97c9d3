package git

import (
	"context"
	"path/filepath"
	"strings"
)

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
