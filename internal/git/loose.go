package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/internal/file"

	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

func loosePath(dir, id string) string { return filepath.Join(dir, id[:2], id[2:]) }

// readLoose reads a loose object. The error wraps ErrCorrupt if it does not parse.
func readLoose(path string, sizes Sizes) (kind string, data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	r, err := objfile.NewReader(file)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer r.Close()
	t, size, err := r.Header()
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err := sizes.check(t.String(), size); err != nil {
		return "", nil, err
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return t.String(), data, nil
}

// looseFile is one object being written.
type looseFile struct {
	path string
	file *os.File // open until it is synced
	temp string   // the temporary name; empty once path has the object
}

// saveLoose writes objects as loose files. It writes all to temporary names in their folders, syncs
// them, renames them, and syncs the folders. git prunes files named tmp_obj_. An existing object is
// synced too, and gets a fresh time, so that no git prunes it.
//
// A git prune also removes temporary files of other processes; saveLoose then starts again.
func saveLoose(r *Repo, objs []Object, s settings) error {
	share, err := s.sharing()
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		w := looseWriter{root: filepath.Join(r.CommonDir, "objects"), format: r.ObjectFormat, share: share}
		err := w.save(objs)
		if !errors.Is(err, os.ErrNotExist) || try == saveTries {
			return err
		}
	}
}

// saveTries bounds the attempts to save objects that another process keeps removing: no git prune
// lasts that long.
const saveTries = 100

// looseWriter writes some objects once.
type looseWriter struct {
	root   string // the folder objects
	format Format
	share  sharing
	files  []looseFile
	dirs   []string // folders with new names
}

func (w *looseWriter) save(objs []Object) error {
	defer w.clean()
	for _, o := range objs {
		if err := w.add(o); err != nil {
			return fmt.Errorf("write %s %s: %w", o.Kind, o.ID, err)
		}
	}
	return w.commit()
}

func (w *looseWriter) add(o Object) error {
	path := loosePath(w.root, o.ID)
	if kind, data, err := readLoose(path, Sizes{}); err == nil && w.format.check(Object{o.ID, kind, data}) == nil {
		now := time.Now()
		if os.Chtimes(path, now, now) == nil {
			if file, err := os.Open(path); err == nil {
				w.files = append(w.files, looseFile{path: path, file: file})
				w.touch(filepath.Dir(path))
				return nil
			}
		}
	}
	file, err := w.createTemp(filepath.Dir(path))
	if err != nil {
		return err
	}
	w.files = append(w.files, looseFile{path: path, file: file, temp: file.Name()})
	return errors.Join(deflate(file, o), file.Chmod(0o444), w.share.adjust(file.Name()))
}

// createTemp creates a temporary file in a folder of objects. git removes such a folder whenever it
// is empty, even between its creation and our first file, so it may have to be created again.
func (w *looseWriter) createTemp(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		if err := w.mkdir(dir); err != nil {
			return nil, err
		}
		file, err := os.CreateTemp(dir, "tmp_obj_")
		if !errors.Is(err, os.ErrNotExist) || try == 100 {
			return file, err
		}
	}
}

// deflate writes an object in one piece.
func deflate(file io.Writer, o Object) error {
	var buf bytes.Buffer
	z := objfile.NewWriter(&buf)
	err := z.WriteHeader(typeOf(o.Kind), int64(len(o.Data)))
	if err == nil {
		_, err = z.Write(o.Data)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	_, err = file.Write(buf.Bytes())
	return err
}

func (w *looseWriter) mkdir(dir string) error {
	w.touch(dir)
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err == nil {
		w.touch(w.root)
		err = w.share.adjust(dir)
	}
	return err
}

// touch marks a folder to be synced.
func (w *looseWriter) touch(dir string) {
	if !slices.Contains(w.dirs, dir) {
		w.dirs = append(w.dirs, dir)
	}
}

func (w *looseWriter) commit() error {
	if err := each(len(w.files), func(i int) error {
		f := &w.files[i]
		err := errors.Join(f.file.Sync(), f.file.Close())
		f.file = nil
		if f.temp == "" && errors.Is(err, os.ErrPermission) {
			err = nil // Windows does not flush a file open for reading; its writer did
		}
		return err
	}); err != nil {
		return err
	}
	for i, f := range w.files {
		if f.temp == "" {
			continue
		}
		if err := replace(f.temp, f.path); err != nil {
			return err
		}
		w.files[i].temp = ""
	}
	return syncObjectDirs(w.dirs)
}

// clean removes temporary files that did not become objects.
func (w *looseWriter) clean() {
	for _, f := range w.files {
		if f.file != nil {
			f.file.Close()
		}
		if f.temp != "" {
			os.Remove(f.temp)
		}
	}
}

// syncObjectDirs syncs folders of objects. It ignores a missing folder: git has durably moved its
// objects into a pack.
func syncObjectDirs(dirs []string) error {
	return each(len(dirs), func(i int) error {
		err := file.SyncDir(dirs[i])
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
}

// replace renames a finished object into place. If an equal object is open or read-only (Windows),
// it keeps that one.
func replace(temp, path string) error {
	err := os.Rename(temp, path)
	if err != nil {
		if _, serr := os.Stat(path); serr == nil && errors.Is(err, os.ErrPermission) {
			return os.Remove(temp)
		}
	}
	return err
}

// each calls fn for 0 to n-1, several at a time, because file systems join concurrent syncs.
func each(n int, fn func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
