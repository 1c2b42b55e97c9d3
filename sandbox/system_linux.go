package sandbox

import (
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithUs makes a client end with this process. The kernel watches the starting thread; Go's
// threads live as long as the process, unless a goroutine ends while locked to one.
func endWithUs(client *exec.Cmd) { client.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// hardProcesses returns the maximum number of processes of the current user; 0 if unknown.
func hardProcesses() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil {
		return 0
	}
	return l.Max
}

// dropCapabilities removes a file's capabilities, and reports whether it had any.
func dropCapabilities(path string) (there bool, err error) {
	const name = "security.capability"
	if _, err := syscall.Getxattr(path, name, nil); err != nil {
		return false, nil
	}
	return true, syscall.Removexattr(path, name)
}

// changeTime returns the time of the last change of a file or its metadata.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
