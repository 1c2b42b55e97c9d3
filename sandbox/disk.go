package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Bounds of a disk watch.
const (
	diskGlance = 200 * time.Millisecond // between checks of the file system's room
	// diskLook is the minimum between walks through the workspace, which take at most a twentieth of
	// the time.
	diskLook  = 2 * time.Second
	diskSpare = 512 << 20 // bytes that are left to the host
)

// usage is the size of a tree.
type usage struct {
	bytes int64
	files int
}

// diskWatch reports that a workspace grew too much.
type diskWatch struct {
	exceeded chan string // the reason, at most once
	quit     chan struct{}
	done     chan struct{}
}

// watchDisk starts a watch. bytes and files bound the growth of the workspace.
func watchDisk(dir string, bytes int64, files int) (*diskWatch, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	start, _, err := measure(root, nil)
	if err != nil {
		root.Close()
		return nil, err
	}
	w := &diskWatch{make(chan string, 1), make(chan struct{}), make(chan struct{})}
	most := usage{start.bytes + bytes, start.files + files}
	go func() {
		defer close(w.done)
		defer root.Close()
		if why := w.watch(root, dir, bytes, most, time.Since(began)); why != "" {
			w.exceeded <- why
		}
	}()
	return w, nil
}

func (w *diskWatch) stop() {
	close(w.quit)
	<-w.done
}

// watch returns the reason that the workspace is too big, or "" after it was stopped.
func (w *diskWatch) watch(root *os.Root, dir string, grow int64, most usage, took time.Duration) string {
	room, known := freeBytes(dir)
	spare := min(diskSpare, room/2)
	walked, roomThen, blind := time.Now(), room, ""
	tick := time.NewTicker(diskGlance)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return ""
		case <-tick.C:
		}
		now, ok := freeBytes(dir)
		if known && ok && now < spare {
			return fmt.Sprintf("only %d MiB are left on the disk", now>>20)
		}
		if time.Since(walked) < max(diskLook, 20*took) && roomThen-now < grow/8 {
			continue
		}
		began := time.Now()
		used, unread, err := measure(root, &most)
		took, walked, roomThen = time.Since(began), time.Now(), now
		switch {
		case err != nil:
			return "how big the workspace is cannot be told: " + err.Error()
		case used.bytes > most.bytes:
			return fmt.Sprintf("the workspace grew by more than %d MiB", grow>>20)
		case used.files > most.files:
			return fmt.Sprintf("the workspace has more than %d files", most.files)
		case unread != "" && unread == blind:
			return "how big " + unread + " is cannot be told"
		}
		blind = unread
	}
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// measure adds up the size of a tree. It stops beyond most, unless that is nil. unread is a folder
// that cannot be read.
func measure(root *os.Root, most *usage) (u usage, unread string, err error) {
	err = look(root, func(path string, info fs.FileInfo, why error) (bool, error) {
		if why != nil {
			if !errors.Is(why, fs.ErrNotExist) && !errors.Is(why, errChanged) {
				unread = path
			}
			return false, nil
		}
		u.files++
		u.bytes += diskSize(info)
		if most != nil && (u.bytes > most.bytes || u.files > most.files) {
			return false, errEnough
		}
		return true, nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return u, unread, err
}
