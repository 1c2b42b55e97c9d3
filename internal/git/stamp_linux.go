package git

import "syscall"

// timesOf are the times at which a file got its content, and at which anything about it changed.
func timesOf(st *syscall.Stat_t) (modified, changed syscall.Timespec) { return st.Mtim, st.Ctim }
