//go:build unix

package file

import (
	"errors"
	"os"
	"syscall"
)

// NoFollow is a flag for os.OpenFile: opening a symbolic link fails.
const NoFollow = syscall.O_NOFOLLOW

// nonBlock keeps opening a pipe or a device from blocking. It has no effect on a regular file.
const nonBlock = syscall.O_NONBLOCK

// mapped returns the content of a file of the given size, mapped into memory.
func mapped(f *os.File, size int) (data []byte, release func(), err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return data, func() { syscall.Munmap(data) }, err
}

// Lock locks f. Without wait it returns false if another process holds the lock. Closing f or
// ending the process releases it.
func Lock(f *os.File, wait bool) (bool, error) {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

// SyncDir makes the names in a directory durable. It ignores EINVAL from file systems that cannot.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// keepOwner gives f the owner of the file at path, as far as permitted.
func keepOwner(f *os.File, path string) {
	if info, err := os.Stat(path); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid()) {
			f.Chown(int(st.Uid), int(st.Gid))
		}
	}
}
