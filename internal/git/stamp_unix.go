//go:build linux || darwin

package git

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// noFile is the stamp of a missing file.
const noFile = "-"

// stampOf distinguishes one state of a file from every other by its identity and its change time
// (ctime), which no program can set. It covers only regular files.
func stampOf(path string) (stamp string, changed time.Time, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return noFile, time.Time{}, absent(err)
	}
	if path == os.DevNull {
		return os.DevNull, time.Time{}, true
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return "", time.Time{}, false
	}
	modified, change := timesOf(st)
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mode, st.Uid, modified.Nano(), change.Nano()), time.Unix(change.Unix()), true
}

// deviceOf identifies the file system of a file.
func deviceOf(info fs.FileInfo) (string, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Dev), true
}
