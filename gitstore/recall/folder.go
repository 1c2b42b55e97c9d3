package recall

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"github.com/reverie-memory/reverie/internal/file"
)

// The folder of an index has a manifest and the segments that it names. All of it is derived, and may be deleted at any time.
//
// There are no locks. Segments have the hash of their content for a name, so whoever writes one writes the same; the manifest is put in the
// place of the old one at once, and the last writer wins: an older state is brought up to date again by the next. Who replaces a manifest
// marks the segments that are no longer named with the time, and segments without a manifest go only when that is graceTime ago, so neither a reader who
// has just read the old manifest nor a slow writer loses what it is about to name; only one with text that a purge took goes at once. A file of an index that is nevertheless missing, torn or spoilt makes
// the index empty, which is always right, and costs one rebuild: a file that was not read is never taken for the one of its name.

const (
	manifestName  = "manifest"
	segmentSuffix = ".seg"
	tempPrefix    = "new-"
)

// graceTime is how long a segment stays when no manifest names it. Tests shorten it.
var graceTime = 10 * time.Minute

// folder is an open folder of an index. It is held open so that what is written after it was deleted goes nowhere, even when
// another has its name by then.
type folder struct {
	root *os.Root
	refs atomic.Int32
}

// openFolder opens the folder; an error where there is none, or a link.
func openFolder(dir string) (*folder, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open index %s: not a folder; move it away", dir) // a link leads to files that are not ours
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		root.Close()
		return nil, errors.Join(err, fmt.Errorf("open index %s: somebody moved it", dir))
	}
	f := &folder{root: root}
	f.refs.Store(1)
	return f, nil
}

func (f *folder) share() *folder {
	if f != nil {
		f.refs.Add(1)
	}
	return f
}

func (f *folder) close() {
	if f != nil && f.refs.Add(-1) == 0 {
		f.root.Close()
	}
}

// open opens a regular file in the folder, and no link.
func (f *folder) open(name string) (*os.File, error) {
	if info, err := f.root.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	return f.root.Open(name)
}

// put writes a file at once, in the place of one that has its name. written is what it wrote.
func (f *folder) put(name string, data []byte) (written fs.FileInfo, err error) {
	temp := tempPrefix + rand.Text()
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(data); err == nil {
		written, err = file.Stat()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		f.root.Remove(temp)
		return nil, err
	}
	return written, nil
}

// segmentName is the name of the file with that content.
func segmentName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]) + segmentSuffix
}

// isSegmentName keeps a manifest from naming other files.
func isSegmentName(name string) bool {
	stem, ok := strings.CutSuffix(name, segmentSuffix)
	_, err := hex.DecodeString(stem)
	return ok && len(stem) == 32 && err == nil
}

// readManifest reads the manifest; ok is false when there is none that can be used.
func (f *folder) readManifest() (m manifest, ok bool) {
	file, err := f.open(manifestName)
	if err != nil {
		return m, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > maxManifest {
		return m, false
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return m, false
	}
	return parseManifest(data)
}

// load opens a segment of the manifest.
func (f *folder) load(s named) (*part, error) {
	opened, err := f.open(s.name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != s.size {
		return nil, segment.ErrCorrupt
	}
	data, release, err := file.Content(opened, s.size)
	if err != nil {
		return nil, err
	}
	r, err := segment.Open(data)
	if err == nil && (r.Sum() != s.sum || len(s.dead) > 0 && int(s.dead[len(s.dead)-1]) >= r.Len()) {
		err = segment.ErrCorrupt
	}
	if err != nil {
		release()
		return nil, err
	}
	p := newPart(r, s.name)
	p.file.Store(&info)
	p.release = release
	return p, nil
}

// keep replaces the manifest, when its segments are written. The segments that only the old one names are not removed yet: see above.
func (f *folder) keep(m manifest) error {
	old, _ := f.readManifest()
	now := time.Now()
	for _, s := range old.segments {
		if !m.has(s.name) {
			f.root.Chtimes(s.name, now, now)
		}
	}
	if _, err := f.put(manifestName, m.bytes()); err != nil {
		return err
	}
	f.tidy(m, now)
	return nil
}

// tidy removes what nobody has named or finished for a while.
func (f *folder) tidy(m manifest, now time.Time) {
	dir, err := f.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(-1)
	for _, e := range entries {
		name := e.Name()
		if !isSegmentName(name) && !strings.HasPrefix(name, tempPrefix) || m.has(name) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > graceTime {
			f.root.Remove(name)
		}
	}
}

// Drop deletes an index. Who has it open and is about to write to it writes to a folder that is gone.
func Drop(dir string) error {
	fail := func(err error) error { return fmt.Errorf("drop index: %w", err) }
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail(err)
	case !info.IsDir():
		if err := os.Remove(dir); err != nil { // a link to what is not ours
			return fail(err)
		}
	default:
		if os.Rename(dir, dir+droppedInfix+rand.Text()) != nil { // a handle may hinder it
			if err := removeAll(dir); err != nil {
				return fail(err)
			}
		}
	}
	parent := filepath.Dir(dir)
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	for _, e := range entries { // what another Drop left that was killed, too
		if strings.HasPrefix(e.Name(), filepath.Base(dir)+droppedInfix) {
			if err := removeAll(filepath.Join(parent, e.Name())); err != nil {
				return fail(err)
			}
		}
	}
	return nil
}

// droppedInfix is in the name of the folder of a dropped index.
const droppedInfix = "-dropped-"

// removeAll removes a folder that a writer may put one more file into meanwhile.
func removeAll(dir string) (err error) {
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
