package sandbox

import (
	"io/fs"
	"syscall"
	"time"
)

// dropCapabilities removes a file's capabilities, and reports whether it had any.
func dropCapabilities(path string) (there bool, err error) {
	const name = "security.capability"
	if _, err := syscall.Getxattr(path, name, nil); err != nil {
		return false, nil
	}
	return true, syscall.Removexattr(path, name)
}

// changeTime returns the time of the last change of a file or its metadata.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
