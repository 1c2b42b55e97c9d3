package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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

// Log returns the log of a ref, one line each: an earlier id of the ref, and the message. It is
// empty without a log.
func (r Refs) Log(ctx context.Context, name string) (ids, messages []string, err error) {
	if r.repo.RefFormat != "files" {
		out, err := r.repo.Git(ctx, nil, "log", "-g", "--no-show-signature", "--format=%H %gs", name, "--")
		if err != nil {
			return nil, nil, nil // git reports the same for a ref without a log
		}
		for line := range strings.Lines(string(out)) {
			id, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			ids, messages = append(ids, id), append(messages, message)
		}
		return ids, messages, nil
	}
	text, err := os.ReadFile(filepath.Join(r.files.dir, "logs", filepath.FromSlash(name)))
	if absent(err) {
		return nil, nil, nil
	}
	for line := range strings.Lines(string(text)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			for _, id := range fields[:2] {
				if r.files.format.IsID(id) && id != r.files.format.zero() {
					ids = append(ids, id)
				}
			}
		}
		messages = append(messages, message)
	}
	return ids, messages, err
}
