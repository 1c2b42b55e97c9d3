package cmd

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
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// purgeRest is the file of the state folder with the ids of objects that a purge replaced, until their
// loose files are removed.
const purgeRest = "purging"

// stateFile is a file of the state folder that holds what goes.
type stateFile struct {
	path string // relative to the folder, with slashes
	how  stateFate
}

type stateFate string

const (
	removed stateFate = "removed" // a session, an original, a value of kv, a cache, or what is no text
	cleaned stateFate = "cleaned" // purgedText stands where it stood; a line of JSON goes
	yours   stateFate = "yours"   // settings: a person edits them
)

// lookState finds the files of the state folder that hold what goes. A session is removed whole: it is raw
// material, and says a thing in many ways. So is an original, which its name binds to its bytes.
func (w *workspace) lookState(p *purgePlan) ([]stateFile, error) {
	var out []stateFile
	learned := map[string]bool{}
	for name := range p.sessions {
		client, id, _ := strings.Cut(name, "/")
		learned["sessions/"+transcript.SafeID(client)+"-"+transcript.SafeID(id)+".jsonl"] = true
	}
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.state, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && ofLoop(rel):
			return fs.SkipDir // code, and not ours
		case !d.Type().IsRegular():
			return nil
		}
		if rel == "lock" || rel == purgesFile || rel == "tips" || rel == "loose" || rel == purgeRest || strings.HasSuffix(rel, ".lock") {
			return nil // ids and names of refs
		}
		if rel == "remotes.json" || rel == approvedFile {
			return nil // no text of a memory; a person's decisions
		}
		if strings.HasPrefix(rel, vectorsDir+"/") || strings.HasPrefix(rel, indexDir+"/") {
			return nil // numbers, and the index: all of it goes in any case
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		session := strings.HasPrefix(rel, "sessions/")
		holds := p.in(data)
		noted := strings.HasPrefix(rel, kv.Dir+"/")
		if session || noted {
			holds = holds && slices.ContainsFunc(jsonWords(data, ownKeys), func(s string) bool { return p.in([]byte(s)) })
		}
		switch {
		case session && learned[rel]:
			out = append(out, stateFile{rel, removed})
		case !holds:
		case rel == "config.toml":
			out = append(out, stateFile{rel, yours})
		case session || noted || strings.HasPrefix(rel, originalsDir+"/") || remade(rel) || !utf8.Valid(data):
			out = append(out, stateFile{rel, removed})
		default:
			out = append(out, stateFile{rel, cleaned})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

// remade reports whether a file of the state folder is made again when it is not there.
func remade(rel string) bool {
	return rel == "cache" || strings.HasPrefix(rel, "code/") || strings.HasPrefix(rel, contextDir+"/") || strings.HasPrefix(rel, answersDir+"/") || rel == withheldFile || strings.HasPrefix(rel, "authors-")
}

// purgesFile is the file of the state folder whose text every purge changes, when it begins and when it ends.
const purgesFile = "purges"

// purges is a mark that no other state of the purges has: who reads what a purge may take, thinks about it for a while and
// writes, looks whether it is still the same.
func (w *workspace) purges() string {
	text, _ := file.Read(filepath.Join(w.state, purgesFile), 1<<10)
	return string(text)
}

// unpurged is an error if a purge came since the mark: what was read then may be what went.
func (w *workspace) unpurged(mark string) error {
	if w.purges() != mark {
		return errors.New("there was a purge meanwhile; nothing was kept: do it again")
	}
	return nil
}

// markPurges notes the mark for a view that is about to be taken. What it returns ends that.
func (w *workspace) markPurges() (done func()) {
	before := w.mark
	w.mark = w.purges()
	return func() { w.mark = before }
}

// keepDerived is derived.Write of what follows from the view that is open, unless a purge came since that was taken: it may be what
// went. A purge changes the mark before it takes files, so whoever looks at the mark behind the writing leaves nothing.
func (w *workspace) keepDerived(path string, value any) {
	derived.Write(path, value)
	if w.unpurged(w.mark) != nil {
		os.Remove(path)
	}
}

// cleanState takes what goes out of the state folder. The cache, what was prepared for sessions, what models answered and
// the vectors and the index go in any case: they are made again. Of a vector nobody can tell whether it was made from what goes.
func (w *workspace) cleanState(ctx context.Context, p *purgePlan) error {
	if err := w.repo.WriteState(purgesFile, []byte(rand.Text()), true); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(w.state, contextDir)), door.Forget(w.answers())); err != nil {
		return err
	}
	if err := vector.Drop(ctx, filepath.Join(w.state, vectorsDir)); err != nil {
		return err
	}
	if err := recall.Drop(filepath.Join(w.state, indexDir)); err != nil {
		return err
	}
	files := slices.Clone(p.state)
	files = append(files, stateFile{"cache", removed})
	kept, _ := filepath.Glob(filepath.Join(w.state, "authors-*.json"))
	for _, path := range append(kept, filepath.Join(w.state, withheldFile)) { // written since the plan was made
		if data, err := os.ReadFile(path); err == nil && p.in(data) {
			files = append(files, stateFile{filepath.Base(path), removed})
		}
	}
	for _, f := range files {
		path := filepath.Join(w.state, filepath.FromSlash(f.path))
		switch f.how {
		case removed:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case cleaned:
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

// restOf reads the ids that an earlier purge could not see through, and adds those of this one, durably.
func (w *workspace) restOf(ids []string) ([]string, error) {
	path := filepath.Join(w.state, purgeRest)
	text, err := file.Read(path, file.MaxState)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := append(strings.Fields(string(text)), ids...)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil, nil
	}
	return all, w.repo.WriteState(purgeRest, []byte(strings.Join(all, "\n")+"\n"), true)
}
