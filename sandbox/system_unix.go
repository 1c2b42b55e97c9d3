//go:build linux || darwin

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

// openQuick prevents the open of a FIFO from waiting for its writer.
const openQuick = syscall.O_NONBLOCK

// exitCode returns a process's exit code, or 128 plus the number of its signal.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

func ownedByUs(info fs.FileInfo) bool {
	uid, _, ok := ownerOfFile(info)
	return ok && uid == os.Getuid()
}

// ownerOfFile returns the user and group ids of a file.
func ownerOfFile(info fs.FileInfo) (uid, gid int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

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
