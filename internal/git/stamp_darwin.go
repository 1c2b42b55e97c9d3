package git

import "syscall"

// timesOf returns the times of a file's last change of content, and of its last change of any kind.
func timesOf(st *syscall.Stat_t) (modified, changed syscall.Timespec) {
	return st.Mtimespec, st.Ctimespec
}
