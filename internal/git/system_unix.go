//go:build unix

package git

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

// detached starts a process away from our terminal, so that nothing in it can ask a question.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// isDirectoryError reports that a folder stands where a file was looked for, or a file where a
// folder was.
func isDirectoryError(err error) bool {
	return errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}

// linksUnsupported reports that the file system cannot give a file this second name.
func linksUnsupported(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.ENOTSUP) ||
		errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.ENOSYS)
}

// killAll ends a detached process and all that it started.
func killAll(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// processExists reports whether a process of this machine has the id.
func processExists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
