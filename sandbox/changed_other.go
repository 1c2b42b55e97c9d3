//go:build !linux && !darwin

package sandbox

import (
	"io/fs"
	"time"
)

// dropCapabilities is of Linux: files have no capabilities here.
func dropCapabilities(string) (there bool, err error) { return false, nil }

// changeTime is when a file last changed, as far as can be told here.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
