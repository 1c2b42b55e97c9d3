package record

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/bits"
	"os"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/file"
)

// table answers Same and Find where no more of the cache is needed: a writer of one memory wants to know whether there is one
// that says the same, and nothing of the other ten thousand. It is the first part of the cache's file, a row of a fixed size for
// each memory, and the few files that are not as the cache has them. It says the same as the entries, or that it does not know.
type table struct {
	shelves [2]tableShelf
	bodies  *bodies
}

type tableShelf struct {
	rows  string          // rowSize bytes each
	fresh []entry         // files that came, or are not as they were; all of them can be read
	gone  map[string]bool // ids of the rows whose files are not as they were
}

// A row is, big-endian: the id, 8 bytes; the marks of the statement's words, 8; their number, 4; where the body begins, 8, its
// length, 4, and its CRC-32, 4.
const rowSize = 36

// fewAlike is how many bodies are looked at for statements that may be the same. Where more may, the entries tell sooner.
const fewAlike = 64

// marks are a bit for each word. Two statements of which one has d words that the other has not, both ways together, differ in d
// bits at most.
func (f Fingerprint) marks() (marks uint64, words int) {
	for at := 0; at < len(f.words); at += 4 {
		marks |= 1 << (binary.BigEndian.Uint32([]byte(f.words[at:at+4])) % 64)
	}
	return marks, len(f.words) / 4
}

// row adds the row of an entry whose packed memory lies at a place among the bodies.
func (e *encoder) row(x *entry, at, size int, sum uint32) {
	id, _ := hex.DecodeString(x.id())
	marks, words := x.print.marks()
	row := binary.BigEndian.AppendUint64(id, marks)
	row = binary.BigEndian.AppendUint32(row, uint32(words))
	row = binary.BigEndian.AppendUint64(row, uint64(at))
	row = binary.BigEndian.AppendUint32(row, uint32(size))
	e.Write(binary.BigEndian.AppendUint32(row, sum))
}

// tableShelf writes a shelf's part of the table: the tree, whether the rows are all there is, their number, and they. They are not where a
// file cannot be read, or two have one id.
func (e *encoder) tableShelf(s shelf, rows []byte) {
	e.str(string(s.tree))
	whole := len(rows) == rowSize*len(s.entries)
	for at := rowSize; whole && at < len(rows); at += rowSize {
		whole = string(rows[at:at+8]) != string(rows[at-rowSize:][:8])
	}
	if !whole {
		rows = nil
		e.num(0)
	} else {
		e.num(1)
	}
	e.num(uint64(len(rows) / rowSize))
	e.Write(rows)
}

// errUnknown says that only the entries tell.
var errUnknown = errors.New("the table does not tell")

// openTable reads the table of the cache, and what of the trees is not as it says. journal may be nil. It returns nil where only the
// entries tell: the table is not there or damaged, or was made of trees that git does not know or that differ from these in so
// many files that the cache is due to be written anew.
func openTable(path string, memory, journal *gitstore.Tree) *table {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return nil
	}
	t, err := readTable(f, memory, journal)
	if err != nil {
		f.Close()
		return nil
	}
	return t
}

func readTable(f *os.File, memory, journal *gitstore.Tree) (*table, error) {
	tableSize, indexSize, err := readSizes(f)
	if err != nil {
		return nil, err
	}
	data := make([]byte, tableSize+4)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	text := view(data[:tableSize])
	if checksum(text) != binary.LittleEndian.Uint32(data[tableSize:]) {
		return nil, errUnknown
	}
	t := &table{bodies: &bodies{file: f, at: bodiesAt(tableSize, indexSize)}}
	d := decoder{rest: text}
	changed := 0
	for i, tree := range []*gitstore.Tree{memory, journal} {
		was, whole, n := gitstore.ID(d.str()), d.num() == 1, d.count(rowSize)
		s := tableShelf{rows: d.rest[:n*rowSize]}
		d.rest = d.rest[n*rowSize:]
		switch {
		case d.torn:
			return nil, errUnknown
		case tree == nil:
			continue
		case !whole:
			return nil, errUnknown
		case tree.ID() != was:
			if err := s.catchUp(tree, was, &changed); err != nil {
				return nil, err
			}
		}
		t.shelves[i] = s
	}
	return t, nil
}

// catchUp notes what of a tree is not as it was.
func (s *tableShelf) catchUp(tree *gitstore.Tree, was gitstore.ID, changed *int) error {
	s.gone = map[string]bool{}
	err := tree.Diff(was, func(c gitstore.Change) error {
		if !strings.HasPrefix(c.Path, MemoryDir+"/") {
			return nil
		}
		id, is := MemoryID(c.Path)
		if *changed++; !is || *changed >= cacheLag {
			return errUnknown
		}
		if c.Old != "" {
			s.gone[id] = true
		}
		if c.New != "" {
			s.fresh = append(s.fresh, entry{path: c.Path, blob: c.New})
		}
		return nil
	})
	if err != nil {
		return err
	}
	var damage gitstore.Damage
	if s.fresh, damage, err = parseAll(tree, s.fresh); err != nil || damage != nil {
		return errors.Join(errUnknown, err)
	}
	ids := map[string]bool{}
	for i := range s.fresh {
		e := &s.fresh[i]
		if e.bad != nil || ids[e.id()] {
			return errUnknown
		}
		if _, there := s.find(e.id()); there { // two files have one id
			return errUnknown
		}
		ids[e.id()] = true
	}
	return nil
}

func (t *table) close() {
	if t != nil {
		t.bodies.file.Close()
	}
}

// find is the row of an id, if there is one whose file is as it was.
func (s *tableShelf) find(id string) (row string, ok bool) {
	raw, err := hex.DecodeString(id)
	if err != nil || s.gone[id] {
		return "", false
	}
	for rest := s.rows; len(rest) > 0; rest = rest[rowSize:] {
		if rest[:8] == string(raw) {
			return rest[:rowSize], true
		}
	}
	return "", false
}

// body is the memory of a row; ok is false if the cache file lost it.
func (t *table) body(row string) (m Memory, ok bool) {
	raw := []byte(row)
	at, size := binary.BigEndian.Uint64(raw[20:]), uint64(binary.BigEndian.Uint32(raw[28:]))
	e := entry{body: body{file: t.bodies, at: at, to: at + size, sum: binary.BigEndian.Uint32(raw[32:])}}
	return e.memory()
}

// has is the readable memory with an id in a shelf. The error is errUnknown where the cache file lost it.
func (t *table) has(shelf int, id string) (m Memory, found bool, err error) {
	s, ok := &t.shelves[shelf], false
	for i := range s.fresh {
		if e := &s.fresh[i]; e.id() == id {
			if m, ok = e.memory(); !ok {
				return m, false, errUnknown
			}
			return m, true, nil
		}
	}
	row, there := s.find(id)
	if !there {
		return m, false, nil
	}
	if m, ok = t.body(row); !ok {
		return m, false, errUnknown
	}
	return m, true, nil
}

// byID is what Find returns for a whole id.
func (t *table) byID(id string) (m Memory, found bool, err error) {
	if m, found, err = t.has(1, id); err != nil {
		return Memory{}, false, err
	}
	of, both, err := t.has(0, id)
	switch {
	case err != nil, found && both: // which of them counts is for who sees the files
		return Memory{}, false, cmp.Or(err, errUnknown)
	case both:
		return of, true, nil
	}
	m.Private = found
	return m, found, nil
}

// same is what Same returns.
func (t *table) same(text string) (m Memory, found bool, err error) {
	print := Print(text)
	take := func(shelf int, held Memory) error {
		p := Print(held.Text)
		wordless := p.words == "" && print.words == ""
		if !wordless && !p.Same(print) || wordless && Normal(held.Text) != Normal(text) {
			return nil
		}
		if _, both, err := t.has(1-shelf, held.ID); both || err != nil { // which of them counts is for who sees the files
			return cmp.Or(err, errUnknown)
		}
		held.Private = shelf == 1
		live, best := held.Status != Retired, found && m.Status != Retired
		if !found || live && !best || live == best && held.ID < m.ID {
			m, found = held, true
		}
		return nil
	}
	for i := range t.shelves {
		for j := range t.shelves[i].fresh {
			held, ok := t.shelves[i].fresh[j].memory()
			if !ok {
				return Memory{}, false, errUnknown
			}
			if err := take(i, held); err != nil {
				return Memory{}, false, err
			}
		}
		rows, ok := t.alike(i, print, sameWords)
		if !ok {
			return Memory{}, false, errUnknown
		}
		for _, row := range rows {
			held, ok := t.body(row)
			if !ok {
				return Memory{}, false, errUnknown
			}
			if err := take(i, held); err != nil {
				return Memory{}, false, err
			}
		}
	}
	return m, found, nil
}

// near are the memories whose statements may have at least this share of their words in common, of those that fewAlike lets it look
// at. ok is false if the cache file lost one.
func (t *table) near(print Fingerprint, share float64) (found []Memory, ok bool) {
	for i := range t.shelves {
		add := func(m Memory, whole bool) bool {
			m.Private = i == 1
			found = append(found, m)
			return whole
		}
		for j := range t.shelves[i].fresh {
			if !add(t.shelves[i].fresh[j].memory()) {
				return nil, false
			}
		}
		rows, _ := t.alike(i, print, share)
		for _, row := range rows {
			if !add(t.body(row)) {
				return nil, false
			}
		}
	}
	return found, true
}

// alike are the rows of a shelf whose statements may have this share of their words in common: those of which few enough words are in
// one of the two alone. Where |A∩B| is a share s of |A∪B|, that is at most (1-s)/(1+s) of |A|+|B|: a 19th for 0.9. ok is false if
// there are many; rows are then the first.
func (t *table) alike(shelf int, print Fingerprint, share float64) (rows []string, ok bool) {
	marks, words := print.marks()
	most := (1-share)/(1+share) + 1e-9
	s := &t.shelves[shelf]
	for rest := s.rows; len(rest) > 0; rest = rest[rowSize:] {
		row := []byte(rest[:20])
		both := words + int(binary.BigEndian.Uint32(row[16:]))
		if float64(bits.OnesCount64(marks^binary.BigEndian.Uint64(row[8:]))) > most*float64(both) || s.gone[hex.EncodeToString(row[:8])] {
			continue
		}
		if rows = append(rows, rest[:rowSize]); len(rows) > fewAlike {
			return rows[:fewAlike], false
		}
	}
	return rows, true
}
