package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

const (
	// sampleDir is the one of the 256 folders of loose objects from which git gc --auto, and we,
	// estimate their number.
	sampleDir = "17"
	// defaultAuto is git's gc.auto when it is not configured: the number of loose objects that it lets
	// be.
	defaultAuto = 6700
	// tidyMark is the file of the state folder that holds the size of the sample after the last
	// packing: loose objects that are not ours must not make us try again and again.
	tidyMark = "loose"
)

// LooseDue reports whether loose objects have grown, since the last PackLoose, by half of what
// makes git gc --auto pack them. It costs the listing of one folder, and one process in a Repo that
// has not read its configuration. In a partial clone they are never due: to list what a ref reaches
// would fetch it.
func (r *Repo) LooseDue(ctx context.Context) (bool, error) {
	n, err := r.sampleLoose()
	if err != nil || n < 2 || r.Partial {
		return false, err
	}
	s, err := r.settings(ctx)
	if err != nil {
		return false, err
	}
	auto, err := strconv.Atoi(s["gc.auto"])
	if err != nil || auto <= 0 {
		auto = defaultAuto
	}
	text, _ := r.ReadState(tidyMark)
	left, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n-min(left, n) >= max(1, auto/256/2), nil
}

func (r *Repo) sampleLoose() (int, error) {
	entries, err := os.ReadDir(filepath.Join(r.CommonDir, "objects", sampleDir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return len(entries), err
}

// PackLoose puts every loose object that a ref or the refs below a folder reach into one pack, and
// then removes those loose files: nothing else is packed or removed. The caller holds the lock of
// Lock.
func (r *Repo) PackLoose(ctx context.Context, ref, folder string) (packed int, err error) {
	out, err := r.Git(ctx, nil, "rev-list", "--objects", ref, "--glob="+folder)
	if err != nil {
		return 0, err
	}
	objects := filepath.Join(r.CommonDir, "objects")
	var list strings.Builder
	var files []string
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if path := loosePath(objects, id); r.IsID(id) {
			if _, err := os.Lstat(path); err == nil {
				list.WriteString(line)
				files = append(files, path)
			}
		}
	}
	if len(files) > 0 {
		dir := filepath.Join(objects, "pack")
		args := append(durable[:len(durable):len(durable)], "pack-objects", "-q", "--no-reuse-delta", filepath.Join(dir, "pack"))
		out, err := r.Git(ctx, strings.NewReader(list.String()), args...)
		if err != nil {
			return 0, err
		}
		err = checkPack(filepath.Join(dir, "pack-"+strings.TrimSpace(string(out))), len(files))
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil // a repack of the user's has already taken it in; it removes what is loose, too
		}
		if err != nil {
			return 0, err
		}
		if err := file.SyncDir(dir); err != nil {
			return 0, err
		}
		if err := removeAll(files); err != nil {
			return len(files), err
		}
	}
	left, err := r.sampleLoose()
	if err != nil {
		return len(files), err
	}
	return len(files), r.WriteState(tidyMark, []byte(strconv.Itoa(left)+"\n"), false)
}

// checkPack makes sure that a pack and its index are there before loose objects are removed for
// them.
func checkPack(path string, count int) error {
	if _, err := os.Stat(path + ".pack"); err != nil {
		return err
	}
	index, err := os.Stat(path + ".idx")
	if err == nil && index.Size() < int64(count)*nameSize {
		err = fmt.Errorf("%s.idx: %w: too short", path, ErrCorrupt)
	}
	return err
}

// PackTight writes a second pack of many objects, with deltas, beside the one that a Save made. git
// never looks for deltas among the objects of one pack that has none, so without this they would
// stay ten times as large, in every repack and every push. Nothing is removed: the next git gc
// keeps the smaller ones.
func (r *Repo) PackTight(ctx context.Context, ids []string) error {
	if len(ids) <= PackFrom {
		return nil
	}
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	args := append(durable[:len(durable):len(durable)], "pack-objects", "-q", "--no-reuse-delta", filepath.Join(dir, "pack"))
	if _, err := r.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), args...); err != nil {
		return err
	}
	return file.SyncDir(dir)
}
