package cmd

import (
	"runtime"
	"runtime/debug"
)

// collectLate lets garbage lie until there are some 32 MB, which most commands never have: they
// live for milliseconds. Who lives longer collects it at twice what is held from then on. Saying so
// stops and starts all of the program, which a hook that only keeps an event has no need of.
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

// makeRoom has a large frame, for which the stack grows at once, and does not write to it when text is empty.
//
//go:noinline
func makeRoom(text string) string {
	if text == "" {
		return ""
	}
	var room [48 << 10]byte
	return string(room[:copy(room[:], text)])
}
