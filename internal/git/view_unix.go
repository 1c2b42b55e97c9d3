//go:build unix

package git

import (
	"fmt"
	"os"

	"github.com/reverie-memory/reverie/internal/file"
)

// view is an immutable file, mapped into memory.
type view struct {
	data    []byte
	release func()
}

func openView(path string) (view, error) {
	f, err := os.Open(path)
	if err != nil {
		return view{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return view{}, err
	}
	data, release, err := file.Content(f, info.Size())
	if err != nil {
		return view{}, fmt.Errorf("map %s: %w", path, err)
	}
	return view{data, release}, nil
}

func (v view) size() int64 { return int64(len(v.data)) }

// at returns n bytes from an offset; they are valid until close.
func (v view) at(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset+int64(n) > int64(len(v.data)) {
		return nil, fmt.Errorf("%w: pack index is too short", ErrCorrupt)
	}
	return v.data[offset : offset+int64(n) : offset+int64(n)], nil
}

func (v view) close() { v.release() }
