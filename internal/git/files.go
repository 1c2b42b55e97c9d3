package git

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fileObjects reads loose objects and packs from their files, and writes loose objects itself.
// Reading or adding an object needs no process, and its cost does not depend on the size of the
// repository. It asks git for objects that it cannot find or whose format it does not read.
type fileObjects struct {
	keeps
	repo   *Repo
	sizes  Sizes
	dirs   []string // object folders: first our own, then the alternates
	packs  []*pack  // of all folders, the last used first
	listed bool     // packs is filled
	git    *gitObjects
	asked  bool // git had an object that the files lacked: do not rescan them
}

func (f *fileObjects) Read(ctx context.Context, id string) (Object, error) {
	progress(ctx)
	o, err := f.readFiles(id)
	if errors.Is(err, ErrNoObject) && !f.asked {
		// Another process may have packed it since we listed the packs.
		f.closePacks()
		o, err = f.readFiles(id)
	}
	if err == nil || !errors.Is(err, ErrNoObject) && !errors.Is(err, ErrCorrupt) {
		return o, err
	}
	if errors.Is(err, ErrNoObject) {
		if o, ok := f.repo.Recent().find(ctx, id); ok {
			return o, nil
		}
	}
	if f.git == nil {
		f.git = &gitObjects{repo: f.repo, sizes: f.sizes}
	}
	o, gerr := f.git.Read(ctx, id)
	if gerr == nil {
		f.asked = true
		return o, nil
	}
	if errors.Is(err, ErrNoObject) {
		err = gerr
	}
	return Object{}, err
}

// readFiles searches all files once. It skips a corrupt copy if there is a good one.
func (f *fileObjects) readFiles(id string) (Object, error) {
	if !f.repo.ObjectFormat.IsID(id) {
		return Object{}, fmt.Errorf("%q: not an object id", id)
	}
	if err := f.findDirs(); err != nil {
		return Object{}, err
	}
	var broken error
	for _, dir := range f.dirs {
		kind, data, err := readLoose(loosePath(dir, id), f.sizes)
		if err == nil {
			o := Object{ID: id, Kind: kind, Data: data}
			if err = f.repo.ObjectFormat.check(o); err == nil {
				return o, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			broken = fmt.Errorf("%s: %w", id, err)
		}
	}
	o, err := f.readPacked(id)
	if errors.Is(err, ErrNoObject) && broken != nil {
		return Object{}, broken
	}
	return o, err
}

// has reports whether the files hold the object, without reading it.
func (f *fileObjects) has(id string) bool {
	if f.findDirs() != nil {
		return false
	}
	for _, dir := range f.dirs {
		if _, err := os.Lstat(loosePath(dir, id)); err == nil {
			return true
		}
	}
	name, err := hex.DecodeString(id)
	if err != nil || f.listPacks() != nil {
		return false
	}
	return slices.ContainsFunc(f.packs, func(p *pack) bool {
		_, found, err := p.find(name)
		return err == nil && found
	})
}

func (f *fileObjects) readPacked(id string) (Object, error) {
	if err := f.listPacks(); err != nil {
		return Object{}, err
	}
	name, _ := hex.DecodeString(id)
	var broken error
	for i, p := range f.packs {
		offset, found, err := p.find(name)
		if err == nil && !found {
			continue
		}
		var o Object
		if err == nil {
			o, err = f.readAt(p, offset, id)
		}
		if err == nil {
			f.packs[0], f.packs[i] = f.packs[i], f.packs[0]
			return o, nil
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise the pack was replaced meanwhile
			broken = err
		}
	}
	if broken != nil {
		return Object{}, broken
	}
	return Object{}, fmt.Errorf("%s: %w", id, ErrNoObject)
}

// readAt reads the object at an offset of a pack and checks it.
func (f *fileObjects) readAt(p *pack, offset int64, id string) (Object, error) {
	kind, data, err := p.read(offset)
	if err != nil {
		return Object{}, fmt.Errorf("%s in %s: %w", id, filepath.Base(p.path), err)
	}
	o := Object{ID: id, Kind: kind, Data: data}
	return o, f.repo.ObjectFormat.check(o)
}

// ReadAll reads packed objects in the order of the packs, then the others one by one.
func (f *fileObjects) ReadAll(ctx context.Context, ids []string, fn func(i int, o Object) error) error {
	if err := f.findDirs(); err != nil {
		return err
	}
	if err := f.listPacks(); err != nil {
		return err
	}
	type place struct {
		i      int // in ids
		pack   *pack
		offset int64
	}
	var packed []place
	var rest []int
	for i, id := range ids {
		name, err := hex.DecodeString(id)
		if err != nil || !f.repo.ObjectFormat.IsID(id) {
			return fmt.Errorf("%q: not an object id", id)
		}
		at := place{i: i}
		for _, p := range f.packs {
			if offset, found, err := p.find(name); err == nil && found {
				at.pack, at.offset = p, offset
				break
			}
		}
		if at.pack == nil {
			rest = append(rest, i)
			continue
		}
		packed = append(packed, at)
	}
	slices.SortFunc(packed, func(a, b place) int {
		return cmp.Or(strings.Compare(a.pack.path, b.pack.path), cmp.Compare(a.offset, b.offset))
	})
	for _, at := range packed {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress(ctx)
		o, err := f.readAt(at.pack, at.offset, ids[at.i])
		if err != nil {
			rest = append(rest, at.i)
			continue
		}
		if err := fn(at.i, o); err != nil {
			return err
		}
	}
	if f.repo.Partial && len(rest) > 1 {
		f.fetchMissing(ctx, ids, rest)
	}
	for _, i := range rest {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, err := f.Read(ctx, ids[i])
		if err != nil {
			return err
		}
		if err := fn(i, o); err != nil {
			return err
		}
	}
	return nil
}

// fetchMissing fetches into a partial clone those objects of rest that it lacks.
func (f *fileObjects) fetchMissing(ctx context.Context, ids []string, rest []int) {
	var missing []string
	for _, i := range rest {
		if _, err := f.readFiles(ids[i]); errors.Is(err, ErrNoObject) {
			missing = append(missing, ids[i])
		}
	}
	if len(missing) > 1 {
		f.repo.prefetch(ctx, missing)
		f.closePacks()
	}
}

// listPacks opens the index of every pack. It ignores a pack without an index, which git writes
// last.
func (f *fileObjects) listPacks() error {
	if f.listed {
		return nil
	}
	for _, dir := range f.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if base, ok := strings.CutSuffix(e.Name(), ".idx"); ok && strings.HasPrefix(base, "pack-") {
				p, err := openPack(filepath.Join(dir, "pack", base))
				if err != nil { // vanished, or a format for git
					continue
				}
				p.sizes = f.sizes
				f.packs = append(f.packs, p)
			}
		}
	}
	f.listed = true
	return nil
}

// findDirs lists the object folders: ours, its alternates, theirs.
func (f *fileObjects) findDirs() error {
	if f.dirs != nil {
		return nil
	}
	dirs := []string{filepath.Join(f.repo.CommonDir, "objects")}
	for i := 0; i < len(dirs); i++ {
		more, err := alternates(dirs[i])
		if err != nil {
			return err
		}
		for _, dir := range more {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	f.dirs = dirs
	return nil
}

// alternates reads objects/info/alternates: one folder per line, relative to dir; # begins a
// comment. It leaves a quoted line to git.
func alternates(dir string) ([]string, error) {
	file, err := os.Open(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var dirs []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' || line[0] == '"' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		dirs = append(dirs, filepath.Clean(line))
	}
	return dirs, lines.Err()
}

func (f *fileObjects) closePacks() {
	for _, p := range f.packs {
		p.close()
	}
	f.packs, f.dirs, f.listed = nil, nil, false
}

func (f *fileObjects) Close() error {
	f.closePacks()
	if f.git != nil {
		return f.git.Close()
	}
	return nil
}

// Save writes the objects even if a pack has them already: a second copy does no harm, and a check
// would open every pack.
func (f *fileObjects) Save(ctx context.Context, objs []Object) error {
	if len(objs) > PackFrom {
		return f.savePack(ctx, f.repo, objs)
	}
	s, err := f.repo.config.settings(ctx)
	if err != nil {
		return err
	}
	defer progress(ctx)
	return saveLoose(f.repo, objs, s)
}

func removeAll(paths []string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
