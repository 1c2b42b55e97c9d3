package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
)

var (
	// ErrNoOriginal is returned by Get if no stored text has that hash, or it has expired.
	ErrNoOriginal = errors.New("no such original is kept here")
	// ErrAmbiguous is returned by Get if several hashes have that prefix.
	ErrAmbiguous = errors.New("more than one original begins so")
	// ErrDamaged is returned by Get if a file's bytes do not match its name.
	ErrDamaged = errors.New("the original is damaged")
	// ErrTooLarge is returned by Put for a text of more than MaxOriginal bytes.
	ErrTooLarge = errors.New("the text is too large to be kept")
)

// Bounds of a Store, in bytes, and of a hash, in hex digits.
const (
	MaxOriginal = 64 << 20
	MaxStore    = 200 << 20
	HashLen     = 24
	minPrefix   = 4
)

// Store is the folder of this clone's originals: the redacted texts before they were shortened.
// Each is a file named by the first 24 digits of its SHA-256. They expire and are never shared.
// Several processes may use a Store at once.
type Store struct {
	Dir string
}

// Put stores a text and returns its hash. Storing a text again renews it.
func (s Store) Put(text redact.Redacted) (hash string, err error) {
	if text.Len() > MaxOriginal {
		return "", fmt.Errorf("keep original: %w: more than %d MiB", ErrTooLarge, MaxOriginal>>20)
	}
	hash = hashOf(text.String())
	if err := s.put(hash, text); err != nil {
		return "", fmt.Errorf("keep original: %w", err)
	}
	return hash, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:HashLen]
}

func (s Store) put(hash string, text redact.Redacted) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(s.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder of ours; move it away", s.Dir)
	}
	path := filepath.Join(s.Dir, hash)
	if old, err := file.Read(path, MaxOriginal); err == nil && string(old) == text.String() {
		now := time.Now()
		return os.Chtimes(path, now, now)
	}
	return file.Replace(path, text.Bytes(), 0o600, false)
}

// Get returns a stored text by its hash, or by a unique prefix of at least 4 digits.
func (s Store) Get(prefix string) (hash, text string, err error) {
	prefix = strings.ToLower(prefix)
	if len(prefix) < minPrefix || len(prefix) > HashLen || strings.Trim(prefix, "0123456789abcdef") != "" {
		return "", "", fmt.Errorf("%q: %w", prefix, ErrNoOriginal)
	}
	entries, err := s.entries()
	if err != nil {
		return "", "", err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !isOriginal(e.Name()) {
			continue
		}
		if hash != "" {
			return "", "", fmt.Errorf("%s: %w", prefix, ErrAmbiguous)
		}
		hash = e.Name()
	}
	if hash == "" {
		return "", "", fmt.Errorf("%s: %w", prefix, ErrNoOriginal)
	}
	data, err := file.Read(filepath.Join(s.Dir, hash), MaxOriginal)
	if errors.Is(err, fs.ErrNotExist) { // it went meanwhile
		err = ErrNoOriginal
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", hash, err)
	}
	if hashOf(string(data)) != hash {
		return "", "", fmt.Errorf("%s: %w", hash, ErrDamaged)
	}
	return hash, string(data), nil
}

// Saving counts outputs that were shortened, and what that left out.
type Saving struct {
	Outputs int `json:"outputs"`
	Bytes   int `json:"bytes"`
}

// savingFile lies beside the folder of originals.
func (s Store) savingFile() string { return s.Dir + ".saved" }

// Saving returns the count of this clone.
func (s Store) Saving() Saving {
	var n Saving
	if !derived.Read(s.savingFile(), &n) {
		return Saving{}
	}
	return n
}

// Count adds an output of which so many bytes were left out. It may fail silently.
func (s Store) Count(ctx context.Context, bytes int) {
	path := s.savingFile()
	unlock, err := file.LockPath(ctx, path+".lock")
	if err != nil {
		return
	}
	defer unlock()
	n := s.Saving()
	derived.Write(path, Saving{n.Outputs + 1, n.Bytes + max(0, bytes)})
}

func isOriginal(name string) bool {
	return len(name) == HashLen && strings.Trim(name, "0123456789abcdef") == ""
}

// entries lists the files of the folder, or nothing if the folder is missing or is a link, which is
// not followed.
func (s Store) entries() ([]fs.DirEntry, error) {
	info, err := os.Lstat(s.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	var all []fs.DirEntry
	if err == nil {
		all, err = os.ReadDir(s.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read originals: %w", err)
	}
	return all, nil
}

// Expire removes texts kept before a time, and then the oldest while the rest exceeds most bytes.
// It also removes leftovers of killed processes, and returns the number of removed texts.
func (s Store) Expire(before time.Time, most int64) (int, error) {
	n, err := file.Expire(s.Dir, before, isOriginal, file.Temp)
	bad := []error{err}
	for _, path := range file.ByAge(s.Dir, isOriginal) { // newest first
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if most -= info.Size(); most >= 0 {
			continue
		}
		switch err := os.Remove(path); {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist):
			bad = append(bad, err)
		}
	}
	return n, errors.Join(bad...)
}
