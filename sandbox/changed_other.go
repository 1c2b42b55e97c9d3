//go:build !linux && !darwin

package sandbox

import (
	"io/fs"
	"time"
)

// changeTime is when a file last changed, as far as can be told here.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
