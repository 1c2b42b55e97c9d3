package recall

import (
	"fmt"
	"runtime/debug"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// Guard runs fn, which reads the index. Where somebody made a file shorter that is mapped into memory, reading it is a fault, which
// ends a process otherwise: here it ends fn, the index is spoilt, and the error wraps segment.ErrCorrupt. It holds for the goroutine of
// fn alone.
func (x *Index) Guard(fn func() error) error {
	err, fault := catch(fn)
	if fault {
		for _, s := range x.segments {
			s.Distrust()
		}
	}
	return err
}

// catch is fn with a fault of memory as its error.
func catch(fn func() error) (err error, fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface { // a runtime.Error of a fault at an address; nil has none
			error
			Addr() uintptr
		}:
			err, fault = fmt.Errorf("read the index: fault at %#x: %w", r.Addr(), segment.ErrCorrupt), true
		default:
			panic(r)
		}
	}()
	return fn(), false
}
