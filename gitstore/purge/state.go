package purge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// restFile in the state folder lists the objects that a purge replaced, until their loose files are
// removed.
const restFile = "purging"

// goneFile in the state folder lists the ids of replaced objects until the last purge is an hour
// old. A git that ran meanwhile may write them into a commit-graph late.
const goneFile = "purged"

// forgetRest records the completion of a purge.
func (c *Clone) forgetRest() error {
	var ids []string
	for _, name := range []string{restFile, goneFile} {
		list, err := readIDs(c.State.Dir, name)
		if err != nil {
			return err
		}
		ids = append(ids, list...)
	}
	if err := writeIDs(c.Repo, goneFile, ids); err != nil {
		return err
	}
	return remove(filepath.Join(c.State.Dir, restFile))
}

// Tidy removes the commit-graph of a repository if it names purged objects; git may write it late.
// dir is the state folder.
func Tidy(repo *git.Repo, dir string, now time.Time) error {
	rest, err := readIDs(dir, restFile)
	if err != nil {
		return err
	}
	gone, err := readIDs(dir, goneFile)
	if err != nil || len(rest)+len(gone) == 0 {
		return err
	}
	if err := repo.Upkeep().DropCommitGraph(append(rest, gone...)); err != nil {
		return err
	}
	path := filepath.Join(dir, goneFile)
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > time.Hour {
		return remove(path)
	}
	return nil
}

// remove removes a file that may be missing.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readIDs returns the ids in a file of the state folder; a missing file has none.
func readIDs(dir, name string) ([]string, error) {
	text, err := file.Read(filepath.Join(dir, name), file.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.Fields(string(text)), err
}

// writeIDs writes ids to a file of the state folder, durably.
func writeIDs(repo *git.Repo, name string, ids []string) error {
	slices.Sort(ids)
	return repo.State().Write(name, []byte(strings.Join(slices.Compact(ids), "\n")+"\n"), true)
}

// stateFile is a file of the state folder that holds the target.
type stateFile struct {
	path string // relative to the folder, with slashes
	kind Kind   // Plain only for text
}

// lookState finds the files of the state folder that hold the target. A session is removed whole,
// because it repeats a thing in many ways. An original is too, because its name depends on its
// bytes.
func (c *Clone) lookState(p *Plan) ([]stateFile, error) {
	var out []stateFile
	learned := map[string]bool{}
	for name := range p.sessions {
		client, id, _ := strings.Cut(name, "/")
		learned[c.State.Session(client, id)] = true
	}
	err := filepath.WalkDir(c.State.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.State.Dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		kind := c.State.Kind(rel)
		switch {
		case d.IsDir() && (kind == Passed || rel == git.RecentDir): // all of that goes in any case
			return fs.SkipDir
		case !d.Type().IsRegular() || kind == Passed:
			return nil
		case rel == "lock" || rel == markFile || rel == restFile || rel == goneFile || rel == remotes.Name || strings.HasSuffix(rel, ".lock"):
			return nil // ids, names of refs, a person's decisions
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		holds := p.in(data)
		switch kind {
		case Session:
			holds = holds && slices.ContainsFunc(jsonWords(data, ownKeys), func(s string) bool { return p.in([]byte(s)) })
		case Note: // JSON notes may use any form
			holds = slices.ContainsFunc(jsonWords(data, ownKeys), p.inValue)
		}
		switch {
		case kind == Session && learned[rel]:
			out = append(out, stateFile{rel, kind})
		case !holds:
		case kind == Plain && !utf8.Valid(data):
			out = append(out, stateFile{rel, Whole})
		default:
			out = append(out, stateFile{rel, kind})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

// markFile in the state folder changes when a purge begins and when it ends.
const markFile = "purges"

// Mark returns a text that is unique to the current state of purges. Take it before reading
// purgeable text and check it with Since before writing the result. dir is the state folder.
func Mark(dir string) string {
	text, _ := file.Read(filepath.Join(dir, markFile), 1<<10)
	return string(text)
}

// Since returns an error if a purge ran since the mark: text read before may be purged.
func Since(dir, mark string) error {
	if Mark(dir) != mark {
		return errors.New("there was a purge meanwhile; nothing was kept: do it again")
	}
	return nil
}

// cleanState removes the target from the state folder. It always removes the derived files at the
// top, and calls State.Drop.
func (c *Clone) cleanState(ctx context.Context, p *Plan) error {
	if err := c.Repo.State().Write(markFile, []byte(rand.Text()), true); err != nil {
		return err
	}
	if err := c.State.Drop(ctx); err != nil {
		return err
	}
	for _, f := range slices.Concat(p.state, c.derived()) {
		path := filepath.Join(c.State.Dir, filepath.FromSlash(f.path))
		switch f.kind {
		case Whole, Session, Note:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case Plain:
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if left := p.without(data); err == nil && (len(left) == 0 || json.Valid(data)) {
				err = os.Remove(path)
			} else if err == nil {
				err = file.Replace(path, left, 0o600, true)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// derived returns the derived files at the top of the state folder. They may name a file of a
// memory, and such a name may end within the target.
func (c *Clone) derived() (out []stateFile) {
	all, _ := os.ReadDir(c.State.Dir)
	for _, f := range all {
		if f.Type().IsRegular() && c.State.Kind(f.Name()) == Whole {
			out = append(out, stateFile{f.Name(), Whole})
		}
	}
	return out
}

// restOf adds the ids of this purge to the unfinished ones of an earlier purge, durably.
func (c *Clone) restOf(ids []string) ([]string, error) {
	all, err := readIDs(c.State.Dir, restFile)
	if err != nil {
		return nil, err
	}
	if all = append(all, ids...); len(all) == 0 {
		return nil, nil
	}
	return all, writeIDs(c.Repo, restFile, all)
}
