package hooks

import (
	"bytes"
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

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// artefact is what the journal knows of one file outside of the repositories that we wrote.
type artefact struct {
	File    string   `json:"file"` // as it was named; it may be a symbolic link
	Agent   string   `json:"agent"`
	Top     string   `json:"top,omitempty"`     // of the work tree, for a file of a project
	Before  string   `json:"before"`            // hash of its bytes without us, which the backup of that name has; "" where there was no file
	After   string   `json:"after"`             // hash of the bytes that we wrote
	Made    []string `json:"made,omitempty"`    // containers in it that were not there
	Folders []string `json:"folders,omitempty"` // that we made for it, the outermost first
	Clones  []string `json:"clones"`            // common git directories of those who asked for it
}

// journal is every artefact, in the order in which they came.
type journal struct {
	Version   int        `json:"version"`
	Artefacts []artefact `json:"artefacts"`
}

const (
	journalFile    = "installed.json"
	journalVersion = 1
	backupFolder   = "backup"
)

// Installer writes into agents' settings, and takes out again what it wrote. What it did stands in a journal in Dir,
// the user's own state folder, with the bytes that were there before. Installers in other processes wait for each
// other; an agent that writes its settings at the same moment is not overwritten.
type Installer struct {
	Dir string
}

// open takes the lock and reads the journal.
func (in Installer) open(ctx context.Context) (j *journal, unlock func(), err error) {
	if err := os.MkdirAll(filepath.Join(in.Dir, backupFolder), 0o700); err != nil {
		return nil, nil, err
	}
	if unlock, err = git.LockFile(ctx, filepath.Join(in.Dir, "lock")); err != nil {
		return nil, nil, err
	}
	if j, err = in.read(); err != nil {
		unlock()
		return nil, nil, err
	}
	return j, unlock, nil
}

func (in Installer) read() (*journal, error) {
	path := filepath.Join(in.Dir, journalFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &journal{Version: journalVersion}, nil
	}
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("%s: not the journal of what was installed: %w", path, err)
	}
	if j.Version != journalVersion {
		return nil, fmt.Errorf("%s: written by a newer Reverie", path)
	}
	for _, a := range j.Artefacts {
		if _, ok := Find(a.Agent); !ok || !filepath.IsAbs(a.File) {
			return nil, fmt.Errorf("%s: not the journal of what was installed: %q for %q", path, a.File, a.Agent)
		}
	}
	return &j, nil
}

// write stores the journal, and removes backups that it does not name. Of an empty one only the lock stays.
func (in Installer) write(j *journal) error {
	if len(j.Artefacts) == 0 {
		return errors.Join(os.RemoveAll(filepath.Join(in.Dir, backupFolder)), os.RemoveAll(filepath.Join(in.Dir, journalFile)))
	}
	data, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := file.Replace(filepath.Join(in.Dir, journalFile), append(data, '\n'), 0o600, true); err != nil {
		return err
	}
	backups, err := os.ReadDir(filepath.Join(in.Dir, backupFolder))
	for _, b := range backups {
		if !slices.ContainsFunc(j.Artefacts, func(a artefact) bool { return a.Before == b.Name() }) {
			err = errors.Join(err, os.Remove(filepath.Join(in.Dir, backupFolder, b.Name())))
		}
	}
	return err
}

func (j *journal) find(path string) *artefact {
	for i := range j.Artefacts {
		if j.Artefacts[i].File == path {
			return &j.Artefacts[i]
		}
	}
	return nil
}

func (j *journal) drop(path string) {
	j.Artefacts = slices.DeleteFunc(j.Artefacts, func(a artefact) bool { return a.File == path })
}

func (a *artefact) target() Target {
	agent, _ := Find(a.Agent) // read looked
	return Target{Agent: agent, File: a.File, Top: a.Top}
}

// alive are the clones of an artefact that still exist.
func (a *artefact) alive() []string {
	return slices.DeleteFunc(slices.Clone(a.Clones), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "HEAD"))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// others counts the clones beside one that use an artefact.
func (a *artefact) others(clone string) int {
	return len(slices.DeleteFunc(a.alive(), func(c string) bool { return c == clone }))
}

// Claim notes that a clone relies on the agents that call us from the user's own settings, so that another clone's
// uninstall leaves them there. Where nothing was installed, or it is noted already, that costs a look at the journal.
func (in Installer) Claim(ctx context.Context, clone string) error {
	lacks := func(a artefact) bool { return a.Top == "" && !slices.Contains(a.Clones, clone) }
	if j, err := in.read(); err != nil || !slices.ContainsFunc(j.Artefacts, lacks) {
		return err
	}
	j, unlock, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i := range j.Artefacts {
		if a := &j.Artefacts[i]; lacks(*a) {
			a.Clones = append(a.alive(), clone)
		}
	}
	return in.write(j)
}

// keep stores bytes as a backup and returns its name.
func (in Installer) keep(data []byte) (name string, err error) {
	name = hash(data)
	return name, file.Replace(filepath.Join(in.Dir, backupFolder, name), data, 0o600, true)
}

// backup gives the bytes of a backup, which it checks.
func (in Installer) backup(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(in.Dir, backupFolder, name))
	if err == nil && hash(data) != name {
		err = fmt.Errorf("%s: a damaged backup", filepath.Join(in.Dir, backupFolder, name))
	}
	return data, err
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ErrChanged is returned when somebody else wrote a file while we were about to.
var ErrChanged = errors.New("it was changed by somebody else just now")

// exchange puts data in the place of a file, at once and durably, unless the file has other bytes than expect by then; a
// nil expect is no file at all.
func exchange(path string, expect, data []byte, mode fs.FileMode) error {
	sweep(filepath.Dir(path))
	tmp, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone || gone != (expect == nil) || !bytes.Equal(now, expect) {
		return errors.Join(ErrChanged, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(path))
}

// unfinished begins the names of files that exchange has not finished.
const unfinished = ".reverie-settings-"

// sweep removes from a folder what an exchange that was killed left. Who calls has the lock.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, unfinished+"*"))
	for _, path := range left {
		os.Remove(path)
	}
}
