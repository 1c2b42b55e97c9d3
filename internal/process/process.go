// Package process identifies processes, so that a process noted earlier is recognised although the
// system reuses process numbers. Its results are opaque strings to keep and compare, or "" if the
// system gives no answer. It keeps no state, and is safe for concurrent use. CollectLate and
// WithRoom save time in a process that lives for milliseconds. Alone sets up a command so that the
// end of its context kills it, on Unix with its children.
package process

// Start distinguishes the processes that had one number between two boots; with Boot it identifies
// one process. It also covers a zombie, and returns "" for a missing process.
func Start(pid int) string {
	start, _ := look(pid)
	return start
}

// Stamp distinguishes all processes that ever had one number in one pid namespace. It returns "" if
// the system does not distinguish them that well.
func Stamp(pid int) string {
	start, _ := look(pid)
	return stamp(start)
}

// Alive reports whether the process with this Stamp runs. A zombie does not count.
func Alive(pid int, stamped string) bool {
	start, ended := look(pid)
	return stamped != "" && !ended && stamp(start) == stamped
}

// Stat holds the group and session of a process.
type Stat struct {
	Group   int
	Session int
	Ended   bool // a zombie, waiting for its parent
}
