package process

import (
	"runtime"
	"runtime/debug"
)

// CollectLate delays garbage collection until some 32 MB, which most commands never reach: they
// live for milliseconds. From then on, a longer process collects at twice its live data. The
// setting stops and starts the whole program, so a hook that only keeps an event leaves it out.
func CollectLate() {
	debug.SetGCPercent(800) // of the 4 MB that are held at least
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 200)
}

// WithRoom calls fn on a stack with room for most commands. A goroutine begins with some 2 KB. Each
// time that is too little, the runtime copies all of it to a stack of twice the size, frame by
// frame, by tables from the program's file: five times for a command that lives for milliseconds.
func WithRoom[T any](fn func() T) T {
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
