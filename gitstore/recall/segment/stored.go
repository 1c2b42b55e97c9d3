package segment

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// presetSize is the most of the dictionary that stored texts are compressed with. Small blocks with a dictionary are nearly as short as large
// ones without, and a hit unpacks little.
const presetSize = 24 << 10

// plainBelow is how many bytes of stored text are not worth the compressor, which takes a megabyte of memory: those of a few documents
// that were just added.
const plainBelow = 8 << 10

// What a block is.
const (
	plainBlock = iota
	flateBlock
)

// stored writes the texts in blocks.
func (d *draft) stored() error {
	total := 0
	for i := range d.docs {
		total += len(d.docs[i].stored)
	}
	var preset []byte
	var pack *flate.Writer
	var packed bytes.Buffer
	if total >= plainBelow {
		preset = d.preset(total)
		var err error
		if pack, err = flate.NewWriterDict(&packed, flate.DefaultCompression, preset); err != nil {
			return fmt.Errorf("compress stored texts: %w", err)
		}
	}
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(preset))), preset...)
	var blocks, block []byte
	first := 0
	end := func(next int) error {
		blocks = binary.LittleEndian.AppendUint32(blocks, uint32(first))
		blocks = binary.LittleEndian.AppendUint32(blocks, uint32(min(uint64(len(out)), maxSection)))
		packed.Reset()
		if pack != nil {
			pack.Reset(&packed)
			pack.Write(block)
			if err := pack.Close(); err != nil {
				return fmt.Errorf("compress stored texts: %w", err)
			}
		}
		if pack != nil && packed.Len() < len(block) {
			out = append(append(out, flateBlock), packed.Bytes()...)
		} else {
			out = append(append(out, plainBlock), block...)
		}
		first, block = next, block[:0]
		return nil
	}
	for i := range d.docs {
		block = binary.AppendUvarint(block, uint64(len(d.docs[i].stored)))
		block = append(block, d.docs[i].stored...)
		if len(block) >= blockTarget || i == len(d.docs)-1 {
			if err := end(i + 1); err != nil {
				return err
			}
		}
	}
	d.counts[secBlocks] = len(blocks) / 8
	blocks = binary.LittleEndian.AppendUint32(blocks, uint32(len(d.docs)))
	d.secs[secBlocks] = binary.LittleEndian.AppendUint32(blocks, uint32(min(uint64(len(out)), maxSection)))
	d.secs[secStored] = out
	return nil
}

// preset is pieces of some of the texts, taken at even distances.
func (d *draft) preset(total int) []byte {
	var out []byte
	const piece = 256
	size := min(presetSize, total/8)
	every := max(1, len(d.docs)*piece/max(1, size))
	for i := every / 2; i < len(d.docs) && len(out) < size; i += every {
		out = append(out, d.docs[i].stored[:min(piece, len(d.docs[i].stored))]...)
	}
	return out
}

// Stored is what was stored with a document.
func (r *Reader) Stored(doc int) ([]byte, error) {
	if doc < 0 || doc >= int(r.docs) {
		return nil, fmt.Errorf("document %d of %d: %w", doc, r.docs, ErrCorrupt)
	}
	block, first, err := r.block(doc)
	if err == nil {
		for ; ; first++ {
			n := varint(&block)
			if n > uint64(len(block)) {
				break
			}
			if first == doc {
				return block[:n:n], nil
			}
			block = block[n:]
			if len(block) == 0 {
				break
			}
		}
		err = ErrCorrupt
	}
	r.spoilt()
	return nil, fmt.Errorf("stored text of document %d: %w", doc, err)
}

// block is the unpacked block that a document is in, and the first document of it.
func (r *Reader) block(doc int) (text []byte, first int, err error) {
	entry := func(k int) (doc, at uint32) {
		e := r.span(secBlocks, 8*uint64(k), 8*uint64(k)+8)
		if e == nil {
			return 0, 0
		}
		return le32(e), le32(e[4:])
	}
	lo, hi := 0, int(r.counts[secBlocks])
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if from, _ := entry(mid); int(from) <= doc {
			lo = mid
		} else {
			hi = mid
		}
	}
	from, at := entry(lo)
	_, to := entry(lo + 1)
	b := r.span(secStored, uint64(at), uint64(to))
	if len(b) == 0 || int(from) > doc {
		return nil, 0, ErrCorrupt
	}
	if b[0] == plainBlock {
		return bytes.Clone(b[1:]), int(from), nil
	}
	head := r.span(secStored, 0, 4)
	if head == nil {
		return nil, 0, ErrCorrupt
	}
	preset := r.span(secStored, 4, 4+uint64(le32(head)))
	unpack, ok := unpackers.Get().(io.Reader)
	if ok {
		err = unpack.(flate.Resetter).Reset(bytes.NewReader(b[1:]), preset)
	} else {
		unpack = flate.NewReaderDict(bytes.NewReader(b[1:]), preset)
	}
	if err == nil {
		// Somebody's block may unpack to a thousand times its size.
		room := bytes.NewBuffer(make([]byte, 0, blockTarget+blockTarget/2)) // what most take, and what tells their end
		_, err = room.ReadFrom(io.LimitReader(unpack, maxStored+2*blockTarget))
		text = room.Bytes()
	}
	unpackers.Put(unpack)
	return text, int(from), err
}

// unpackers are used again: each has tables of 40 KB.
var unpackers sync.Pool
