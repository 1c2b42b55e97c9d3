package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// refWait bounds how long Refs.Move waits for another git that holds the ref's lock file.
	refWait = 10 * time.Second
	// staleAfter is the age at which another program's lock file of a ref counts as abandoned. git
	// holds one for milliseconds.
	staleAfter = time.Minute
)

// Move moves the ref name from old to new by git's protocol. It creates <ref>.lock exclusively,
// compares the value, writes the reflog, renames the lock over the ref, and syncs file and folder.
// The move survives a power cut once Move has returned. An empty old means that the ref must not
// exist. The caller holds the lock of State.Lock, so a lock file of an earlier process is stale and
// is removed. Errors wrap ErrLost, ErrRefConflict or ErrRefLocked.
func (r Refs) Move(ctx context.Context, name, new, old, message string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	if !r.files.format.IsID(new) || old != "" && !r.files.format.IsID(old) {
		return fmt.Errorf("move %s: %q to %q: not object ids", name, old, new)
	}
	move := r.moveByGit
	if r.plain(name) {
		move = r.moveFile
	}
	if err := move(ctx, name, new, old, oneLine(message)); err != nil {
		return fmt.Errorf("move %s: %w", name, err)
	}
	return nil
}

// moveFile moves a ref stored as a plain file.
func (r Refs) moveFile(ctx context.Context, name, new, old, message string) error {
	who, err := r.repo.config.Identity(ctx)
	if err != nil {
		return err
	}
	config, err := r.repo.config.settings(ctx)
	if err != nil {
		return err
	}
	share, err := config.sharing()
	if err != nil {
		return err
	}
	path := r.files.path(name)
	_, err = os.Lstat(filepath.Dir(path))
	freshDir := err != nil // git removes a folder when its last ref is packed
	lock, err := r.files.lock(ctx, name, new, share)
	if err != nil {
		return err
	}
	defer lock.release()
	now, err := r.files.read(name)
	if err != nil && !errors.Is(err, ErrNoRef) {
		return err
	}
	if now != old {
		return fmt.Errorf("%w: it is at %s, not %s", ErrLost, orNothing(now), orNothing(old))
	}
	if now == "" {
		if err := r.files.conflict(name); err != nil {
			return err
		}
	}
	if err := r.files.log(name, first(old, r.files.format.zero()), new, who, message, share); err != nil {
		return err
	}
	if err := lock.rename(path); err != nil {
		return err
	}
	return r.files.sync(path, freshDir)
}

// refLock is our <ref>.lock.
type refLock struct {
	path string // the lock file; empty once it is the ref
	mark string // its second name in the state folder, one per ref, which proves that the lock is ours
}

// lock creates <ref>.lock with its whole content at once, as a hard link to a file in the state
// folder. While both names are the same file, we made the lock, and the holder of Lock knows that
// its maker is dead. Without hard links, lock creates the lock in place.
func (f refFiles) lock(ctx context.Context, name, new string, share sharing) (*refLock, error) {
	state, err := stateOf(f.dir).Dir()
	if err != nil {
		return nil, err
	}
	lock := &refLock{path: f.path(name) + ".lock", mark: filepath.Join(state, url.PathEscape(name)+".lock")}
	if err := clearOwn(lock); err != nil {
		return nil, err
	}
	if err := writeSynced(lock.mark, new+"\n", share); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, refWait)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f.makeDir(name, share)
		if err == nil {
			if err = os.Link(lock.mark, lock.path); err != nil && linksUnsupported(err) {
				err = writeSynced(lock.path, new+"\n", share)
			}
		}
		switch {
		case err == nil:
			return lock, nil
		case errors.Is(err, fs.ErrExist):
			if breakStale(lock.path, state) {
				continue
			}
		case errors.Is(err, fs.ErrNotExist): // git removed the empty folder: create it again
		default:
			os.Remove(lock.mark)
			return nil, err
		}
		select {
		case <-ctx.Done():
			os.Remove(lock.mark)
			return nil, fmt.Errorf("%w: %s exists; if no git is running here, remove it", ErrRefLocked, lock.path)
		case <-time.After(pause):
		}
	}
}

// clearOwn removes the leftovers of our killed process: the mark, and a lock file linked to it.
func clearOwn(lock *refLock) error {
	mark, err := os.Lstat(lock.mark)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if left, err := os.Lstat(lock.path); err == nil && os.SameFile(mark, left) {
		if err := os.Remove(lock.path); err != nil {
			return err
		}
	}
	return os.Remove(lock.mark)
}

// breakStale removes a lock file that no process can still hold. It moves the file aside and checks
// it again, so that a lock made in the meantime is restored, not lost.
func breakStale(path, state string) bool {
	seen, err := os.Lstat(path)
	if err != nil || time.Since(seen.ModTime()) < staleAfter {
		return false
	}
	aside := filepath.Join(state, "stale.lock")
	if os.Rename(path, aside) != nil {
		return false
	}
	moved, err := os.Lstat(aside)
	if err != nil || !os.SameFile(seen, moved) {
		os.Link(aside, path)
	}
	return os.Remove(aside) == nil
}

func (l *refLock) rename(path string) error {
	if err := renameRef(l.path, path); err != nil {
		return err
	}
	l.path = ""
	return nil
}

func (l *refLock) release() {
	if l.path != "" {
		os.Remove(l.path)
	}
	os.Remove(l.mark)
}

// renameRef renames the lock over the ref. As git does, it removes a folder of only empty folders
// in its place. On Windows it retries for a moment while another process has the file open.
func renameRef(from, to string) error {
	var err error
	for range 20 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		if info, serr := os.Lstat(to); serr == nil && info.IsDir() {
			removeEmpty(to)
		} else if !errors.Is(err, fs.ErrPermission) {
			break
		} else {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return err
}

// removeEmpty removes a folder and its subfolders, if they contain no file.
func removeEmpty(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			removeEmpty(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir)
}

// Stamp returns the identity with a time, as commits and reflogs write it.
func (i Identity) Stamp(t time.Time) string {
	return fmt.Sprintf("%s <%s> %d %s", i.Name, i.Email, t.Unix(), t.Format("-0700"))
}

// moveByGit moves a ref that is not a plain file.
func (r Refs) moveByGit(ctx context.Context, name, new, old, message string) error {
	args := append(durable[:len(durable):len(durable)], "update-ref", "--create-reflog", "-m", message, name, new, first(old, r.files.format.zero()))
	return r.lostOr(ctx, name, old, func() error {
		_, err := r.repo.Git(ctx, nil, args...)
		return err
	})
}

// Delete deletes a ref and its reflog, by git, if it has the value old.
func (r Refs) Delete(ctx context.Context, name, old string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	err := r.lostOr(ctx, name, old, func() error {
		_, err := r.repo.Git(ctx, nil, append(durable[:len(durable):len(durable)], "update-ref", "-d", name, old)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// lostOr runs a git command that compares the ref with old. It returns ErrLost if the comparison
// failed.
func (r Refs) lostOr(ctx context.Context, name, old string, move func() error) error {
	err := move()
	if err == nil {
		return nil
	}
	now, rerr := r.Read(ctx, name)
	if (rerr == nil || errors.Is(rerr, ErrNoRef)) && now != old {
		return fmt.Errorf("%w: it is at %s, not %s", ErrLost, orNothing(now), orNothing(old))
	}
	return err
}

func orNothing(id string) string { return first(id, "nothing") }

// oneLine returns a reflog message without line breaks, which git does not allow.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// writeSynced creates a small file, which must not exist, and makes its content durable.
func writeSynced(path, text string, share sharing) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), share.adjust(path))
}

// killedAfter is the age at which a lock of a ref counts as left by a killed git. A live git holds
// it for milliseconds.
const killedAfter = 2 * time.Second

// ClearLock removes the lock that a killed git left on a ref. The caller knows that all
// processes that move the ref have ended. So only a git that packs refs may still hold its lock; a
// young lock is given time to go.
func (r Refs) ClearLock(name string) error {
	if err := CheckRef(name); err != nil || r.repo.RefFormat != "files" {
		return err
	}
	lock := r.files.path(name) + ".lock"
	for end := time.Now().Add(killedAfter); ; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Lstat(lock); err != nil || time.Since(info.ModTime()) >= killedAfter || time.Now().After(end) {
			return removeAll([]string{lock})
		}
	}
}
