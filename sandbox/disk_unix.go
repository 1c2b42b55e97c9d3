//go:build linux || darwin

package sandbox

import (
	"io/fs"
	"syscall"
)

// diskSize returns the disk space of a file in bytes, divided by its number of names.
func diskSize(info fs.FileInfo) int64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	return s.Blocks * 512 / max(1, int64(s.Nlink))
}

// names returns the number of a file's names.
func names(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// fileKey identifies a file.
func fileKey(info fs.FileInfo) [2]uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(s.Dev), uint64(s.Ino)}
	}
	return [2]uint64{}
}

// freeBytes returns the room of a file system for its users.
func freeBytes(dir string) (int64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// openQuick prevents the open of a FIFO from waiting for its writer.
const openQuick = syscall.O_NONBLOCK
