package claim

import (
	"encoding/binary"
	"errors"
)

var errWeights = errors.New("weights.bin: not the weights that this program reads; run go run ./reflect/train")

// decoder reads numbers and bytes from a text.
type decoder struct {
	rest  string
	short bool // something was missing, and read as zero
}

func (d *decoder) uint32() uint32 {
	b := d.bytes(4)
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32([]byte(b))
}

func (d *decoder) bytes(n int) string {
	if n < 0 || n > len(d.rest) {
		n, d.short = len(d.rest), true
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
