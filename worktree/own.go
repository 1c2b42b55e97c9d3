package worktree

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// A record is a ref, and a fetch can bring or replace one. Its commands could then come from a
// stranger. So each step signs the files with a key that exists only in the loop's folder in the
// state folder.
const (
	// keyFile is in the folder of a loop: 32 random bytes in hex, readable only by its user.
	keyFile = "key"
	// signatures is in the tree of a record: a line for each file that decisions depend on, with its
	// path and its signature.
	signatures = "signatures"
)

// validName reports whether a loop can have a name, which serves as a file name and as part of a
// ref's.
func validName(name string) bool {
	return name != "" && name[0] != '.' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && filepath.IsLocal(name)
}

// key returns the key of the loop, or nil if it did not begin here.
func (r *Record) key() []byte {
	dir, err := folderOf(r.repo, r.Name)
	if err != nil {
		return nil
	}
	text, err := file.Read(filepath.Join(dir, keyFile), 1<<10)
	if err != nil {
		return nil
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != sha256.Size {
		return nil
	}
	return key
}

// newKey gives the loop a new key, which invalidates all earlier signatures.
func (r *Record) newKey() ([]byte, error) {
	dir, err := folder(r.repo, r.Name)
	if err != nil {
		return nil, err
	}
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return key, file.Replace(filepath.Join(dir, keyFile), []byte(hex.EncodeToString(key)+"\n"), 0o600, true)
}

// signature returns the signature of a file: the first half of the HMAC-SHA256 of its path and the
// id of its content, in hex.
func signature(key []byte, path string, id gitstore.ID) string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s\x00%s", path, id)
	return hex.EncodeToString(h.Sum(nil)[:sha256.Size/2])
}

// signatureLines returns the text of the file signatures.
func (r *Record) signatureLines(key []byte, files map[string]gitstore.ID) (redact.Redacted, error) {
	var lines []string
	for path, id := range files {
		lines = append(lines, path+" "+signature(key, path, id)+"\n")
	}
	slices.Sort(lines)
	text, found := r.scanner.Text(strings.Join(lines, ""))
	if found.Found > 0 {
		return text, fmt.Errorf("the signatures of a loop's record look like a secret (%s): have the rule be narrower", rules(found))
	}
	return text, nil
}

// deciding returns the files of a record that decisions depend on.
func deciding(t *gitstore.Tree) (map[string]gitstore.ID, error) {
	files := map[string]gitstore.ID{}
	for _, path := range []string{"state.json", "plan.md"} {
		id, err := t.Stat(path)
		if err != nil {
			return nil, err
		}
		files[path] = id
	}
	err := t.Walk("findings", func(path string, id gitstore.ID) error {
		files[path] = id
		return nil
	})
	return files, err
}

// sign signs the record's present content. The caller has checked that the record was ours before.
func (r *Record) sign(tx *gitstore.Tx) error {
	key := r.key()
	if key == nil {
		return fmt.Errorf("loop %s: %w", r.Name, ErrForeign)
	}
	files, err := deciding(tx.Tree)
	if err != nil {
		return err
	}
	text, err := r.signatureLines(key, files)
	if err != nil {
		return err
	}
	return tx.Write(signatures, text)
}

// own reports whether a step taken here wrote each file that decisions depend on. A purged finding
// may be missing.
func (r *Record) own(t *gitstore.Tree) (bool, error) {
	key := r.key()
	if key == nil {
		return false, nil
	}
	text, err := t.Read(signatures)
	if errors.Is(err, gitstore.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("loop %s: %s: %w", r.Name, signatures, err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		path, sum, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		said[path] = sum
	}
	files, err := deciding(t)
	for path, id := range files {
		if !hmac.Equal([]byte(said[path]), []byte(signature(key, path, id))) {
			return false, nil
		}
	}
	return err == nil, err
}

// mustOwn returns an error wrapping ErrForeign unless a tree of the record is ours.
func (r *Record) mustOwn(t *gitstore.Tree) error {
	own, err := r.own(t)
	if err == nil && !own {
		err = fmt.Errorf("loop %s: %w", r.Name, ErrForeign)
	}
	return err
}

// LoadOwn is Load for a caller that acts on the record. The error wraps ErrForeign unless the loop
// began here and every step since was taken here.
func (r *Record) LoadOwn(ctx context.Context) (Loop, error) {
	l, err := r.Load(ctx)
	if err == nil && !l.Own {
		err = fmt.Errorf("loop %s: %w", r.Name, ErrForeign)
	}
	return l, err
}

// DiscardForeign removes the record of a loop that did not begin here, and an empty folder of its
// name. left is that folder if it is not empty.
func DiscardForeign(ctx context.Context, repo *git.Repo, name string) (left string, err error) {
	dir, err := folderOf(repo, name)
	if err != nil {
		return "", err
	}
	store := gitstore.Open(repo, Refs+name)
	ctx, unlock, err := store.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := store.Discard(ctx); err != nil {
		return "", err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return "", nil
}
