package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
)

const (
	// sampleDir is the one of the 256 folders of loose objects from which git gc --auto and we
	// estimate their number.
	sampleDir = "17"
	// defaultAuto is git's default of gc.auto: the number of loose objects that it tolerates.
	defaultAuto = 6700
	// tidyMark is the file of the state folder that holds the size of the sample after the last
	// packing, so that other programs' loose objects do not make us try again and again.
	tidyMark = "loose"
)

// Upkeep packs and removes objects, and stays out of the way of git gc.
type Upkeep struct{ repo *Repo }

// Upkeep returns the upkeep of the repository's object database. It does no I/O.
func (r *Repo) Upkeep() Upkeep { return Upkeep{r} }

// LooseDue reports whether loose objects have grown, since the last PackLoose, by half of git gc
// --auto's threshold. It lists one folder, and needs one process in a Repo that has not read its
// configuration. It returns false for a partial clone, because listing reachable objects would
// fetch them.
func (u Upkeep) LooseDue(ctx context.Context) (bool, error) {
	n, err := sampleLoose(u.repo)
	if err != nil || n < 2 || u.repo.Partial {
		return false, err
	}
	s, err := u.repo.config.settings(ctx)
	if err != nil {
		return false, err
	}
	auto, err := strconv.Atoi(s["gc.auto"])
	if err != nil || auto <= 0 {
		auto = defaultAuto
	}
	text, _ := u.repo.State().Read(tidyMark)
	left, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n-min(left, n) >= max(1, auto/256/2), nil
}

func sampleLoose(r *Repo) (int, error) {
	entries, err := os.ReadDir(filepath.Join(r.CommonDir, "objects", sampleDir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return len(entries), err
}

// PackLoose packs every loose object that a ref or the refs below a folder reach, and then removes
// those loose files. It packs and removes nothing else. The caller holds the lock of State.Lock.
func (u Upkeep) PackLoose(ctx context.Context, ref, folder string) (packed int, err error) {
	out, err := u.repo.Git(ctx, nil, "rev-list", "--objects", ref, "--glob="+folder)
	if err != nil {
		return 0, err
	}
	objects := filepath.Join(u.repo.CommonDir, "objects")
	var list strings.Builder
	var files []string
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if path := loosePath(objects, id); u.repo.ObjectFormat.IsID(id) {
			if _, err := os.Lstat(path); err == nil {
				list.WriteString(line)
				files = append(files, path)
			}
		}
	}
	if len(files) > 0 {
		dir := filepath.Join(objects, "pack")
		args := append(durable[:len(durable):len(durable)], "pack-objects", "-q", "--no-reuse-delta", filepath.Join(dir, "pack"))
		out, err := u.repo.Git(ctx, strings.NewReader(list.String()), args...)
		if err != nil {
			return 0, err
		}
		err = checkPack(filepath.Join(dir, "pack-"+strings.TrimSpace(string(out))), len(files))
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil // the user's repack already contains it, and removes loose objects too
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
	left, err := sampleLoose(u.repo)
	if err != nil {
		return len(files), err
	}
	return len(files), u.repo.State().Write(tidyMark, []byte(strconv.Itoa(left)+"\n"), false)
}

// checkPack checks that a pack and its index exist before loose objects are removed.
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

// PackTight writes a second pack of many objects, with deltas, beside the pack of a Save. git never
// looks for deltas among the objects of a pack without any. So without this they would stay ten
// times as large in every repack and push. Nothing is removed; the next git gc keeps the smaller
// ones.
func (u Upkeep) PackTight(ctx context.Context, ids []string) error {
	if len(ids) <= PackFrom {
		return nil
	}
	dir := filepath.Join(u.repo.CommonDir, "objects", "pack")
	args := append(durable[:len(durable):len(durable)], "pack-objects", "-q", "--no-reuse-delta", filepath.Join(dir, "pack"))
	if _, err := u.repo.Git(ctx, strings.NewReader(strings.Join(ids, "\n")+"\n"), args...); err != nil {
		return err
	}
	return file.SyncDir(dir)
}

// DropLoose removes the loose files of objects in this repository's own folder; packed ones stay.
// left lists the objects that the repository still has. The caller knows that they are unreachable,
// and holds the lock of State.Lock.
func (u Upkeep) DropLoose(ctx context.Context, ids []string) (left []string, err error) {
	root := filepath.Join(u.repo.CommonDir, "objects")
	var files []string
	for _, id := range ids {
		if u.repo.ObjectFormat.IsID(id) {
			files = append(files, loosePath(root, id))
		}
	}
	if err := removeAll(files); err != nil {
		return nil, err
	}
	return u.repo.Have(ctx, ids)
}

const (
	// gcFresh is the age from which git itself ignores a gc.pid.
	gcFresh = 12 * time.Hour
	// gcWait bounds how long a command waits for a git gc before it writes beside it.
	gcWait = 5 * time.Second
)

// Collecting reports whether a git gc is at work in the repository. It reads gc.pid as git does:
// the file counts for 12 hours, and on this machine only while its process lives.
func (u Upkeep) Collecting() bool {
	path := filepath.Join(u.repo.CommonDir, "gc.pid")
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > gcFresh {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var pid int
	var host string
	if n, _ := fmt.Sscan(string(text), &pid, &host); n != 2 {
		return false
	}
	here, err := os.Hostname()
	return err != nil || host != here || processExists(pid)
}

// AwaitCollection waits for a running git gc, and reports whether none runs any more. It waits at
// most 5 seconds, and not at all if ctx has less than twice that left, as in a hook. Writing beside
// a gc is safe, only slower.
func (u Upkeep) AwaitCollection(ctx context.Context) bool {
	wait := gcWait
	if end, ok := ctx.Deadline(); ok && time.Until(end) < 2*gcWait {
		wait = 0
	}
	for until := time.Now().Add(wait); u.Collecting(); {
		if time.Now().After(until) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}

// DropCommitGraph removes the commit-graph of this repository, with all layers, if it names any of
// the commits. git treats a graph that names a missing commit as damage, and rebuilds a missing
// graph at its next write. The graphs of alternates stay.
func (u Upkeep) DropCommitGraph(commits []string) error {
	info := filepath.Join(u.repo.CommonDir, "objects", "info")
	layers, err := filepath.Glob(filepath.Join(escapeGlob(info), "commit-graphs", "graph-*.graph"))
	if err != nil {
		return err
	}
	single := filepath.Join(info, "commit-graph")
	for _, path := range append(layers, single) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if graphNames(data, commits) {
			return removeAll(append([]string{filepath.Join(info, "commit-graphs", "commit-graph-chain"), single}, layers...))
		}
	}
	return nil
}

// graphNames reports whether a commit-graph file names any of the commits. It returns true for a
// file that does not parse.
//
// The header has 8 bytes; the seventh holds the number of chunks. A table of 12-byte rows follows:
// four letters and the offset at which the chunk begins. One more row gives the end of the last
// chunk. The chunk OIDL holds the ids, sorted.
func graphNames(data []byte, commits []string) bool {
	const header, row = 8, 12
	if len(data) < header || string(data[:4]) != "CGPH" || len(data) < header+row*(int(data[6])+1) {
		return true
	}
	for i := range int(data[6]) {
		table := data[header+row*i:]
		if string(table[:4]) != "OIDL" {
			continue
		}
		from, to := binary.BigEndian.Uint64(table[4:]), binary.BigEndian.Uint64(table[row+4:])
		if from > to || to > uint64(len(data)) {
			return true
		}
		return slices.ContainsFunc(commits, func(id string) bool { return hasName(data[from:to], id) })
	}
	return true
}

// hasName reports whether a sorted list of ids has one.
func hasName(list []byte, id string) bool {
	name, err := hex.DecodeString(id)
	if err != nil || len(name) == 0 {
		return false
	}
	n := len(list) / len(name)
	lo, hi := 0, n
	for lo < hi {
		mid := (lo + hi) / 2
		switch at := list[mid*len(name) : (mid+1)*len(name)]; bytes.Compare(at, name) {
		case 0:
			return true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}
