package file

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag for os.OpenFile that does nothing here: making a symbolic link takes a
// privilege on Windows.
const NoFollow = 0

// nonBlock does nothing here: pipes have names of their own.
const nonBlock = 0

// lockOffset is beyond the text of a lock file, because others cannot read a locked range.
const lockOffset = 1 << 30

// mapped reads the content of a file of the given size: a mapped file could not be replaced.
func mapped(f *os.File, size int) (data []byte, release func(), err error) { return whole(f, size) }

// Lock locks f. Without wait it returns false if another process holds the lock. Closing f or
// ending the process releases it.
func Lock(f *os.File, wait bool) (bool, error) {
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

// SyncDir does nothing: Windows cannot flush a directory, and NTFS keeps names in its journal.
func SyncDir(string) error { return nil }

// keepOwner does nothing: a new file takes its owner and its access list from the folder.
func keepOwner(*os.File, string) {}
