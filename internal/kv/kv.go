// Package kv keeps short-lived values that a session leaves for the next one. The folder kv in the
// state folder has one file per key, in the form of package derived, so that its checksum detects
// damage. Nothing leaves the clone.
//
// Begin with Store, Set and Get. Writers hold the lock of git.State.Lock and replace whole files; a
// value is durable when Set returns. Readers take no lock. An expired entry is invisible at once;
// the next Set, Delete or Sweep removes its file. Errors carry an exit code and a hint.
package kv

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

var (
	// ErrNoKey is returned by Get and Delete for a key without a value, or with an expired one.
	ErrNoKey = errors.New("no such key")
	// ErrBad is returned by Set, Get and Delete for an invalid key, and by Set for an invalid value or
	// time.
	ErrBad = errors.New("cannot be kept")
	// ErrFull is returned by Set if there is no room.
	ErrFull = errors.New("no room for more")
	// ErrDamaged is returned by Get and List for a file whose bytes have changed.
	ErrDamaged = errors.New("damaged")
)

// Bounds. Lengths are in bytes, that of a value after redaction.
const (
	MaxKey   = 200
	MaxValue = 64 << 10
	MaxKeys  = 1000
	MaxTotal = 2 << 20 // of all files
)

// Bounds of the time for which a value is kept, and its default.
const (
	TTL    = 7 * 24 * time.Hour
	MinTTL = time.Second
	MaxTTL = 366 * 24 * time.Hour
)

// Dir names the folder in the state folder.
const Dir = "kv"

// Store holds the values of a clone.
type Store struct {
	Repo    *git.Repo
	Scanner *redact.Scanner
	Now     func() time.Time
}

// Entry is a value under its key. --json prints it as it is.
type Entry struct {
	Key      string    `json:"key"`
	Value    string    `json:"value"`
	Set      time.Time `json:"set"` // never after Now, even if the clock went back
	Expires  time.Time `json:"expires"`
	Redacted int       `json:"redacted,omitempty"` // from Set: secrets that were removed
}

// stored is the form of an Entry in its file.
type stored struct {
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Set     time.Time `json:"set"`
	Seconds int64     `json:"seconds"` // that it is kept
}

// at returns the entry at a time, and whether it is still valid then. An entry from the future,
// after the clock went back, counts as written now.
func (s stored) at(now time.Time) (Entry, bool) {
	e := Entry{Key: s.Key, Value: s.Value, Set: s.Set}
	if e.Set.After(now) {
		e.Set = now.UTC()
	}
	e.Expires = e.Set.Add(time.Duration(s.Seconds) * time.Second)
	return e, now.Before(e.Expires)
}

// Set keeps a value under a key for a time, replacing any other, and returns the entry. It removes
// secrets first; JSON stays JSON. The clone must be started.
func (s Store) Set(ctx context.Context, key, value string, ttl time.Duration) (e Entry, err error) {
	defer func() { err = explained(err) }()
	if err := s.checkKey(key); err != nil {
		return Entry{}, err
	}
	if ttl < MinTTL || ttl > MaxTTL {
		return Entry{}, fmt.Errorf("set %s: a value that lasts %v %w: from %v to %d days", key, ttl, ErrBad, MinTTL, MaxTTL/(24*time.Hour))
	}
	clean, report, err := s.clean(key, value)
	if err != nil {
		return Entry{}, fmt.Errorf("set %s: %w", key, err)
	}
	now := s.Now().UTC()
	kept := stored{Key: key, Value: clean, Set: now, Seconds: int64(ttl / time.Second)}
	text, err := derived.Encode(kept)
	if err != nil {
		return Entry{}, fmt.Errorf("set %s: %w", key, err)
	}
	unlock, err := s.Repo.State().Lock(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	files, err := s.sweep()
	if err != nil {
		return Entry{}, fmt.Errorf("set %s: %w", key, err)
	}
	name := nameOf(key)
	delete(files, name)
	size := int64(len(text))
	for _, n := range files {
		size += n
	}
	if len(files) >= MaxKeys || size > MaxTotal {
		return Entry{}, fmt.Errorf("set %s: %w: %d keys of %d, %d KiB of %d", key, ErrFull, len(files), MaxKeys, size>>10, MaxTotal>>10)
	}
	if err := s.Repo.State().Write(Dir+"/"+name, text, true); err != nil {
		return Entry{}, err
	}
	e, _ = kept.at(now)
	e.Redacted = report.Found
	return e, nil
}

// clean removes the secrets from a value. The key counts too, as in an assignment.
func (s Store) clean(key, value string) (string, redact.Report, error) {
	if !utf8.ValidString(value) {
		return "", redact.Report{}, fmt.Errorf("a value that is not UTF-8 text %w", ErrBad)
	}
	var clean redact.Redacted
	var report redact.Report
	if json.Valid([]byte(value)) {
		clean, report, _ = s.Scanner.JSON([]byte(value)) // it is valid
	} else {
		clean, report = s.Scanner.Text(value)
	}
	if lead := key + "="; report.Found == 0 && !strings.ContainsAny(value[:min(1, len(value))], "{[") {
		assigned, found := s.Scanner.Text(lead + value)
		if text, ok := strings.CutPrefix(assigned.String(), lead); ok && found.Found > 0 {
			return text, found, nil
		}
	}
	if clean.Len() > MaxValue {
		return "", redact.Report{}, fmt.Errorf("a value of %d bytes %w: it may have %d", clean.Len(), ErrBad, MaxValue)
	}
	return clean.String(), report, nil
}

// checkKey refuses an invalid key.
func (s Store) checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("an empty key %w", ErrBad)
	case len(key) > MaxKey:
		return fmt.Errorf("a key of %d bytes %w: it may have %d", len(key), ErrBad, MaxKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(key) != key:
		return fmt.Errorf("key %q %w: it is printable text without spaces around it", key, ErrBad)
	}
	if _, found := s.Scanner.Text(key); found.Found > 0 {
		return fmt.Errorf("a key that looks like a secret %w", ErrBad)
	}
	return nil
}

// Get returns the entry of a key.
func (s Store) Get(key string) (e Entry, err error) {
	defer func() { err = explained(err) }()
	if err := s.checkKey(key); err != nil {
		return Entry{}, err
	}
	if !s.there() {
		return Entry{}, fmt.Errorf("%s: %w", key, ErrNoKey)
	}
	is, err := s.read(nameOf(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoKey
	}
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", key, err)
	}
	e, live := is.at(s.Now())
	if !live {
		return Entry{}, fmt.Errorf("%s: %w", key, ErrNoKey)
	}
	return e, nil
}

// List returns the entries whose keys begin with prefix, the newest first. An error that wraps
// ErrDamaged names the files that were skipped; the list is valid all the same.
func (s Store) List(prefix string) ([]Entry, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var out []Entry
	var bad []error
	now := s.Now()
	for _, name := range names {
		is, err := s.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s/%s: %w", Dir, name, err))
		case strings.HasPrefix(is.Key, prefix):
			if e, live := is.at(now); live {
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Or(b.Set.Compare(a.Set), strings.Compare(a.Key, b.Key)) })
	return out, errors.Join(bad...)
}

// Count returns the number of entries, without damaged ones.
func (s Store) Count() (int, error) {
	all, err := s.List("")
	if errors.Is(err, ErrDamaged) {
		err = nil
	}
	return len(all), err
}

// Delete removes a key, even one whose file is damaged.
func (s Store) Delete(ctx context.Context, key string) (err error) {
	defer func() { err = explained(err) }()
	if err := s.checkKey(key); err != nil {
		return err
	}
	if !s.there() {
		return fmt.Errorf("%s: %w", key, ErrNoKey)
	}
	unlock, err := s.Repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := s.sweep(); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	err = os.Remove(s.path(nameOf(key)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", key, ErrNoKey)
	case err != nil:
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// explained adds exit code and hint to an error of this package.
func explained(err error) error {
	switch {
	case errors.Is(err, ErrBad):
		return exit.New(exit.BadUsage, err, "")
	case errors.Is(err, ErrFull):
		return exit.New(exit.Failed, err, "'reverie kv list' shows what is kept; make room: reverie kv delete KEY…")
	case errors.Is(err, ErrDamaged):
		return exit.New(exit.Failed, err, "it cannot be read any more: reverie kv delete KEY")
	case errors.Is(err, ErrNoKey):
		return exit.New(exit.Negative, err, "'reverie kv list' shows what is kept; values expire")
	}
	return err
}

// Join joins errors of several keys. The gravest comes first and decides about exit code and hint.
func Join(errs ...error) error {
	gravity := func(err error) int {
		return slices.IndexFunc([]error{ErrBad, ErrFull, ErrDamaged, ErrNoKey}, func(is error) bool { return errors.Is(err, is) })
	}
	slices.SortStableFunc(errs, func(a, b error) int { return cmp.Compare(gravity(a), gravity(b)) })
	return errors.Join(errs...)
}

// Sweep removes expired entries if the folder has not changed for a day.
func (s Store) Sweep(ctx context.Context) error {
	info, err := os.Lstat(s.path(""))
	if age := s.Now().Sub(timeOf(info)); err != nil || !info.IsDir() || age >= 0 && age < 24*time.Hour {
		return nil
	}
	unlock, err := s.Repo.State().Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err = s.sweep(); err == nil {
		err = os.Chtimes(s.path(""), s.Now(), s.Now())
	}
	return err
}

// timeOf returns the time of a file's last change, or zero without a file.
func timeOf(info fs.FileInfo) time.Time {
	if info == nil {
		return time.Time{}
	}
	return info.ModTime()
}

// sweep removes expired entries and temporary files of killed processes. It returns the sizes of
// the remaining files by name. Entries from the future get the current time, so that they expire.
// The caller holds the lock.
func (s Store) sweep() (map[string]int64, error) {
	dir, err := s.Repo.State().Sub(Dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	left := map[string]int64{}
	for _, e := range entries {
		name := e.Name()
		if git.StateTemp(name) {
			os.Remove(s.path(name))
		}
		if !isName(name) {
			continue
		}
		is, err := s.read(name)
		if err != nil { // it stays, for a person to look at
			if info, err := e.Info(); err == nil {
				left[name] = info.Size()
			}
			continue
		}
		if _, live := is.at(now); !live {
			if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		if is.Set.After(now) {
			is.Set = now.UTC()
			if text, err := derived.Encode(is); err == nil {
				if err := s.Repo.State().Write(Dir+"/"+name, text, true); err != nil {
					return nil, err
				}
			}
		}
		if info, err := e.Info(); err == nil {
			left[name] = info.Size()
		}
	}
	return left, nil
}

// read reads a file of the folder.
func (s Store) read(name string) (stored, error) {
	var is stored
	if derived.Read(s.path(name), &is) && nameOf(is.Key) == name && is.Seconds > 0 {
		return is, nil
	}
	if _, err := os.Lstat(s.path(name)); err != nil {
		return stored{}, file.Bare(err)
	}
	f, err := file.Open(s.path(name), os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return stored{}, file.Bare(err)
	}
	f.Close()
	return stored{}, ErrDamaged
}

// names lists the files of entries.
func (s Store) names() (names []string, err error) {
	if !s.there() {
		return nil, nil
	}
	entries, err := os.ReadDir(s.path(""))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if isName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// there reports whether the folder exists. A link to another folder does not count.
func (s Store) there() bool {
	info, err := os.Lstat(s.path(""))
	return err == nil && info.IsDir()
}

func (s Store) path(name string) string { return filepath.Join(s.Repo.CommonDir, "reverie", Dir, name) }

// nameOf names the file of a key: the first 32 digits of its SHA-256. A key may have characters
// that no file name can have, and two keys may differ in case alone.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func isName(name string) bool { return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == "" }
