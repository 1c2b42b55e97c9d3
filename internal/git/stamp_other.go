//go:build !linux && !darwin

package git

import (
	"io/fs"
	"time"
)

const noFile = "-"

// stampOf recognises no file on this system, so that git is asked each time.
func stampOf(string) (string, time.Time, bool) { return "", time.Time{}, false }

func deviceOf(fs.FileInfo) (string, bool) { return "", false }
