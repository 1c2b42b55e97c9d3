package git

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ForgetReflog empties the log of one of our refs. Its lines would keep old commits for months.
func (r *Repo) ForgetReflog(ctx context.Context, name string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	_, err := r.Git(ctx, nil, "reflog", "expire", "--expire=all", "--expire-unreachable=all", name)
	return err
}

// Reflog returns the log of a ref, one line each: an earlier id of the ref, and the message. It is
// empty without a log.
func (r *Repo) Reflog(ctx context.Context, name string) (ids, messages []string, err error) {
	if r.RefFormat != "files" {
		out, err := r.Git(ctx, nil, "log", "-g", "--no-show-signature", "--format=%H %gs", name, "--")
		if err != nil {
			return nil, nil, nil // git reports the same for a ref without a log
		}
		for line := range strings.Lines(string(out)) {
			id, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			ids, messages = append(ids, id), append(messages, message)
		}
		return ids, messages, nil
	}
	text, err := os.ReadFile(filepath.Join(r.CommonDir, "logs", filepath.FromSlash(name)))
	if absentOrFolder(err) {
		return nil, nil, nil
	}
	for line := range strings.Lines(string(text)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			for _, id := range fields[:2] {
				if r.ObjectFormat.IsID(id) && id != r.ObjectFormat.zero() {
					ids = append(ids, id)
				}
			}
		}
		messages = append(messages, message)
	}
	return ids, messages, err
}

func absentOrFolder(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrNotExist) || isDirectoryError(err))
}

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

// Ref is a ref and the object it names.
type Ref struct{ Name, ID string }

// Refs lists refs by git's patterns; without any, all of them.
func (r *Repo) Refs(ctx context.Context, args ...string) ([]Ref, error) {
	out, err := r.Git(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs = append(refs, Ref{name, id})
	}
	return refs, nil
}
