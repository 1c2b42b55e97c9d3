package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// In a sealed place, .gitattributes names a filter for some files, as Git LFS does. The filter runs
// when the place is made, so the file has content where git stores a pointer. No filter runs
// afterwards, so git reports the file as changed as soon as it reads it. We record the hash of the
// filter's result: a file with that hash is unchanged. Any other content stays out until a person
// approves it.

// filteredFile is in the git directory of a sealed place: a JSON object, path → SHA-256 of the
// original file, in hex.
const filteredFile = "reverie-filtered"

// filterNotes records which files of a sealed place a filter made, and compares them.
type filterNotes struct{ place *Place }

// note records the files of a sealed place that a filter made.
func (f filterNotes) note(ctx context.Context, gitDir string) error {
	if !f.place.sealed {
		return nil
	}
	out, err := f.place.git(ctx, "", nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	filters, err := f.of(ctx, "", out)
	if err != nil || len(filters) == 0 {
		return err
	}
	root, err := os.OpenRoot(f.place.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	made := map[string]string{}
	for name := range filters {
		if made[name], err = hashOf(root, name); err != nil {
			return err
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(gitDir, filteredFile), text, 0o600, true)
}

// of maps the paths of files to their filters, by the attributes in an index. names are
// NUL-terminated. It ignores the attributes in the work tree.
func (f filterNotes) of(ctx context.Context, index string, names []byte) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := f.place.git(ctx, index, names, "check-attr", "--cached", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) >= 3; fields = fields[3:] {
		if f := fields[2]; f != "unspecified" && f != "unset" && f != "set" {
			found[fields[0]] = f
		}
	}
	return found, nil
}

// changed returns the filters of paths of a sealed place, and the files that are unchanged.
func (f filterNotes) changed(ctx context.Context, index string, names []string) (filters map[string]string, same map[string]bool, err error) {
	if !f.place.sealed || len(names) == 0 {
		return nil, nil, nil
	}
	var list bytes.Buffer
	for _, name := range names {
		list.WriteString(name + "\x00")
	}
	if filters, err = f.of(ctx, index, list.Bytes()); err != nil || len(filters) == 0 {
		return nil, nil, err
	}
	gitDir, err := f.place.gitDir()
	if err != nil {
		return nil, nil, err
	}
	made := map[string]string{}
	text, err := file.Read(filepath.Join(gitDir, filteredFile), maxFiltered)
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	root, err := os.OpenRoot(f.place.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	same = map[string]bool{}
	for name := range filters {
		if made[name] == "" || beyond(root, filepath.FromSlash(name)) {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		sum, err := hashOf(root, name)
		if err != nil {
			return nil, nil, err
		}
		same[name] = sum == made[name]
	}
	return filters, same, nil
}

// maxFiltered bounds the list of filtered files, in bytes.
const maxFiltered = 64 << 20

// hashOf returns the SHA-256 of a file, in hex, or "" for anything but a regular file.
func hashOf(root *os.Root, name string) (string, error) {
	path := filepath.FromSlash(name)
	if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
