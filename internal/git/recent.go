package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// git prune, alone or in git gc --prune=now, lists the reachable objects and then removes all other
// loose objects, however young. It also removes objects that a writer saves and refers to after the
// list was made, until prune has ended. A writer cannot detect this by looking again. So the
// objects of the last writes have a second copy in the state folder, from which a reader restores
// missing ones.

// RecentDir is the folder of the state folder with the objects of the last writes, one file per
// write.
const RecentDir = "recent"

// Bounds of RecentDir. A prune of a large repository takes minutes.
const (
	recentAge    = time.Hour
	recentBytes  = 16 << 20
	recentWrites = 1024
)

// recheckAge is the age up to which every writer checks that earlier writes still exist.
const recheckAge = time.Minute

// Recent holds copies of the objects of the last writes.
type Recent struct {
	repo *Repo
	dir  string // RecentDir
}

// Recent returns the copies of recent writes. It does no I/O.
func (r *Repo) Recent() Recent { return Recent{r, filepath.Join(r.State().dir, RecentDir)} }

// recentFile is one write: its time, its size and its last object, all in its name.
type recentFile struct {
	name string
	at   time.Time
	size int
	last string // id
}

// Keep keeps a copy of saved objects that no ref reaches yet; the object that a ref will name
// comes last. It does not sync them: they matter only while a prune runs, and a power cut ends that
// too. The caller holds the lock of State.Lock.
func (c Recent) Keep(objs []Object) error {
	if len(objs) == 0 || len(objs) > PackFrom { // a pack with its .keep is safe from every prune
		return nil
	}
	dir, err := c.repo.State().Sub(RecentDir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, o := range objs {
		fmt.Fprintf(&b, "%s %s %d\n", o.ID, o.Kind, len(o.Data))
		b.Write(o.Data)
	}
	now := time.Now()
	files := c.files()
	total := b.Len()
	for i, f := range files { // newest first
		if total += f.size; i+1 >= recentWrites || total > recentBytes || now.Sub(f.at) > recentAge {
			if err := os.Remove(filepath.Join(dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	name := fmt.Sprintf("%016x-%x-%s", now.UnixNano(), b.Len(), objs[len(objs)-1].ID)
	return os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)
}

// All returns all objects in RecentDir, oldest first.
func (c Recent) All() []Object {
	var objs []Object
	for _, f := range slices.Backward(c.files()) {
		objs = append(objs, c.read(f)...)
	}
	return objs
}

// Drop removes RecentDir.
func (c Recent) Drop() error {
	return os.RemoveAll(c.dir)
}

// files lists the kept writes, newest first.
func (c Recent) files() []recentFile {
	entries, _ := os.ReadDir(c.dir)
	var files []recentFile
	for _, e := range slices.Backward(entries) {
		parts := strings.Split(e.Name(), "-")
		if len(parts) != 3 || !c.repo.ObjectFormat.IsID(parts[2]) || !e.Type().IsRegular() {
			continue
		}
		at, err := strconv.ParseInt(parts[0], 16, 64)
		size, err2 := strconv.ParseInt(parts[1], 16, 32)
		if err == nil && err2 == nil {
			files = append(files, recentFile{e.Name(), time.Unix(0, at), int(size), parts[2]})
		}
	}
	return files
}

// read returns the objects of a kept write, or the intact ones of a truncated or changed one.
func (c Recent) read(f recentFile) []Object {
	data, err := os.ReadFile(filepath.Join(c.dir, f.name))
	if err != nil {
		return nil
	}
	var objs []Object
	for len(data) > 0 {
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		var o Object
		var size int
		if n, _ := fmt.Sscan(string(head), &o.ID, &o.Kind, &size); n != 3 || size < 0 || size > len(rest) {
			break
		}
		if o.Data, data = rest[:size], rest[size:]; c.repo.ObjectFormat.check(o) == nil {
			objs = append(objs, o)
		}
	}
	return objs
}

// Restore rewrites every kept object that is missing, and returns their number. It costs one
// lookup per kept object.
func (c Recent) Restore(ctx context.Context) (restored int, err error) {
	for _, f := range c.files() {
		if time.Since(f.at) > recentAge {
			os.Remove(filepath.Join(c.dir, f.name))
			continue
		}
		n, err := c.restore(ctx, f, c.read(f))
		if err != nil {
			return restored, err
		}
		restored += n
	}
	return restored, nil
}

// Recheck checks that the writes of the last minute still exist, and restores kept objects if not.
// It costs one file lookup per write.
func (c Recent) Recheck(ctx context.Context) error {
	var last []string
	for _, f := range c.files() {
		if time.Since(f.at) > recheckAge {
			break
		}
		last = append(last, f.last)
	}
	gone, err := c.lacks(ctx, last)
	if len(gone) > 0 && err == nil {
		_, err = c.Restore(ctx)
	}
	return err
}

// Confirm checks that objects which a ref now reaches exist, and rewrites missing ones. Objects
// that Save put into a pack need no check.
func (c Recent) Confirm(ctx context.Context, objs []Object) error {
	if len(objs) > PackFrom {
		return nil
	}
	_, err := c.rewrite(ctx, objs)
	return err
}

// restore rewrites the missing objects of a kept write. A purge removes kept writes before it
// removes objects. If the kept file is gone afterwards, the rewritten objects may be purged ones,
// so restore removes them again.
func (c Recent) restore(ctx context.Context, f recentFile, objs []Object) (int, error) {
	written, err := c.rewrite(ctx, objs)
	if len(written) == 0 || err != nil {
		return 0, err
	}
	if _, err := os.Lstat(filepath.Join(c.dir, f.name)); errors.Is(err, fs.ErrNotExist) {
		_, err := c.repo.Upkeep().DropLoose(ctx, written)
		return 0, err
	}
	return len(written), nil
}

// rewrite writes the missing ones of some objects, and returns their ids.
func (c Recent) rewrite(ctx context.Context, objs []Object) (ids []string, err error) {
	all := make([]string, len(objs))
	for i := range objs {
		all[i] = objs[i].ID
	}
	if ids, err = c.lacks(ctx, all); len(ids) == 0 || err != nil {
		return nil, err
	}
	s, err := c.repo.config.settings(ctx)
	if err != nil {
		return nil, err
	}
	objs = slices.DeleteFunc(slices.Clone(objs), func(o Object) bool { return !slices.Contains(ids, o.ID) })
	return ids, saveLoose(c.repo, objs, s)
}

// lacks returns the objects that the repository lacks. A loose object costs one file lookup.
func (c Recent) lacks(ctx context.Context, ids []string) ([]string, error) {
	root := filepath.Join(c.repo.CommonDir, "objects")
	var packed []string // or gone
	for _, id := range ids {
		if _, err := os.Lstat(loosePath(root, id)); err != nil {
			packed = append(packed, id)
		}
	}
	if len(packed) == 0 {
		return nil, nil
	}
	if c.repo.ObjectFormat != "sha1" {
		have, err := c.repo.Have(ctx, packed)
		empty := c.repo.ObjectFormat.NewObject(Tree, nil).ID // git always claims to have it
		return slices.DeleteFunc(packed, func(id string) bool { return id != empty && slices.Contains(have, id) }), err
	}
	look := &fileObjects{repo: c.repo}
	defer look.Close()
	return slices.DeleteFunc(packed, look.has), nil
}

// find returns a missing object from RecentDir, after restoring everything kept.
func (c Recent) find(ctx context.Context, id string) (Object, bool) {
	for _, f := range c.files() {
		for _, o := range c.read(f) {
			if o.ID == id {
				c.Restore(ctx) // readable even if it cannot be written, as on a read-only medium
				return o, true
			}
		}
	}
	return Object{}, false
}
