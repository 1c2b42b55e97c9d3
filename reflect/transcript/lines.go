package transcript

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

var bom = []byte("\xef\xbb\xbf")

// lineReader hands out lines of bounded length.
type lineReader struct {
	r   *bufio.Reader
	max int // bytes a line may have
	n   int // number of the last line, from 1
	buf []byte
}

// next returns the next line without its ending (LF or CRLF); it is valid until the call after.
// A line of more than max bytes is read over without being held: the error wraps ErrLineTooLong,
// and the call after returns the line that follows. At the end the error is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	size, started := int64(0), false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(part) > 0 && !started {
			started = true
			l.n++
		}
		size += int64(len(part))
		if size <= int64(l.max) {
			if err == nil && len(l.buf) == 0 {
				return trimEnding(part), nil
			}
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("read transcript after line %d: %w", l.n, err)
		case !started:
			return nil, io.EOF
		case size > int64(l.max):
			return nil, fmt.Errorf("%w: %d bytes, the most read is %d", ErrLineTooLong, size, l.max)
		}
		return trimEnding(l.buf), nil
	}
}

func trimEnding(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}
