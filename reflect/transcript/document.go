package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document walks a JSON document without holding it: it enters objects and arrays, and holds one
// value inside them at a time. It finds only the ends of values; their decoders check them. So one
// broken message does not hide the others.
type document struct {
	r   *bufio.Reader
	max int // bytes one held value may have
	n   int // current line, from 1
	buf []byte
}

// syntaxError means that the rest of the document cannot be parsed.
type syntaxError struct{ msg string }

func (e *syntaxError) Error() string { return e.msg }

var errCutOff = &syntaxError{"the JSON document is cut off"}

func syntaxf(format string, args ...any) error {
	return &syntaxError{"not JSON: " + fmt.Sprintf(format, args...)}
}

// peekByte returns the next byte that is not white space, without consuming it.
func (d *document) peekByte() (byte, error) {
	for {
		c, err := d.r.ReadByte()
		if err == io.EOF {
			return 0, errCutOff
		}
		if err != nil {
			return 0, fmt.Errorf("read transcript after line %d: %w", d.n, err)
		}
		switch c {
		case '\n':
			d.n++
		case ' ', '\t', '\r', '\xef', '\xbb', '\xbf':
		default:
			return c, d.r.UnreadByte()
		}
	}
}

// expect consumes the byte want.
func (d *document) expect(want byte) error {
	c, err := d.peekByte()
	if err != nil {
		return err
	}
	if c != want {
		return syntaxf("found %q where %q belongs", c, want)
	}
	_, err = d.r.ReadByte()
	return err
}

// more reports whether another element follows before the closing byte, which it consumes.
func (d *document) more(first bool, closing byte) (bool, error) {
	c, err := d.peekByte()
	if err != nil {
		return false, err
	}
	if c == closing {
		return false, d.expect(closing)
	}
	if !first {
		return true, d.expect(',')
	}
	return true, nil
}

// object calls each for every key of the object that follows; each consumes the value.
func (d *document) object(each func(key string) error) error {
	if err := d.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := d.more(first, '}')
		if err != nil || !more {
			return err
		}
		if c, err := d.peekByte(); err != nil {
			return err
		} else if c != '"' {
			return syntaxf("found %q where a key belongs", c)
		}
		raw, err := d.value()
		if err != nil {
			return err
		}
		var key string
		if err := json.Unmarshal(raw, &key); err != nil {
			return syntaxf("%v", err)
		}
		if err := d.expect(':'); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
	}
}

// array calls each for every element of the array that follows; each consumes the element.
func (d *document) array(each func() error) error {
	if err := d.expect('['); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := d.more(first, ']')
		if err != nil || !more {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// value returns the bytes of the next value, valid until the next call. It skips a value of more
// than max bytes: the error then wraps ErrLineTooLong, and the walk can go on.
func (d *document) value() ([]byte, error) {
	if _, err := d.peekByte(); err != nil {
		return nil, err
	}
	d.buf = d.buf[:0]
	var scan scanner
	size, ended := int64(0), false
	for !ended {
		if _, err := d.r.Peek(1); err == io.EOF {
			return nil, errCutOff
		} else if err != nil {
			return nil, fmt.Errorf("read transcript after line %d: %w", d.n, err)
		}
		chunk, _ := d.r.Peek(d.r.Buffered())
		var n int
		n, ended = scan.end(chunk)
		chunk = chunk[:n]
		d.n += bytes.Count(chunk, []byte("\n"))
		if size += int64(len(chunk)); size <= int64(d.max) {
			d.buf = append(d.buf, chunk...)
		}
		if _, err := d.r.Discard(len(chunk)); err != nil {
			return nil, err
		}
	}
	if size > int64(d.max) {
		return nil, fmt.Errorf("%w: %d bytes, the most read is %d", ErrLineTooLong, size, d.max)
	}
	if len(bytes.TrimSpace(d.buf)) == 0 {
		return nil, syntaxf("a value is missing")
	}
	return d.buf, nil
}

// scanner finds the end of one JSON value, chunk by chunk.
type scanner struct {
	depth    int
	in, skip bool // inside a string; the next byte is escaped
}

// end returns the number of bytes of chunk that belong to the value, if it ends within the chunk.
func (s *scanner) end(chunk []byte) (n int, found bool) {
	for i, c := range chunk {
		switch {
		case s.skip:
			s.skip = false
		case s.in && c == '\\':
			s.skip = true
		case c == '"':
			s.in = !s.in
			if !s.in && s.depth == 0 {
				return i + 1, true
			}
		case s.in:
		case s.depth == 0 && (c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i, true // a number or literal ends before it
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(chunk), false
}

// element is value for a value that may be dropped: it reports one that is too long or not JSON,
// and returns nil.
func (d *document) element(r *run) ([]byte, error) {
	if _, err := d.peekByte(); err != nil {
		return nil, err
	}
	r.line = d.n
	raw, err := d.value()
	switch {
	case errors.Is(err, ErrLineTooLong):
		r.bad(err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	r.checkText(raw)
	return raw, nil
}

// elements calls each for every element of the array that follows, except for those that it drops
// like element.
func (d *document) elements(r *run, each func(raw []byte)) error {
	return d.array(func() error {
		if err := cmp.Or(r.err, r.ctx.Err()); err != nil {
			return err
		}
		raw, err := d.element(r)
		if err == nil && raw != nil {
			each(raw)
		}
		return err
	})
}

// broken reports the end of a walk that a broken document stopped; what was read before stays. It
// returns errors of other kinds.
func (r *run) broken(d *document, err error) error {
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		r.badAt(d.n, err)
		return nil
	}
	return err
}
