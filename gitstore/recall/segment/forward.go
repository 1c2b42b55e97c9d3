package segment

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Position is a token of a document, in the order of reading.
type Position struct {
	Term    uint32
	Word    uint32
	Passage uint16
	Weight  uint8
}

// What follows a token with a long step.
const (
	stepFollows = 3
	nextPassage = 1
	bothFollow  = 2 // passage and weight
	longStep    = 63
)

// appendToken writes a token that stands behind last.
func appendToken(out []byte, code uint32, last, t Position) []byte {
	step := int64(t.Word) - int64(last.Word)
	if step >= 0 && step < stepFollows && t.Passage == last.Passage && t.Weight == last.Weight {
		return binary.AppendUvarint(out, uint64(code)<<2|uint64(step))
	}
	out = binary.AppendUvarint(out, uint64(code)<<2|stepFollows)
	control := byte(longStep << 2)
	if step >= 0 && step < longStep {
		control = byte(step << 2)
	}
	switch {
	case t.Weight == last.Weight && t.Passage == last.Passage:
		out = append(out, control)
	case t.Weight == last.Weight && t.Passage == last.Passage+1:
		out = append(out, control|nextPassage)
	default:
		out = append(out, control|bothFollow)
		out = binary.AppendUvarint(out, zigzag(int64(t.Passage)-int64(last.Passage)))
		out = append(out, t.Weight)
	}
	if control>>2 == longStep {
		out = binary.AppendUvarint(out, zigzag(step))
	}
	return out
}

// hot are the terms that most tokens are of, and the code of each term.
func (d *draft) hot() (hot, codes []uint32) {
	uses := make([]uint32, len(d.names))
	for i := range d.docs {
		d.docs[i].each(func(number uint32, _ Position) { uses[d.sorted[number]]++ })
	}
	if len(d.names) > fewHot {
		hot = make([]uint32, len(d.names))
		for id := range hot {
			hot[id] = uint32(id)
		}
		slices.SortFunc(hot, func(x, y uint32) int { return cmp.Or(cmp.Compare(uses[y], uses[x]), cmp.Compare(x, y)) })
		most := fewHot
		if len(d.names)+fewHot > maxHot {
			most = min(maxHot, len(hot))
		}
		hot = hot[:most]
	}
	codes = make([]uint32, len(d.names))
	for id := range codes {
		codes[id] = uint32(id + len(hot))
	}
	for code, id := range hot {
		codes[id] = uint32(code)
	}
	return hot, codes
}

// Forward adds the tokens of a document to out.
func (r *Reader) Forward(doc int, out []Position) []Position {
	b := r.record(doc)
	varint(&b) // expires
	for n := varint(&b); n > 0 && len(b) > 0; n-- {
		varint(&b) // labels
	}
	n := varint(&b)
	if n > uint64(len(b)) { // each takes a byte at least
		r.spoilt()
		return out
	}
	hot := r.hotTerms()
	out = slices.Grow(out, int(n))
	var t Position
	for ; n > 0; n-- {
		if len(b) == 0 {
			r.spoilt()
			return out
		}
		v := varint(&b)
		step, code := int64(v&3), v>>2
		if step == stepFollows {
			if len(b) == 0 {
				r.spoilt()
				return out
			}
			control := b[0]
			b = b[1:]
			if control&nextPassage != 0 {
				t.Passage++
			}
			if control&bothFollow != 0 {
				t.Passage += uint16(unzigzag(varint(&b)))
				if len(b) > 0 {
					t.Weight = b[0]
					b = b[1:]
				}
			}
			if step = int64(control >> 2); step == longStep {
				step = unzigzag(varint(&b))
			}
		}
		t.Word += uint32(step)
		if code < uint64(len(hot)/4) {
			t.Term = le32(hot[4*code:])
		} else if code -= uint64(len(hot) / 4); code < 1<<32 {
			t.Term = uint32(code)
		} else {
			t.Term = 1<<32 - 1
		}
		if t.Term >= r.counts[secTerms] {
			r.spoilt()
			return out
		}
		out = append(out, t)
	}
	return out
}
