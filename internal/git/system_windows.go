package git

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownedByUs is always true on Windows: the folder takes its access list from the git directory,
// whose owner git has checked.
func ownedByUs(fs.FileInfo) bool { return true }

// isDirectoryError reports whether a folder is in the place of a file, or a file in place of a
// folder.
func isDirectoryError(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, windows.ERROR_DIRECTORY) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND)
}

// linksUnsupported reports whether the file system cannot give a file this second name.
func linksUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) || errors.Is(err, windows.ERROR_TOO_MANY_LINKS)
}

// processExists reports whether a process of this machine has the id.
func processExists(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err == nil {
		windows.CloseHandle(h)
	}
	return err == nil || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
