package job

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
)

// MaxLog bounds the log, in bytes. A longer one is renamed to log.old before the next line.
const MaxLog = 256 << 10

// OpenLog opens the log of background work and of hooks that fail.
func OpenLog(state string) (*os.File, error) {
	path := filepath.Join(state, "log")
	if tooLong(path) {
		rotate(path)
	}
	f, err := file.Open(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func tooLong(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > MaxLog
}

// rotate renames the log, unless another process does. A second rename would replace the old log by
// a log of one line.
func rotate(path string) {
	lock, err := file.Open(path+".lock", os.O_RDWR|os.O_CREATE|file.NoFollow, 0o600)
	if err != nil {
		return
	}
	defer lock.Close()
	if locked, err := file.Lock(lock, false); err == nil && locked && tooLong(path) {
		os.Rename(path, path+".old")
	}
}
