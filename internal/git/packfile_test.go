package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Reading any bytes as a pack, at any offset, ends with an object or an error, within bounded
// memory.
func FuzzPack(f *testing.F) {
	repo := &Repo{ObjectFormat: "sha1"}
	var whole bytes.Buffer
	if err := writePack(&whole, repo.ObjectFormat, []Object{repo.ObjectFormat.NewObject(Blob, []byte("hello")), repo.ObjectFormat.NewObject(Tree, nil)}); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes(), int64(12))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x60\x01"), int64(12))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), int64(12))
	f.Fuzz(func(t *testing.T, data []byte, offset int64) {
		path := filepath.Join(t.TempDir(), "pack-x")
		if err := os.WriteFile(path+".pack", data, 0o644); err != nil {
			t.Fatal(err)
		}
		p := &pack{path: path}
		if err := p.open(); err != nil {
			t.Fatal(err)
		}
		defer p.file.Close()
		if _, _, err := p.read(offset); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v, want ErrCorrupt", err)
		}
	})
}

// Reading any bytes as an index ends without a panic.
func FuzzIndex(f *testing.F) {
	head := append([]byte("\xfftOc\x00\x00\x00\x02"), make([]byte, 256*4)...)
	for i := range 256 {
		head[8+4*i+3] = 1
	}
	f.Add(append(head, make([]byte, 20+4+4+40)...))
	f.Add(head)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "pack-x")
		if err := os.WriteFile(path+".idx", data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := openPack(path)
		if err != nil {
			return
		}
		defer p.close()
		if offset, found, err := p.find(make([]byte, 20)); err == nil && found {
			if _, _, err := p.read(offset); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
	})
}

// A cycle of deltas, and a delta that claims two gigabytes, are damage and do not crash the
// process.
func TestHostilePacksAreRefused(t *testing.T) {
	cycle := [][]byte{delta(1, []byte{1, 1, 1, 'x'}), delta(0, []byte{1, 1, 1, 'x'})}
	const size, times = 64 << 10, 32 << 10
	large := binary.AppendUvarint(binary.AppendUvarint(nil, size), size*times)
	large = append(large, bytes.Repeat([]byte{0x80}, times)...) // each copies 64 KiB
	base := append(head(3, size), deflated(make([]byte, size))...)
	for name, entries := range map[string][][]byte{"cycle": cycle, "large": {base, delta(0, large)}} {
		p := hostile(t, entries)
		offset, found, err := p.find(nameOf(1))
		if err != nil || !found {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, err := p.read(offset); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

// hostile writes a pack and its index. The entry with number i has the name nameOf(i).
func hostile(t *testing.T, entries [][]byte) *pack {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pack-x")
	pack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	index := append([]byte("\xfftOc\x00\x00\x00\x02"), make([]byte, 256*4)...)
	for i := range 256 {
		index[8+4*i+3] = byte(min(i+1, len(entries)))
	}
	var offsets []byte
	for i, e := range entries {
		index = append(index, nameOf(i)...)
		offsets = binary.BigEndian.AppendUint32(offsets, uint32(len(pack)))
		pack = append(pack, e...)
	}
	index = append(append(append(index, make([]byte, 4*len(entries))...), offsets...), make([]byte, 40)...)
	if err := errors.Join(os.WriteFile(path+".pack", pack, 0o644), os.WriteFile(path+".idx", index, 0o644)); err != nil {
		t.Fatal(err)
	}
	p, err := openPack(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func nameOf(i int) []byte { return append([]byte{byte(i)}, make([]byte, nameSize-1)...) }

// delta returns an entry that changes the one with a number.
func delta(of int, text []byte) []byte {
	return append(append(head(7, len(text)), nameOf(of)...), deflated(text)...)
}

func head(code, size int) []byte {
	c, size := byte(code<<4|size&15), size>>4
	var b []byte
	for ; size > 0; size >>= 7 {
		b, c = append(b, c|0x80), byte(size&0x7f)
	}
	return append(b, c)
}

func deflated(text []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}
