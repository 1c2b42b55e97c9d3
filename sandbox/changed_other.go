//go:build !linux && !darwin

package sandbox

import (
	"io/fs"
	"time"
)

// dropCapabilities returns false: files have capabilities only on Linux.
func dropCapabilities(string) (there bool, err error) { return false, nil }

// changeTime returns the best known time of a file's last change.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
