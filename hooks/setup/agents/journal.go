package agents

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
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
)

// artefact is the journal's entry about one file outside the repositories that we wrote.
type artefact struct {
	File  string `json:"file"` // as given; it may be
	Agent string `json:"agent"`
	Top   string `json:"top,omitempty"` // of the work tree, for a file of a project
	// Before is the hash of its bytes without us, which names the backup. It is "" without a file.
	Before  string   `json:"before"`
	After   string   `json:"after"`             // hash of the bytes that we wrote
	Made    []string `json:"made,omitempty"`    // containers in it that were not there
	Folders []string `json:"folders,omitempty"` // made by us for it, the outermost first
	Clones  []string `json:"clones"`            // common git directories of the clones
	// Filter is the hash of the filter whose entries the file was seen to have, or "".
	Filter string `json:"filter,omitempty"`
}

// journal is every artefact, in the order in which they came.
type journal struct {
	Version   int        `json:"version"`
	Artefacts []artefact `json:"artefacts"`
	Folders   []string   `json:"folders,omitempty"` // made for the state folder, the outermost first
}

const (
	journalFile    = "installed.json"
	journalVersion = 1
	backupFolder   = "backup"
	lockFile       = "lock"
)

// Installer adds our entries to agents' settings, and removes them. A journal in Dir, the user's
// own state folder, records each change and the bytes before it. Installers in other processes wait
// for each other. An agent that writes its settings at the same moment is not overwritten.
type Installer struct {
	Dir string
	// FilterOf returns the calls that a clone needs hooks for, by its common git directory. Nil
	// names none.
	FilterOf func(commonDir string) hooks.Filter
}

// open takes the lock and reads the journal. end gives the lock back. If the journal is empty by
// then, end removes the state folder and those that were made for it.
func (in Installer) open(ctx context.Context) (j *journal, end func(), err error) {
	var made []string
	var unlock func()
	for range 10 { // another process may remove the folder between two steps
		for _, dir := range missing(in.Dir) {
			switch err := os.Mkdir(dir, 0o700); {
			case err == nil:
				made = append(made, dir)
			case !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist):
				return nil, nil, err
			}
		}
		unlock, err = file.LockPath(ctx, filepath.Join(in.Dir, lockFile))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if j, err = in.read(); err == nil {
		err = os.MkdirAll(filepath.Join(in.Dir, backupFolder), 0o700)
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	j.Folders = append(j.Folders, made...)
	slices.Sort(j.Folders) // a folder sorts before its content
	j.Folders = slices.Compact(j.Folders)
	return j, func() {
		if len(j.Artefacts) == 0 {
			in.tidy(j.Folders)
		}
		unlock()
	}, nil
}

// missing returns the folders to make for dir, the outermost first.
func missing(dir string) (list []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return list
		}
		list = slices.Insert(list, 0, dir)
	}
}

// tidy removes the state folder and those made for it if they are empty.
func (in Installer) tidy(made []string) {
	os.Remove(filepath.Join(in.Dir, backupFolder))
	if entries, err := os.ReadDir(in.Dir); err != nil || len(entries) > 1 {
		return
	}
	os.Remove(filepath.Join(in.Dir, lockFile))
	if os.Remove(in.Dir) != nil {
		return
	}
	for _, dir := range slices.Backward(made) {
		if dir != in.Dir && os.Remove(dir) != nil {
			return
		}
	}
}

func (in Installer) read() (*journal, error) {
	path := filepath.Join(in.Dir, journalFile)
	data, err := file.Read(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return &journal{Version: journalVersion}, nil
	}
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("%s: not the journal of what was installed (%w); move it away: what is in the agents' settings is then found without it", path, err)
	}
	if j.Version != journalVersion {
		return nil, fmt.Errorf("%s: written by a newer Reverie", path)
	}
	for _, a := range j.Artefacts {
		if _, ok := hooks.Find(a.Agent); !ok || !filepath.IsAbs(a.File) {
			return nil, fmt.Errorf("%s: not the journal of what was installed: %q for %q", path, a.File, a.Agent)
		}
	}
	return &j, nil
}

// write stores the journal, and removes backups that it does not name. It removes an empty journal.
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

// claimed returns the artefact of a target as it is with a clone's claim.
func (j *journal) claimed(t Target, clone string) artefact {
	a := artefact{File: t.File, Agent: t.Agent.Name, Top: t.Top}
	if known := j.find(t.File); known != nil {
		a = *known
	}
	if a.Clones = a.alive(); !slices.Contains(a.Clones, clone) {
		a.Clones = append(a.Clones, clone)
	}
	return a
}

// put replaces the artefact of a file, or appends it.
func (j *journal) put(a artefact) {
	if known := j.find(a.File); known != nil {
		*known = a
	} else {
		j.Artefacts = append(j.Artefacts, a)
	}
}

func (j *journal) drop(path string) {
	j.Artefacts = slices.DeleteFunc(j.Artefacts, func(a artefact) bool { return a.File == path })
}

// inherit hands folders that we made, and that are not empty, to another of our files in them. The
// last file removes them.
func (j *journal) inherit(folders []string) {
	for _, dir := range folders {
		for i := range j.Artefacts {
			if a := &j.Artefacts[i]; strings.HasPrefix(a.File, dir+string(filepath.Separator)) && !slices.Contains(a.Folders, dir) {
				a.Folders = append(a.Folders, dir)
				slices.Sort(a.Folders) // a folder sorts before its content
				break
			}
		}
	}
}

func (a *artefact) target() Target {
	agent, _ := hooks.Find(a.Agent) // read looked
	return Target{Agent: agent, File: a.File, Top: a.Top}
}

// alive returns the clones of an artefact that may still exist. A clone counts while the folder
// around its work tree is missing, as on a disk that is not mounted.
func (a *artefact) alive() []string {
	return slices.DeleteFunc(slices.Clone(a.Clones), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "HEAD"))
		_, away := os.Stat(filepath.Dir(filepath.Dir(dir)))
		return errors.Is(err, fs.ErrNotExist) && away == nil
	})
}

// filter returns the calls that the existing clones of an artefact need hooks for, sorted.
func (in Installer) filter(a artefact) (all hooks.Filter) {
	if in.FilterOf == nil {
		return all
	}
	for _, clone := range a.alive() {
		f := in.FilterOf(clone)
		all.Commands = append(all.Commands, f.Commands...)
		all.Failing = append(all.Failing, f.Failing...)
		all.Files = append(all.Files, f.Files...)
		all.Tools = append(all.Tools, f.Tools...)
	}
	for _, list := range []*[]string{&all.Commands, &all.Failing, &all.Files, &all.Tools} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return all
}

// hashOf returns the hash of a filter.
func hashOf(f hooks.Filter) string {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err) // it has only strings
	}
	return hash(data)
}

// others counts the other clones that use an artefact.
func (a *artefact) others(clone string) int {
	return len(slices.DeleteFunc(a.alive(), func(c string) bool { return c == clone }))
}

// Claim records that a clone relies on the calls from the user's own settings. Another clone's
// uninstall then leaves them. With nothing to record, it only reads the journal.
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

// backup returns the verified bytes of a backup.
func (in Installer) backup(name string) ([]byte, error) {
	data, err := file.Read(filepath.Join(in.Dir, backupFolder, name), maxSettings)
	if err == nil && hash(data) != name {
		err = fmt.Errorf("%s: a damaged backup", filepath.Join(in.Dir, backupFolder, name))
	}
	return data, err
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errChanged means that another program wrote a file just before us.
var errChanged = errors.New("another process changed it just now")

// exchange replaces a file durably, unless it no longer has the bytes of expect. A nil expect means
// that there is no file. The caller holds the lock.
func exchange(path string, expect, data []byte, mode fs.FileMode) error {
	file.Sweep(filepath.Dir(path))
	return file.Exchange(path, data, mode, func() error {
		now, err := readSettings(path)
		gone := errors.Is(err, fs.ErrNotExist)
		if err != nil && !gone || gone != (expect == nil) || !bytes.Equal(now, expect) {
			return errors.Join(errChanged, err)
		}
		return nil
	})
}
