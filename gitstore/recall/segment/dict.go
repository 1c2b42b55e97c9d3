package segment

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// dictBlock is how many texts share a block: the first of each is whole, and a search walks over one block.
const dictBlock = 16

// maxText is the longest text of a dictionary, in bytes.
const maxText = 1 << 20

// appendDict writes sorted texts as a dictionary.
func appendDict(out []byte, texts []string) []byte {
	blocks := (len(texts) + dictBlock - 1) / dictBlock
	var body []byte
	for i, text := range texts {
		shared := 0
		if i%dictBlock == 0 {
			out = binary.LittleEndian.AppendUint32(out, uint32(4*(blocks+1)+len(body)))
		} else {
			for last := texts[i-1]; shared < len(last) && shared < len(text) && last[shared] == text[shared]; {
				shared++
			}
		}
		rest := len(text) - shared
		body = append(body, byte(min(shared, 15)<<4|min(rest, 15)))
		if shared >= 15 {
			body = binary.AppendUvarint(body, uint64(shared-15))
		}
		if rest >= 15 {
			body = binary.AppendUvarint(body, uint64(rest-15))
		}
		body = append(body, text[shared:]...)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(4*(blocks+1)+len(body)))
	return append(out, body...)
}

// dict reads a dictionary in a section of r.
type dict struct {
	r   *Reader
	sec int
}

func (d dict) len() int { return int(d.r.counts[d.sec]) }

// block is the texts of a block, still packed.
func (d dict) block(k int) []byte {
	at := d.r.span(d.sec, 4*uint64(k), 4*uint64(k)+8)
	if at == nil {
		return nil
	}
	return d.r.span(d.sec, uint64(le32(at)), uint64(le32(at[4:])))
}

// nextText unpacks the text that comes after last, in its place, and moves b behind it.
func nextText(b *[]byte, last []byte) ([]byte, bool) {
	if len(*b) == 0 {
		return nil, false
	}
	shared, rest := uint64((*b)[0]>>4), uint64((*b)[0]&15)
	*b = (*b)[1:]
	if shared == 15 {
		shared += varint(b)
	}
	if rest == 15 {
		rest += varint(b)
	}
	if shared > uint64(len(last)) || rest > uint64(len(*b)) || shared+rest > maxText {
		return nil, false
	}
	text := append(last[:shared], (*b)[:rest]...)
	*b = (*b)[rest:]
	return text, true
}

// blockFrom is the first block whose first text is not less than a text, and whether it is the text; ok is false where the
// dictionary is spoilt.
func (d dict) blockFrom(text []byte) (k int, same, ok bool) {
	lo, hi := 0, (d.len()+dictBlock-1)/dictBlock
	for lo < hi {
		mid := (lo + hi) / 2
		b := d.block(mid)
		head, ok := nextWhole(&b)
		if !ok {
			d.r.spoilt()
			return 0, false, false
		}
		switch c := bytes.Compare(head, text); {
		case c == 0:
			return mid, true, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false, true
}

// find is the id of a text.
func (d dict) find(text []byte) (id int, ok bool) {
	lo, same, ok := d.blockFrom(text)
	if !ok {
		return 0, false
	}
	if same {
		return lo * dictBlock, true
	}
	if lo == 0 {
		return 0, false
	}
	var room [96]byte
	b, last := d.block(lo-1), room[:0]
	for i := (lo - 1) * dictBlock; i < min(lo*dictBlock, d.len()); i++ {
		if last, ok = nextText(&b, last); !ok {
			d.r.spoilt()
			return 0, false
		}
		if c := bytes.Compare(last, text); c >= 0 {
			return i, c == 0
		}
	}
	return 0, false
}

// nextWhole is nextText for the first text of a block, which is not copied.
func nextWhole(b *[]byte) ([]byte, bool) {
	if len(*b) == 0 || (*b)[0]>>4 != 0 {
		return nil, false
	}
	n := uint64((*b)[0] & 15)
	*b = (*b)[1:]
	if n == 15 {
		n += varint(b)
	}
	if n > uint64(len(*b)) {
		return nil, false
	}
	return (*b)[:n], true
}

// text is that of an id; "" when there is none.
func (d dict) text(id int) string {
	if id < 0 || id >= d.len() {
		return ""
	}
	var room [96]byte
	b, last, ok := d.block(id/dictBlock), room[:0], false
	for i := id / dictBlock * dictBlock; i <= id; i++ {
		if last, ok = nextText(&b, last); !ok {
			d.r.spoilt()
			return ""
		}
	}
	return string(last)
}

// dictCursor walks over the texts in their order.
type dictCursor struct {
	dict
	id   int
	text []byte // only good until the next
	rest []byte
}

func (d dict) cursor() dictCursor { return dictCursor{dict: d, id: -1} }

func (c *dictCursor) next() (ok bool) {
	if c.id++; c.id >= c.len() {
		return false
	}
	if c.id%dictBlock == 0 {
		c.rest, c.text = c.block(c.id/dictBlock), c.text[:0]
	}
	if c.text, ok = nextText(&c.rest, c.text); !ok {
		c.r.spoilt()
		c.id = c.len()
	}
	return ok
}

// all are the texts in their order. A text is only good until the next.
func (d dict) all() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for c := d.cursor(); c.next() && yield(c.id, c.text); {
		}
	}
}

// strings are all texts.
func (d dict) strings() []string {
	all := make([]string, 0, d.len())
	for _, text := range d.all() {
		all = append(all, string(text))
	}
	return all
}

// prefix are the texts that begin with one, in their order. A text is only good until the next.
func (d dict) prefix(begin []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		lo, _, ok := d.blockFrom(begin)
		if !ok {
			return
		}
		c := d.cursor()
		for c.id = max(lo-1, 0)*dictBlock - 1; c.next(); {
			switch {
			case bytes.HasPrefix(c.text, begin):
				if !yield(c.id, c.text) {
					return
				}
			case bytes.Compare(c.text, begin) > 0:
				return
			}
		}
	}
}
