package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Refs reads and moves the refs of a repository: plain files by git's lock protocol, all others by
// git.
type Refs struct {
	repo  *Repo
	files refFiles
}

// Refs returns the repository's refs. It does no I/O.
func (r *Repo) Refs() Refs { return Refs{r, refFiles{r.CommonDir, r.ObjectFormat}} }

// Read returns the object id of a ref. It returns ErrNoRef only if both the file and packed-refs
// definitely lack it. Writers other than git leave a ref empty for moments, so Read reads a torn
// value again before it returns ErrBrokenRef.
func (r Refs) Read(ctx context.Context, name string) (string, error) {
	if err := CheckRef(name); err != nil {
		return "", err
	}
	if !r.plain(name) {
		return r.ask(ctx, name)
	}
	for try := 0; ; try++ {
		id, err := r.files.read(name)
		if !errors.Is(err, ErrBrokenRef) || try == 5 {
			if err != nil {
				err = fmt.Errorf("read %s: %w", name, err)
			}
			return id, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// plain reports whether the ref is, or would be, a regular file: neither in a reftable nor a
// symbolic link.
func (r Refs) plain(name string) bool {
	if r.repo.RefFormat != "files" {
		return false
	}
	info, err := os.Lstat(r.files.path(name))
	return err != nil || info.Mode()&fs.ModeSymlink == 0
}

// ask reads a ref by git that is not a plain file. Its pattern also matches refs below the name.
func (r Refs) ask(ctx context.Context, name string) (string, error) {
	out, err := r.repo.Git(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return id, nil
		}
	}
	if r.repo.RefFormat == "files" { // an existing symbolic link that git ignores
		return "", fmt.Errorf("read %s: %w: it is a link to no ref", name, ErrBrokenRef)
	}
	return "", fmt.Errorf("read %s: %w", name, ErrNoRef)
}

// Ref is a ref and the object it names.
type Ref struct{ Name, ID string }

// List lists refs by git's patterns; without any, all of them.
func (r Refs) List(ctx context.Context, args ...string) ([]Ref, error) {
	out, err := r.repo.Git(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...)
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
