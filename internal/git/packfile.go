package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// pack is one pack with its index of version 2. The index is searched in place, because parsing it
// would cost 100 ns per object of the repository. go-git's Scanner reads the entries. Its Packfile
// would follow a cycle of deltas until the stack overflows, and allocates any result size that a
// delta claims.
type pack struct {
	path  string // without .idx or .pack
	index view
	count int // objects
	sizes Sizes
	fan   [256]uint32

	file *os.File // of the pack itself; opened at the first read
	size int64
	scan *packfile.Scanner

	bases map[int64]entry // objects that served as the base of a delta, by offset
	held  int             // bytes in bases
}

// entry is an object in a pack.
type entry struct {
	kind string
	data []byte
}

// maxHeld bounds the delta bases that a pack keeps in memory, in bytes.
const maxHeld = 16 << 20

// maxChain bounds a chain of deltas; git itself makes none longer.
const maxChain = 4095

const (
	idxHeader = 8
	idxNames  = idxHeader + 256*4
	nameSize  = 20

	packHeader = 12
)

// openPack opens the index of a pack and checks its shape, not its content.
func openPack(path string) (*pack, error) {
	index, err := openView(path + ".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{path: path, index: index}
	if err := p.readFan(); err != nil {
		index.close()
		return nil, err
	}
	return p, nil
}

func (p *pack) readFan() error {
	head, err := p.index.at(0, idxNames)
	if err != nil {
		return err
	}
	if string(head[:idxHeader]) != "\xfftOc\x00\x00\x00\x02" {
		return fmt.Errorf("%s.idx: not a pack index of version 2", p.path)
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[idxHeader+4*i:])
		if i > 0 && p.fan[i] < p.fan[i-1] {
			return fmt.Errorf("%s.idx: %w: fan-out is not sorted", p.path, ErrCorrupt)
		}
	}
	p.count = int(p.fan[255])
	if p.index.size() < int64(idxNames)+int64(p.count)*(nameSize+8)+2*nameSize {
		return fmt.Errorf("%s.idx: %w: too short", p.path, ErrCorrupt)
	}
	return nil
}

// find returns the offset of an object in the pack. It costs log2(objects/256) lookups.
func (p *pack) find(name []byte) (offset int64, found bool, err error) {
	lo, hi := 0, int(p.fan[name[0]])
	if name[0] > 0 {
		lo = int(p.fan[name[0]-1])
	}
	i := lo + sort.Search(hi-lo, func(i int) bool {
		at, aerr := p.name(lo + i)
		if aerr != nil {
			err = aerr
			return true
		}
		return string(at) >= string(name)
	})
	if err != nil || i == hi {
		return 0, false, err
	}
	if at, err := p.name(i); err != nil || string(at) != string(name) {
		return 0, false, err
	}
	offset, err = p.offset(i)
	return offset, err == nil, err
}

func (p *pack) name(i int) ([]byte, error) {
	return p.index.at(idxNames+int64(i)*nameSize, nameSize)
}

// offset returns the start of the object with a position in the index. Offsets from 2³¹ are in a
// separate table.
func (p *pack) offset(i int) (int64, error) {
	offsets := idxNames + int64(p.count)*(nameSize+4)
	b, err := p.index.at(offsets+4*int64(i), 4)
	if err != nil {
		return 0, err
	}
	small := binary.BigEndian.Uint32(b)
	if small>>31 == 0 {
		return int64(small), nil
	}
	if b, err = p.index.at(offsets+4*int64(p.count)+8*int64(small&^(1<<31)), 8); err != nil {
		return 0, err
	}
	large := binary.BigEndian.Uint64(b)
	if large>>63 != 0 {
		return 0, fmt.Errorf("%s.idx: %w: offset", p.path, ErrCorrupt)
	}
	return int64(large), nil
}

// read returns the object that begins at an offset. Errors wrap ErrCorrupt, or fs.ErrNotExist when
// the pack has been replaced.
func (p *pack) read(offset int64) (kind string, data []byte, err error) {
	if p.file == nil {
		if err := p.open(); err != nil {
			return "", nil, err
		}
	}
	var deltas [][]byte // the last one applies first
	var starts []int64  // of the objects that deltas make
	length := 0         // of deltas
	var base entry
	for {
		if held, ok := p.bases[offset]; ok {
			base = held
			break
		}
		at := offset
		kind, data, next, err := p.entry(offset)
		if err != nil {
			if errors.Is(err, ErrTooLarge) { // intact, but not for us
				return "", nil, err
			}
			return "", nil, fmt.Errorf("%w: at offset %d: %w", ErrCorrupt, offset, err)
		}
		if next == 0 {
			base = entry{kind, data}
			if len(deltas) > 0 {
				p.hold(at, base)
			}
			break
		}
		deltas, starts = append(deltas, data), append(starts, at)
		if length += len(data); length > MaxObject || len(deltas) > maxChain {
			return "", nil, fmt.Errorf("%w: a chain of deltas has no end", ErrCorrupt)
		}
		offset = next
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		if err := p.checkDelta(base.kind, deltas[i]); err != nil {
			return "", nil, err
		}
		out, err := packfile.PatchDelta(base.data, deltas[i])
		if err != nil {
			return "", nil, fmt.Errorf("%w: delta: %w", ErrCorrupt, err)
		}
		base = entry{base.kind, out}
		if i > 0 {
			p.hold(starts[i], base)
		}
	}
	return base.kind, base.data, nil
}

func (p *pack) open() error {
	file, err := os.Open(p.path + ".pack")
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	p.file, p.size = file, info.Size()
	p.scan = packfile.NewScanner(io.NewSectionReader(file, 0, p.size))
	p.bases = map[int64]entry{}
	return nil
}

func (p *pack) hold(offset int64, e entry) {
	if p.held += len(e.data); p.held > maxHeld {
		clear(p.bases)
		p.held = len(e.data)
	}
	p.bases[offset] = e
}

// entry reads the entry at an offset: an object, or a delta with the offset of its base.
func (p *pack) entry(offset int64) (kind string, data []byte, base int64, err error) {
	if offset < packHeader || offset >= p.size {
		return "", nil, 0, errors.New("outside the pack")
	}
	h, err := p.scan.SeekObjectHeader(offset)
	if err != nil {
		return "", nil, 0, err
	}
	if err := p.sizes.check(h.Type.String(), h.Length); err != nil { // of a delta: its own size
		return "", nil, 0, err
	}
	switch h.Type {
	case plumbing.OFSDeltaObject:
		base = h.OffsetReference
	case plumbing.REFDeltaObject:
		var found bool
		if base, found, err = p.find(h.Reference[:]); err != nil || !found {
			return "", nil, 0, errors.Join(err, errors.New("the base of a delta is missing"))
		}
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		kind = h.Type.String()
	default:
		return "", nil, 0, fmt.Errorf("type %d", h.Type)
	}
	if kind == "" && base < packHeader {
		return "", nil, 0, errors.New("the base of a delta is outside the pack")
	}
	text := bytes.NewBuffer(make([]byte, 0, h.Length))
	if _, _, err = p.scan.NextObject(text); err == nil && int64(text.Len()) != h.Length {
		err = errors.New("shorter than it says")
	}
	return kind, text.Bytes(), base, err
}

// checkDelta checks the result size that a delta claims before memory is allocated for it.
func (p *pack) checkDelta(kind string, delta []byte) error {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return fmt.Errorf("%w: delta", ErrCorrupt)
	}
	size, n := binary.Uvarint(delta[n:])
	if n <= 0 || size > MaxObject {
		return fmt.Errorf("%w: delta says %d bytes", ErrCorrupt, size)
	}
	return p.sizes.check(kind, int64(size))
}

func (p *pack) close() {
	p.index.close()
	if p.file != nil {
		p.file.Close()
	}
}
