package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// log adds a line to the ref's log, the way back to an overwritten tip. It ignores
// core.logAllRefUpdates.
func (f refFiles) log(name, old, new string, who Identity, message string, share sharing) error {
	path := filepath.Join(f.dir, "logs", filepath.FromSlash(name))
	line := fmt.Sprintf("%s %s %s\t%s\n", old, new, who.Stamp(time.Now()), message)
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("reflog %s is a symbolic link: move it away", path) // to another file
	}
	for range 3 {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err == nil {
			_, err = f.WriteString(line)
			return errors.Join(err, f.Close(), share.adjust(path))
		}
		if isDirectoryError(err) {
			removeEmpty(path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := share.makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return fmt.Errorf("write reflog %s: its folder does not stay", path)
}

// ForgetLog empties the log of one of our refs. Its lines would keep old commits for months.
func (r Refs) ForgetLog(ctx context.Context, name string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	_, err := r.repo.Git(ctx, nil, "reflog", "expire", "--expire=all", "--expire-unreachable=all", name)
	return err
}

// Log is the log of a ref, its oldest line first.
type Log []Logged

// Logged is a line of a ref's log. A damaged line has empty fields.
type Logged struct {
	Old, New string // ids of the ref
	Email    string // of the user who moved it, in lower case
	Seconds  int64  // since 1970
	Message  string
}

// IDs returns each id of the ref once, the newest first.
func (l Log) IDs() (ids []string) {
	seen := map[string]bool{"": true}
	for _, line := range slices.Backward(l) {
		for _, id := range []string{line.New, line.Old} {
			if !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
		}
	}
	return ids
}

// Log returns the log of a ref, or nil if it has none.
func (r Refs) Log(ctx context.Context, name string) (log Log, err error) {
	if r.repo.RefFormat != "files" {
		return r.logByGit(ctx, name), nil
	}
	text, err := os.ReadFile(filepath.Join(r.files.dir, "logs", filepath.FromSlash(name)))
	if absent(err) {
		return nil, nil
	}
	id := func(s string) string {
		if !r.files.format.IsID(s) || s == r.files.format.zero() {
			return ""
		}
		return s
	}
	for line := range strings.Lines(string(text)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		l := Logged{Message: message}
		if fields := strings.Fields(head); len(fields) > 1 {
			l.Old, l.New = id(fields[0]), id(fields[1])
		}
		if from, to := strings.LastIndexByte(head, '<'), strings.LastIndexByte(head, '>'); 0 <= from && from < to {
			l.Email = strings.ToLower(head[from+1 : to])
			when, _, _ := strings.Cut(strings.TrimSpace(head[to+1:]), " ")
			l.Seconds, _ = strconv.ParseInt(when, 10, 64)
		}
		log = append(log, l)
	}
	return log, err
}

// logByGit returns a log as git tells it, without lines whose commit is gone. An old id is the new
// one of the line before, and unknown in the first.
func (r Refs) logByGit(ctx context.Context, name string) (log Log) {
	out, err := r.repo.Git(ctx, nil, "log", "-g", "--no-show-signature", "--encoding=UTF-8", "--date=unix",
		"--format=%H %gd <%ge>%x09%gs", name, "--")
	if err != nil {
		return nil // git reports the same for a ref without a log
	}
	for line := range strings.Lines(string(out)) { // the newest first
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id, rest, _ := strings.Cut(head, " ")
		when, email, _ := strings.Cut(rest, "} <")
		l := Logged{New: id, Email: strings.ToLower(strings.TrimSuffix(email, ">")), Message: message}
		l.Seconds, _ = strconv.ParseInt(when[strings.LastIndexByte(when, '{')+1:], 10, 64)
		if n := len(log); n > 0 {
			log[n-1].Old = id
		}
		log = append(log, l)
	}
	slices.Reverse(log)
	return log
}
