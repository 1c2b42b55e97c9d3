package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// use asks a reader for everything. It is there to fall over, or not to end.
func use(r *Reader) {
	for _, id := range []uint32{1 << 31, 1<<32 - 1} {
		r.TermText(id)
		r.Latin(id)
		for c := r.Postings(id); c.Next(); {
		}
	}
	for id := range uint32(min(r.Terms(), 3000)) {
		if text := r.TermText(id); text != "" {
			r.Term(text)
			for _, g := range pairs(text) {
				r.Gram(g, nil)
			}
		}
		n := 0
		for c := r.Postings(id); c.Next(); n++ {
		}
		if n > r.Len() {
			panic("more postings than documents")
		}
	}
	for _, l := range r.AllLabels() {
		r.Label(string(l))
	}
	for e := r.Entries(); e.Next(); {
		e.Same("00")
	}
	copier := NewCopier(r)
	for _, doc := range []int{-1, math.MaxInt32} {
		r.Stored(doc)
		r.Length(doc)
		r.Forward(doc, nil)
	}
	for doc := range min(r.Len(), 300) {
		copier.Doc(doc, nil)
		r.Members(r.Group(doc))
		r.Previous(doc)
		r.Next(doc)
		r.Find(r.Key(doc))
	}
}

// mend makes the checksums right again, as somebody who writes a file of his own would.
func mend(data []byte) {
	if len(data) < headerSize {
		return
	}
	pages := (len(data) - headerSize) / (pageSize + 4)
	if (len(data)-headerSize)%(pageSize+4) > 0 {
		pages++
	}
	if len(data) < headerSize+4*pages {
		return
	}
	for k := range pages {
		body := data[headerSize+4*pages:]
		if k*pageSize < len(body) {
			binary.LittleEndian.PutUint32(data[headerSize+4*k:], crc32.ChecksumIEEE(body[k*pageSize:min((k+1)*pageSize, len(body))]))
		}
	}
	binary.LittleEndian.PutUint32(data[headSum:], headerCRC(data[:headerSize+4*pages]))
}

func TestMendMendsNothingThatIsWhole(t *testing.T) {
	data := build(t, many(100))
	mended := bytes.Clone(data)
	mend(mended)
	if !bytes.Equal(data, mended) {
		t.Error("the test's checksums are not those of the builder")
	}
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	data := build(t, many(8))
	for i := 0; i < len(data); i += 3 {
		spoilt := bytes.Clone(data)
		spoilt[i] ^= byte(1 << (i % 8))
		r, err := Open(spoilt)
		if err != nil {
			continue
		}
		use(r)
		if r.Err() == nil {
			t.Errorf("byte %d of %d: nobody notices", i, len(data))
		}
	}
}

func TestTornFilesAreRefused(t *testing.T) {
	data := build(t, many(12))
	for n := range data {
		if _, err := Open(data[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for a segment", n, len(data))
		}
	}
	if _, err := Open(append(slices.Clip(data), 0)); err == nil {
		t.Error("a byte too many is not noticed")
	}
}

func TestForgedFilesHarmNobody(t *testing.T) {
	data := build(t, many(25))
	random := rand.New(rand.NewPCG(1, 2))
	opened := 0
	for range 500 {
		forged := bytes.Clone(data)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(forged))
			if random.IntN(3) == 0 {
				at = random.IntN(headerSize)
			}
			forged[at] = byte(random.Uint32())
		}
		mend(forged)
		if r, err := Open(forged); err == nil {
			opened++
			use(r)
		}
	}
	if opened < 150 {
		t.Errorf("only %d of 500 could be opened: that shows little", opened)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(build(f, many(3)), uint32(0), byte(0))
	f.Add(build(f, nil), uint32(500), byte(7))
	f.Add(build(f, many(40)), uint32(4000), byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, b byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[int(at)%len(data)] ^= b
		}
		for range 2 {
			if r, err := Open(data); err == nil {
				use(r)
			}
			mend(data)
		}
	})
}
