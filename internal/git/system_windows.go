package git

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownedByUs is not asked on Windows: the folder takes its access list from the git directory,
// whose owner git has checked.
func ownedByUs(fs.FileInfo) bool { return true }

// lockOffset lies past the text in the lock file: a locked range cannot be read by others.
const lockOffset = 1 << 30

// lockFile takes the lock on f, or, unless it may wait, reports that somebody has it. Closing f gives
// it back.
func lockFile(f *os.File, wait bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := &windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing: Windows cannot flush a directory, and NTFS keeps names in its journal.
func syncDir(string) error { return nil }

// detached starts a process away from our console, so that nothing in it can ask a question.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}

// isDirectoryError reports that a folder stands where a file was looked for, or a file where a folder was.
func isDirectoryError(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, windows.ERROR_DIRECTORY) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND)
}

// linksUnsupported reports that the file system cannot give a file this second name.
func linksUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) || errors.Is(err, windows.ERROR_TOO_MANY_LINKS)
}

// killAll ends a detached process.
func killAll(p *os.Process) error { return p.Kill() }
