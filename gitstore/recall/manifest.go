package recall

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
)

// The manifest of an index: magic; version of the analysis; what the index stands for, the number of its notes and the notes; the number of segments; of
// each the name, size, sum (segment.Reader.Sum), the number of documents that are gone, and the gaps between their numbers; CRC-32 (IEEE) of all
// that, four bytes, little-endian. Texts stand behind their length; lengths and numbers are varints.

// manifestMagic changes with the layout of the manifest and of segments, and with what is stored in them.
const manifestMagic = "reverie index 1\n"

const maxManifest = 64 << 20 // bytes

// manifest is the content of the file.
type manifest struct {
	version  string
	state    State
	segments []named
}

// named is a segment in a manifest.
type named struct {
	name string
	size int64
	sum  uint32
	dead []uint32 // documents that are gone, ascending
}

func (m manifest) has(name string) bool {
	return slices.ContainsFunc(m.segments, func(s named) bool { return s.name == name })
}

func (m manifest) bytes() []byte {
	out := []byte(manifestMagic)
	num := func(n uint64) { out = binary.AppendUvarint(out, n) }
	text := func(s string) { num(uint64(len(s))); out = append(out, s...) }
	text(m.version)
	text(m.state.Key)
	num(uint64(len(m.state.Notes)))
	for _, t := range m.state.Notes {
		text(t)
	}
	num(uint64(len(m.segments)))
	for _, s := range m.segments {
		text(s.name)
		num(uint64(s.size))
		num(uint64(s.sum))
		num(uint64(len(s.dead)))
		next := uint32(0)
		for _, doc := range s.dead {
			num(uint64(doc - next))
			next = doc + 1
		}
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func parseManifest(data []byte) (m manifest, ok bool) {
	rest, isOurs := strings.CutPrefix(string(data), manifestMagic)
	if !isOurs || len(rest) < 4 || crc32.ChecksumIEEE(data[:len(data)-4]) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return m, false
	}
	b, torn := data[len(manifestMagic):len(data)-4], false
	num := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			b, torn = nil, true
			return 0
		}
		b = b[size:]
		return n
	}
	count := func() int { // of things that take a byte at least
		n := num()
		if n > uint64(len(b)) {
			b, torn = nil, true
			return 0
		}
		return int(n)
	}
	text := func() string {
		n := count()
		s := string(b[:n])
		b = b[n:]
		return s
	}
	m.version = text()
	m.state.Key = text()
	for n := count(); n > 0 && !torn; n-- {
		m.state.Notes = append(m.state.Notes, text())
	}
	for n := count(); n > 0 && !torn; n-- {
		s := named{name: text(), size: int64(num()), sum: uint32(num())}
		next := uint64(0)
		for left := count(); left > 0 && !torn; left-- {
			next += num()
			if next >= 1<<32 {
				return m, false
			}
			s.dead = append(s.dead, uint32(next))
			next++
		}
		if !isSegmentName(s.name) {
			return m, false
		}
		m.segments = append(m.segments, s)
	}
	return m, !torn && len(b) == 0
}
