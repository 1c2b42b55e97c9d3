package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// screen decides which files and commits must not be in the branch. It knows neither the branch nor
// the loop.
type screen struct {
	repo    *git.Repo
	scanner *redact.Scanner
	dir     string // top of the work tree
	maxFile int64  // bytes; zero or less: any size
}

// gone is refuse's reason for a missing file.
const gone = "gone"

// unlisted is refuse's reason for a submodule that matches the commit but not the index.
const unlisted = "git's index has another commit of the submodule, or none"

// refuse returns why a file must not be committed, or ""; gone means that it is missing.
func (s screen) refuse(ctx context.Context, base, name string) (string, error) {
	if rest := strings.TrimSuffix(name, "/"); rest != name {
		return "it is a repository of its own", nil
	}
	if strings.HasPrefix(filepath.Base(name), file.Foreign) {
		return "it is an unfinished file of Reverie's", nil
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	path := filepath.FromSlash(name)
	if beyond(root, path) {
		return gone, nil
	}
	info, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone, nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(path)
		if err != nil {
			return "", err
		}
		return s.newSecrets(ctx, base, name, []byte(target))
	case info.IsDir():
		if entry, err := s.repo.History().Entry(ctx, base, name); err != nil || entry.IsSubmodule() {
			return unlisted, err
		}
		if _, err := root.Lstat(filepath.Join(path, ".git")); err == nil {
			return "it is a repository of its own", nil
		}
		return gone, nil // the folder's files have their own paths
	case !info.Mode().IsRegular():
		return "it is no regular file", nil
	case s.maxFile > 0 && info.Size() > s.maxFile:
		return fmt.Sprintf("it has %d bytes, and the limit is %d", info.Size(), s.maxFile), nil
	}
	text, err := root.ReadFile(path)
	if err != nil {
		return "", err
	}
	return s.newSecrets(ctx, base, name, text)
}

// beyond reports whether a path leads through something other than a folder: files beyond a link
// are not in this tree.
func beyond(root *os.Root, path string) bool {
	for at := filepath.Dir(path); at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// newSecrets returns why a file's or link's text or path holds a secret that is not in a commit, or
// "". An equal number of secrets does not prove that they are the same, so each counts for itself.
func (s screen) newSecrets(ctx context.Context, base, name string, text []byte) (string, error) {
	if why, err := s.secretPath(ctx, base, name); why != "" || err != nil {
		return why, err
	}
	_, found := s.scanner.Text(string(text))
	if found.Found == 0 {
		return "", nil
	}
	why := "it holds what looks like a secret (" + rules(found) + ")"
	entry, err := s.repo.History().Entry(ctx, base, name)
	if err != nil {
		return "", err
	}
	if !entry.IsFile() {
		return why, nil
	}
	data, err := s.repo.Git(ctx, nil, "cat-file", "blob", entry.ID)
	if err != nil {
		return "", err
	}
	old := string(data)
	before := s.scanner.Values(old)
	for _, v := range s.scanner.Values(string(text)) {
		if !strings.Contains(old, v) && !slices.Contains(before, v) {
			return why, nil
		}
	}
	return "", nil
}

// secretPath returns why the path of a file holds a secret, or "". It accepts a secret if the
// commit already has the folder or file with that name.
func (s screen) secretPath(ctx context.Context, base, name string) (string, error) {
	_, found := s.scanner.Text(name)
	if found.Found == 0 {
		return "", nil
	}
	for _, v := range s.scanner.Values(name) {
		known := name
		// up to the end of the folder, or file, with the secret
		if at := strings.Index(name, v); at >= 0 {
			end := at + len(v)
			if next := strings.IndexByte(name[end:], '/'); next >= 0 {
				known = name[:end+next]
			}
		}
		if entry, err := s.repo.History().Entry(ctx, base, known); err != nil || entry.Mode == "" {
			return "its path holds what looks like a secret (" + rules(found) + ")", err
		}
	}
	return "", nil
}

// CheckMessage returns why a commit must not have a message, or "".
func CheckMessage(text string, scanner *redact.Scanner) string {
	if _, found := scanner.Text(text); found.Found > 0 {
		return "the message holds what looks like a secret (" + rules(found) + ")"
	}
	return ""
}

// eachRaw calls fn with the new side of each entry of git diff --raw -z.
func eachRaw(out []byte, fn func(name, mode, blob string) error) error {
	fields := bytes.Split(out, []byte{0})
	for i := 0; i+1 < len(fields); i++ {
		head := strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(fields[i])), ":"))
		if len(head) != 5 {
			continue
		}
		i++
		if head[1] == "000000" {
			continue
		}
		if err := fn(string(fields[i]), head[1], head[3]); err != nil {
			return err
		}
	}
	return nil
}

// refuseBlob returns why a file of a commit, or of an index, must not be in the branch, or "".
func (s screen) refuseBlob(ctx context.Context, base, name, mode, blob string) (string, error) {
	if strings.HasPrefix(filepath.Base(name), file.Foreign) {
		return "it is an unfinished file of Reverie's", nil
	}
	if mode == "160000" {
		if entry, err := s.repo.History().Entry(ctx, base, name); err != nil || !entry.IsSubmodule() {
			return "it is a repository of its own", err
		}
		return "", nil
	}
	size, err := s.repo.Git(ctx, nil, "cat-file", "-s", blob)
	if err != nil {
		return "", err
	}
	var n int64
	if fmt.Sscan(string(size), &n); s.maxFile > 0 && n > s.maxFile {
		return fmt.Sprintf("it has %d bytes, and the limit is %d", n, s.maxFile), nil
	}
	text, err := s.repo.Git(ctx, nil, "cat-file", "blob", blob)
	if err != nil {
		return "", err
	}
	return s.newSecrets(ctx, base, name, text)
}

// taints returns why an agent's commits must not be in the branch, or "".
func (s screen) taints(ctx context.Context, from, to string) (why string, err error) {
	out, err := s.repo.Git(ctx, nil, "log", "--raw", "-z", "-m", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--format=", from+".."+to, "--")
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	err = eachRaw(out, func(name, mode, blob string) error {
		file := name + "\x00" + mode + blob // a path may hold content that another may not
		if seen[file] || why != "" {
			return nil
		}
		seen[file] = true
		reason, err := s.refuseBlob(ctx, from, name, mode, blob)
		if reason != "" {
			why = name + ": " + reason
		}
		return err
	})
	if err != nil || why != "" {
		return why, err
	}
	if out, err = s.repo.Git(ctx, nil, "log", "-z", "--format=%an <%ae>%n%cn <%ce>%n%B", from+".."+to, "--"); err != nil {
		return "", err
	}
	for said := range strings.SplitSeq(string(out), "\x00") {
		if why = CheckMessage(said, s.scanner); why != "" {
			break
		}
	}
	return why, nil
}
