package sandbox

import (
	"io/fs"
	"syscall"
	"time"
)

// dropCapabilities returns false: files have capabilities only on Linux.
func dropCapabilities(string) (there bool, err error) { return false, nil }

// changeTime returns the time of the last change of a file or its metadata.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctimespec.Sec), int64(s.Ctimespec.Nsec))
	}
	return info.ModTime()
}
