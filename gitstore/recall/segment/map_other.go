//go:build !unix

package segment

import (
	"io"
	"os"
)

// content is what is in a file of that size.
func content(f *os.File, size int) (data []byte, release func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data)
	return data, nil, err
}
