package cmd

import (
	"runtime"
	"runtime/debug"
)

// collectLate delays garbage collection until some 32 MB, which most commands never reach: they
// live for milliseconds. From then on, a longer process collects at twice its live data. The
// setting stops and starts the whole program, so a hook that only keeps an event leaves it out.
func collectLate() {
	debug.SetGCPercent(800) // of the 4 MB that are held at least
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 200)
}

// withRoom calls fn on a stack with room for what most commands call. A goroutine begins with some
// 2 KB, and each time that is too little all of it is copied to a stack of twice the size, frame by
// frame, by tables that are first to be read from the program's file: five times for a command that
// lives for milliseconds.
func withRoom[T any](fn func() T) T {
	makeRoom("")
	return fn()
}

// makeRoom has a large frame, so that the stack grows at once. It does not write to the frame if
// text is empty.
//
//go:noinline
func makeRoom(text string) string {
	if text == "" {
		return ""
	}
	var room [48 << 10]byte
	return string(room[:copy(room[:], text)])
}
