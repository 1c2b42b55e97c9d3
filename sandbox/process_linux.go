package sandbox

import "syscall"

// ownGroup starts a client in a group of its own, where no key of a terminal reaches it, and has it end with us. The kernel looks at the thread
// that started it; Go's threads live as long as the process, where no goroutine ends while it holds one.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
