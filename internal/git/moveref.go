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

	"github.com/reverie-memory/reverie/internal/file"
)

const (
	// refWait bounds how long MoveRef waits for another git that holds the ref's lock file.
	refWait = 10 * time.Second
	// staleAfter is the age at which another program's lock file of a ref counts as abandoned. git
	// holds one for milliseconds.
	staleAfter = time.Minute
)

// MoveRef moves the ref name from old to new by git's protocol. It creates <ref>.lock exclusively,
// compares the value, writes the reflog, renames the lock over the ref, and syncs file and folder.
// The move survives a power cut once MoveRef has returned. An empty old means that the ref must not
// exist. The caller holds the lock of State.Lock, so a lock file of an earlier process is stale and
// is removed. Errors wrap ErrLost, ErrRefConflict or ErrRefLocked.
func (r *Repo) MoveRef(ctx context.Context, name, new, old, message string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	if !r.ObjectFormat.IsID(new) || old != "" && !r.ObjectFormat.IsID(old) {
		return fmt.Errorf("move %s: %q to %q: not object ids", name, old, new)
	}
	move := r.moveByGit
	if r.plainRef(name) {
		move = r.moveFile
	}
	if err := move(ctx, name, new, old, oneLine(message)); err != nil {
		return fmt.Errorf("move %s: %w", name, err)
	}
	return nil
}

// moveFile moves a ref stored as a plain file.
func (r *Repo) moveFile(ctx context.Context, name, new, old, message string) error {
	who, err := r.config.Identity(ctx)
	if err != nil {
		return err
	}
	config, err := r.config.settings(ctx)
	if err != nil {
		return err
	}
	share, err := config.sharing()
	if err != nil {
		return err
	}
	path := r.refPath(name)
	_, err = os.Lstat(filepath.Dir(path))
	freshDir := err != nil // git removes a folder when its last ref is packed
	lock, err := r.lockRef(ctx, name, new, share)
	if err != nil {
		return err
	}
	defer lock.release()
	now, err := r.readRef(name)
	if err != nil && !errors.Is(err, ErrNoRef) {
		return err
	}
	if now != old {
		return fmt.Errorf("%w: it is at %s, not %s", ErrLost, orNothing(now), orNothing(old))
	}
	if now == "" {
		if err := r.conflict(name); err != nil {
			return err
		}
	}
	if err := r.appendReflog(name, first(old, r.ObjectFormat.zero()), new, who, message, share); err != nil {
		return err
	}
	if err := lock.rename(path); err != nil {
		return err
	}
	return r.syncRef(path, freshDir)
}

// syncRef makes a ref's new name durable, and the names of the folders made for it. If a git has
// packed the ref meanwhile, it has removed the folder, and syncRef syncs packed-refs instead.
func (r *Repo) syncRef(path string, freshDir bool) error {
	for dir := filepath.Dir(path); len(dir) > len(r.CommonDir); dir = filepath.Dir(dir) {
		err := file.SyncDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			packed, err := os.OpenFile(filepath.Join(r.CommonDir, "packed-refs"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return errors.Join(packed.Sync(), packed.Close(), file.SyncDir(r.CommonDir))
		}
		if err != nil || !freshDir {
			return err
		}
	}
	return nil
}

// refLock is our <ref>.lock.
type refLock struct {
	path string // the lock file; empty once it is the ref
	mark string // its second name in the state folder, one per ref, which proves that the lock is ours
}

// lockRef creates <ref>.lock with its whole content at once, as a hard link to a file in the state
// folder. While both names are the same file, we made the lock, and the holder of Lock knows that
// its maker is dead. Without hard links, lockRef creates the lock in place.
func (r *Repo) lockRef(ctx context.Context, name, new string, share sharing) (*refLock, error) {
	state, err := r.State().Dir()
	if err != nil {
		return nil, err
	}
	lock := &refLock{path: r.refPath(name) + ".lock", mark: filepath.Join(state, url.PathEscape(name)+".lock")}
	if err := clearOwn(lock); err != nil {
		return nil, err
	}
	if err := writeSynced(lock.mark, new+"\n", share); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, refWait)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := r.makeRefDir(name, share)
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

// makeRefDir creates the folder of a ref. A ref in the place of one of its folders is a conflict.
func (r *Repo) makeRefDir(name string, share sharing) error {
	err := share.makeDirs(filepath.Dir(r.refPath(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if taken := r.conflict(name); taken != nil {
			return taken
		}
	}
	return err
}

// conflict returns an error wrapping ErrRefConflict if an existing ref blocks a new one.
func (r *Repo) conflict(name string) error {
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	taken := func(by string) error {
		return fmt.Errorf("%w: %s exists; rename it (git branch -m) or configure another name for ours", ErrRefConflict, by)
	}
	for dir := parent(name); strings.Count(dir, "/") > 1; dir = parent(dir) {
		if info, err := os.Lstat(r.refPath(dir)); err == nil && !info.IsDir() || packed.find(dir) != "" {
			return taken(dir)
		}
	}
	if by := packed.below(name); by != "" {
		return taken(by)
	}
	if by := fileBelow(r.refPath(name)); by != "" {
		return taken(name + "/" + by)
	}
	return nil
}

// fileBelow returns the path of a file inside a folder, relative to it, or "".
func fileBelow(dir string) string {
	var found string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != dir {
			found, _ = filepath.Rel(dir, path)
			return fs.SkipAll
		}
		return nil
	})
	return filepath.ToSlash(found)
}

func parent(name string) string { return name[:strings.LastIndexByte(name, '/')] }

// appendReflog adds a line to the ref's log, the way back to an overwritten tip. It ignores
// core.logAllRefUpdates.
func (r *Repo) appendReflog(name, old, new string, who Identity, message string, share sharing) error {
	path := filepath.Join(r.CommonDir, "logs", filepath.FromSlash(name))
	line := fmt.Sprintf("%s %s %s\t%s\n", old, new, who.Stamp(time.Now()), message)
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("reflog %s is a symbolic link: move it away", path) // to another file
	}
	for range 3 {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err == nil {
			_, err = f.WriteString(line)
			return errors.Join(err, f.Close(), share.adjust(path))
		}
		if isDirectoryError(err) {
			removeEmpty(path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := share.makeDirs(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return fmt.Errorf("write reflog %s: its folder does not stay", path)
}

// Stamp returns the identity with a time, as commits and reflogs write it.
func (i Identity) Stamp(t time.Time) string {
	return fmt.Sprintf("%s <%s> %d %s", i.Name, i.Email, t.Unix(), t.Format("-0700"))
}

// moveByGit moves a ref that is not a plain file.
func (r *Repo) moveByGit(ctx context.Context, name, new, old, message string) error {
	args := append(durable[:len(durable):len(durable)], "update-ref", "--create-reflog", "-m", message, name, new, first(old, r.ObjectFormat.zero()))
	return r.lostOr(ctx, name, old, func() error {
		_, err := r.Git(ctx, nil, args...)
		return err
	})
}

// DeleteRef deletes a ref and its reflog, by git, if it has the value old.
func (r *Repo) DeleteRef(ctx context.Context, name, old string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	err := r.lostOr(ctx, name, old, func() error {
		_, err := r.Git(ctx, nil, append(durable[:len(durable):len(durable)], "update-ref", "-d", name, old)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// lostOr runs a git command that compares the ref with old. It returns ErrLost if the comparison
// failed.
func (r *Repo) lostOr(ctx context.Context, name, old string, move func() error) error {
	err := move()
	if err == nil {
		return nil
	}
	now, rerr := r.ReadRef(ctx, name)
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
