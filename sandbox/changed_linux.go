package sandbox

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when a file or what is known of it last changed.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
