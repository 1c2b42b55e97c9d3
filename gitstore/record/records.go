package record

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
)

// Records are the records of one store besides its memories.
type Records struct{ tree *gitstore.Tree } // nil: there is no such store

// Operations returns the pending operations, sorted by id. The error joins those of unreadable
// files; the others are returned all the same.
func (r Records) Operations() ([]Operation, error) {
	return records(r.tree, OperationDir, ParseOperation)
}

// Rejections returns the operations that a person rejected, sorted by id.
func (r Records) Rejections() ([]Rejection, error) {
	return records(r.tree, "rejected", ParseRejection)
}

// Skills returns the skills, sorted by name.
func (r Records) Skills() ([]SkillFile, error) {
	return recordsNamed(r.tree, SkillDir, func(at string) bool { return path.Base(at) == "SKILL.md" }, ParseSkill)
}

// SkillText returns the text of a skill's file by its name. The error wraps gitstore.ErrNotFound if
// the skill does not exist.
func (r Records) SkillText(name string) ([]byte, error) {
	if r.tree == nil {
		return nil, gitstore.ErrNotFound
	}
	return r.tree.Read(SkillFile{Name: name}.Path())
}

// Dreams returns the dreams, oldest month first.
func (r Records) Dreams() ([]Dream, error) { return records(r.tree, DreamDir, ParseDream) }

// Reflections returns the reflections on sessions, sorted by id.
func (r Records) Reflections() ([]Reflection, error) {
	all, err := records(r.tree, ReflectionDir, ParseReflection)
	slices.SortStableFunc(all, func(a, b Reflection) int { return strings.Compare(a.ID(), b.ID()) })
	return all, err
}

// ReflectionsOf returns the reflections on sessions "<client>/<id>", unsorted. It reads no others.
func (r Records) ReflectionsOf(sessions ...string) ([]Reflection, error) {
	all, err := recordsNamed(r.tree, ReflectionDir, func(at string) bool {
		return slices.ContainsFunc(sessions, func(s string) bool {
			return strings.HasPrefix(path.Base(at), strings.Replace(s, "/", "-", 1)+"-")
		})
	}, ParseReflection)
	return slices.DeleteFunc(all, func(r Reflection) bool { return !slices.Contains(sessions, r.Client+"/"+r.Session) }), err
}

// ReflectionIDs returns the ids of the reflections without reading them.
func (r Records) ReflectionIDs() (map[string]bool, error) {
	ids := map[string]bool{}
	if r.tree == nil {
		return ids, nil
	}
	err := r.tree.Walk(ReflectionDir, func(at string, _ gitstore.ID) error {
		ids[strings.TrimSuffix(path.Base(at), ".json")] = true
		return nil
	})
	if errors.Is(err, gitstore.ErrNotFound) {
		err = nil
	}
	return ids, err
}

// Checkpoints returns the checkpoints by session and number. A session "<client>/<id>" selects its
// own alone; "" selects all.
func (r Records) Checkpoints(session string) ([]Checkpoint, error) {
	name := func(string) bool { return true }
	if client, id, ok := strings.Cut(session, "/"); ok {
		stem := client + "-" + id + "-"
		name = func(at string) bool { return strings.HasPrefix(path.Base(at), stem) }
	}
	all, err := recordsNamed(r.tree, CheckpointDir, name, ParseCheckpoint)
	all = slices.DeleteFunc(all, func(c Checkpoint) bool { return session != "" && c.Client+"/"+c.Session != session })
	slices.SortStableFunc(all, func(a, b Checkpoint) int {
		return cmp.Or(strings.Compare(a.Client, b.Client), strings.Compare(a.Session, b.Session), cmp.Compare(a.N, b.N))
	})
	return all, err
}

// CheckpointsBetween returns the checkpoints in the months of two times and between, unsorted. It
// reads no others.
func (r Records) CheckpointsBetween(from, to time.Time) (all []Checkpoint, err error) {
	from = from.UTC()
	for at := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); !at.After(to); at = at.AddDate(0, 1, 0) {
		some, failed := recordsNamed(r.tree, CheckpointDir+"/"+month(at), func(string) bool { return true }, ParseCheckpoint)
		all, err = append(all, some...), errors.Join(err, failed)
	}
	return all, err
}

// Has reports whether the store has a reflection.
func (r Records) Has(of Reflection) bool {
	if r.tree == nil {
		return false
	}
	_, err := r.tree.Stat(of.Path())
	return err == nil
}

// operation reads one pending operation. The error wraps gitstore.ErrNotFound if it is not pending.
func (r Records) operation(id string) (Operation, error) {
	if r.tree == nil || !ValidID(id) {
		return Operation{}, fmt.Errorf("operation %s: %w", id, gitstore.ErrNotFound)
	}
	data, err := r.tree.Read(OperationPath(id))
	if err != nil {
		return Operation{}, err
	}
	return ParseOperation(OperationPath(id), data)
}

// reflection finds a reflection by its id. The error wraps gitstore.ErrNotFound if it does not
// exist.
func (r Records) reflection(id string) (Reflection, error) {
	none := fmt.Errorf("reflection %s: %w", id, gitstore.ErrNotFound)
	if r.tree == nil {
		return Reflection{}, none
	}
	at := ""
	err := r.tree.Walk(ReflectionDir, func(p string, _ gitstore.ID) error {
		if strings.TrimSuffix(path.Base(p), ".json") == id {
			at = p
		}
		return nil
	})
	if err != nil {
		return Reflection{}, err
	}
	if at == "" {
		return Reflection{}, none
	}
	data, err := r.tree.Read(at)
	if err != nil {
		return Reflection{}, err
	}
	return ParseReflection(at, data)
}

// records reads every file of a folder. tree may be nil.
func records[T any](tree *gitstore.Tree, dir string, parse func(string, []byte) (T, error)) ([]T, error) {
	return recordsNamed(tree, dir, func(string) bool { return true }, parse)
}

// recordsNamed parses the files of a folder whose paths want accepts.
func recordsNamed[T any](tree *gitstore.Tree, dir string, want func(string) bool, parse func(string, []byte) (T, error)) ([]T, error) {
	if tree == nil {
		return nil, nil
	}
	var paths []string
	var blobs []gitstore.ID
	err := tree.Walk(dir, func(at string, blob gitstore.ID) error {
		if want(at) {
			paths, blobs = append(paths, at), append(blobs, blob)
		}
		return nil
	})
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, err
	}
	var bad []error
	out := make([]T, 0, len(blobs))
	err = tree.ReadAll(blobs, func(i int, data []byte) error {
		r, err := parse(paths[i], data)
		if err != nil {
			bad = append(bad, err)
			return nil
		}
		out = append(out, r)
		return nil
	})
	return out, errors.Join(append(bad, err)...)
}
