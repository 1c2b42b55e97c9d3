// Package process tells whether a process that was noted once is still that process: the system
// gives the numbers of processes anew. What it returns are words to keep and compare, in no other
// form than as the system tells them, and "" where it does not. It ends nothing, keeps nothing, and
// may be used by several goroutines at once.
package process

// Start tells apart the processes that had one number between two starts of the system: with Boot
// it names one of them. It is that of a process that ended and waits for its parent, too; "" where
// there is none.
func Start(pid int) string {
	start, _ := look(pid)
	return start
}

// Stamp tells apart all processes that ever had one number, in one space of them; "" also where the
// system does not tell them that well.
func Stamp(pid int) string {
	start, _ := look(pid)
	return stamp(start)
}

// Alive reports whether the process that had this Stamp runs. One that ended and waits for its
// parent does not.
func Alive(pid int, stamped string) bool {
	start, ended := look(pid)
	return stamped != "" && !ended && stamp(start) == stamped
}

// Stat is where a process belongs.
type Stat struct {
	Group   int
	Session int
	Ended   bool // it only waits for its parent to ask how it ended
}
