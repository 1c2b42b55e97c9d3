//go:build unix

package segment

import (
	"io"
	"os"
	"syscall"
)

// mapFrom is the size from which a file is mapped: for less, reading is as quick.
const mapFrom = 64 << 10

// content is what is in a file of that size.
func content(f *os.File, size int) (data []byte, release func() error, err error) {
	if size >= mapFrom {
		if data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED); err == nil {
			return data, func() error { return syscall.Munmap(data) }, nil
		}
	}
	data = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data)
	return data, nil, err
}
