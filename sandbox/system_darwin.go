package sandbox

import (
	"io/fs"
	"syscall"
	"time"
)

func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctimespec.Sec), int64(s.Ctimespec.Nsec))
	}
	return info.ModTime()
}
