package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var (
	// ErrNoRef is returned when a ref definitely does not exist, neither as a file nor in packed-refs.
	ErrNoRef = errors.New("ref does not exist")
	// ErrBrokenRef is returned when a ref exists but holds no object id.
	ErrBrokenRef = errors.New("broken ref")
	// ErrLost is returned when a ref was not moved because it no longer had the expected value.
	ErrLost = errors.New("another writer moved the ref first")
	// ErrRefConflict is returned when one ref's name would be a folder of another's.
	ErrRefConflict = errors.New("ref name is taken as a folder")
	// ErrRefLocked is returned when another git holds the lock of a ref for too long.
	ErrRefLocked = errors.New("ref is locked")
)

// CheckRef returns an error unless name is valid for one of our refs. It follows the rules of git
// check-ref-format and also refuses refs that belong to one worktree.
func CheckRef(name string) error {
	bad := func(why string) error { return fmt.Errorf("ref name %q: %s", name, why) }
	if !strings.HasPrefix(name, "refs/") {
		return bad("does not begin with refs/")
	}
	for _, p := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, p) {
			return bad("belongs to one worktree")
		}
	}
	if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) }) {
		return bad("holds a character that git does not allow")
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return bad("holds a sequence that git does not allow")
	}
	parts := strings.Split(name, "/")
	if len(parts) < 3 {
		return bad("needs two parts after refs/, at least")
	}
	for _, part := range parts {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad("holds a part that is empty, begins with a dot or ends with .lock")
		}
	}
	return nil
}

// ReadRef returns the object id of a ref. It returns ErrNoRef only if both the file and packed-refs
// definitely lack it. Writers other than git leave a ref empty for moments, so ReadRef reads a torn
// value again before it returns ErrBrokenRef.
func (r *Repo) ReadRef(ctx context.Context, name string) (string, error) {
	if err := CheckRef(name); err != nil {
		return "", err
	}
	if !r.plainRef(name) {
		return r.askRef(ctx, name)
	}
	for try := 0; ; try++ {
		id, err := r.readRef(name)
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

// readRef reads once: the file, packed-refs, and the file again, because git may move the value
// from one to the other meanwhile.
func (r *Repo) readRef(name string) (string, error) {
	for look := range 2 {
		text, err := os.ReadFile(r.refPath(name))
		switch {
		case err == nil:
			return r.refValue(text)
		case !absent(err):
			return "", err
		case look > 0:
			return "", ErrNoRef
		}
		packed, err := r.packedRefs()
		if err != nil {
			return "", err
		}
		if id := packed.find(name); id != "" {
			return r.refValue([]byte(id))
		}
	}
	panic("unreachable")
}

func (r *Repo) refValue(text []byte) (string, error) {
	id := strings.TrimSuffix(string(text), "\n")
	switch {
	case r.ObjectFormat.IsID(id):
		return id, nil
	case strings.HasPrefix(id, "ref:"):
		return "", fmt.Errorf("%w: it is a symbolic ref", ErrBrokenRef)
	case id == "":
		return "", fmt.Errorf("%w: it is empty", ErrBrokenRef)
	}
	return "", fmt.Errorf("%w: it holds %d bytes that are no object id", ErrBrokenRef, len(text))
}

// absent reports whether an error means that no file of this name exists: nothing, a folder in its
// place, or a file in place of one of its folders.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isDirectoryError(err)
}

func (r *Repo) refPath(name string) string {
	return filepath.Join(r.CommonDir, filepath.FromSlash(name))
}

// plainRef reports whether the ref is, or would be, a regular file: neither in a reftable nor a
// symbolic link.
func (r *Repo) plainRef(name string) bool {
	if r.RefFormat != "files" {
		return false
	}
	info, err := os.Lstat(r.refPath(name))
	return err != nil || info.Mode()&fs.ModeSymlink == 0
}

// askRef reads a ref by git that is not a plain file. Its pattern also matches refs below the name.
func (r *Repo) askRef(ctx context.Context, name string) (string, error) {
	out, err := r.Git(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return id, nil
		}
	}
	if r.RefFormat == "files" { // an existing symbolic link that git ignores
		return "", fmt.Errorf("read %s: %w: it is a link to no ref", name, ErrBrokenRef)
	}
	return "", fmt.Errorf("read %s: %w", name, ErrNoRef)
}

// packedRefs holds the text of the file packed-refs, whose lines are an id, a space and a name.
type packedRefs []byte

func (r *Repo) packedRefs() (packedRefs, error) {
	text, err := os.ReadFile(filepath.Join(r.CommonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return text, nil
}

// find returns the id of a name in the file, or "". It costs one pass over the bytes.
func (p packedRefs) find(name string) string {
	rest := []byte(p)
	for {
		i := bytes.Index(rest, []byte(" "+name+"\n"))
		if i < 0 {
			return ""
		}
		if start := bytes.LastIndexByte(rest[:i], '\n') + 1; rest[start] != '#' {
			return string(rest[start:i])
		}
		rest = rest[i+1:]
	}
}

// below returns a name in the file that has this one as its folder, or "".
func (p packedRefs) below(name string) string {
	_, rest, found := bytes.Cut(p, []byte(" "+name+"/"))
	if !found {
		return ""
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	return name + "/" + string(rest)
}
