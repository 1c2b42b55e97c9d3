package git

import (
	"fmt"
	"os"
)

// view is an immutable file, read piece by piece: git could not replace a mapped one.
type view struct {
	file   *os.File
	length int64
}

func openView(path string) (view, error) {
	file, err := os.Open(path)
	if err != nil {
		return view{}, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return view{}, err
	}
	return view{file, info.Size()}, nil
}

func (v view) size() int64 { return v.length }

// at returns n bytes from an offset.
func (v view) at(offset int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := v.file.ReadAt(b, offset); err != nil {
		return nil, fmt.Errorf("%w: pack index is too short", ErrCorrupt)
	}
	return b, nil
}

func (v view) close() { v.file.Close() }
