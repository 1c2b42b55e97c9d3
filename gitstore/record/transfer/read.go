package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// maxLine bounds a line, in bytes: each byte of the largest memory may be an escape of four.
const maxLine = 4 * record.MaxMemory

// Numbered is a line of an input with its number, from 1, or its error.
type Numbered struct {
	Line
	N   int
	Err error
}

// ReadJSONL reads one object a line. Empty lines are passed over.
func ReadJSONL(r io.Reader) iter.Seq[Numbered] {
	return func(yield func(Numbered) bool) {
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, 64<<10), maxLine)
		n := 1
		for ; in.Scan(); n++ {
			data := bytes.TrimSpace(bytes.TrimPrefix(in.Bytes(), []byte("\ufeff")))
			if len(data) == 0 {
				continue
			}
			one := Numbered{N: n}
			if one.Err = json.Unmarshal(data, &one.Line); !yield(one) {
				return
			}
		}
		if err := in.Err(); err != nil {
			yield(Numbered{N: n, Err: err})
		}
	}
}

// ReadJSON reads one array of objects. The number of each is that of the line on which it ends.
func ReadJSON(data []byte) iter.Seq[Numbered] {
	return func(yield func(Numbered) bool) {
		dec := json.NewDecoder(bytes.NewReader(data))
		at := func(err error) int {
			end := int(dec.InputOffset())
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				end = max(end, int(syntax.Offset))
			} else if errors.Is(err, io.ErrUnexpectedEOF) {
				end = len(data)
			}
			return 1 + bytes.Count(bytes.TrimRight(data[:min(end, len(data))], "\n"), []byte("\n"))
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			yield(Numbered{N: 1, Err: errors.New("is not an array of objects in JSON")})
			return
		}
		for dec.More() {
			var one Numbered
			one.Err = dec.Decode(&one.Line)
			one.N = at(one.Err)
			var kind *json.UnmarshalTypeError
			if !yield(one) || one.Err != nil && !errors.As(one.Err, &kind) {
				return // after a syntax error the next start is unknown
			}
		}
		_, err := dec.Token()
		if err == nil {
			if _, more := dec.Token(); more != io.EOF {
				err = errors.New("something stands behind the array")
			}
		}
		if err != nil {
			yield(Numbered{N: at(err), Err: err})
		}
	}
}
