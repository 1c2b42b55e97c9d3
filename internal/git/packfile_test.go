package git

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Whatever stands in a pack at any offset, reading it ends, with an object or an error, within bounded
// memory.
func FuzzPack(f *testing.F) {
	repo := &Repo{ObjectFormat: "sha1"}
	var whole bytes.Buffer
	if err := repo.writePack(&whole, []Object{repo.NewObject(Blob, []byte("hello")), repo.NewObject(Tree, nil)}); err != nil {
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

// Whatever stands in an index, looking into it ends without a panic.
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

// The numbers are worked out by hand from git's documentation of pack entries.
func TestEntryHeader(t *testing.T) {
	for _, tt := range []struct {
		kind string
		size int
		want string
	}{
		{Blob, 0, "\x30"},
		{Commit, 15, "\x1f"},
		{Blob, 16, "\xb0\x01"},
		{Tree, 809, "\xa9\x32"},      // 809 = 50·16 + 9
		{Blob, 2064, "\xb0\x81\x01"}, // 0 + 1·16 + 1·2048
	} {
		if got := string(entryHeader(Object{Kind: tt.kind, Data: make([]byte, tt.size)})); got != tt.want {
			t.Errorf("%s of %d bytes: % x, want % x", tt.kind, tt.size, got, tt.want)
		}
	}
}
