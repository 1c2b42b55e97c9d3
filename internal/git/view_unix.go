//go:build unix

package git

import (
	"fmt"
	"os"
	"syscall"
)

// view is a file that does not change, mapped into memory.
type view struct{ data []byte }

func openView(path string) (view, error) {
	file, err := os.Open(path)
	if err != nil {
		return view{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return view{}, err
	}
	if info.Size() == 0 {
		return view{}, nil
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return view{}, fmt.Errorf("map %s: %w", path, err)
	}
	return view{data}, nil
}

func (v view) size() int64 { return int64(len(v.data)) }

// at returns n bytes from an offset; they are valid until close.
func (v view) at(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset+int64(n) > int64(len(v.data)) {
		return nil, fmt.Errorf("%w: pack index is too short", ErrCorrupt)
	}
	return v.data[offset : offset+int64(n) : offset+int64(n)], nil
}

func (v view) close() {
	if v.data != nil {
		syscall.Munmap(v.data)
	}
}
