package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
)

// keepText is the content of the .keep files that we make, by which they are known.
const keepText = "reverie: being written"

// writePack writes objects as a pack, undeltified: the form in which git takes many objects at once.
func (r *Repo) writePack(w io.Writer, objs []Object) error {
	sum := r.newHash()
	w = io.MultiWriter(w, sum)
	head := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(objs)))...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	var buf bytes.Buffer
	z, _ := zlib.NewWriterLevel(&buf, zlib.BestSpeed)
	for _, o := range objs {
		buf.Reset()
		buf.Write(entryHeader(o))
		z.Reset(&buf)
		z.Write(o.Data)
		z.Close()
		if _, err := w.Write(buf.Bytes()); err != nil {
			return err
		}
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// entryHeader is the type and the size of an object in a pack: four bits of the size beside the type, then
// seven a byte.
func entryHeader(o Object) []byte {
	var code byte
	for i, kind := range kinds {
		if kind == o.Kind {
			code = byte(i)
		}
	}
	size := len(o.Data)
	c := code<<4 | byte(size&15)
	var head []byte
	for size >>= 4; size > 0; size >>= 7 {
		head = append(head, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(head, c)
}

// sendPack pipes objects into a git command that reads a pack and returns what it says.
func (r *Repo) sendPack(ctx context.Context, objs []Object, args ...string) (string, error) {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(r.writePack(pw, objs)) }()
	out, err := r.Git(ctx, pr, append(durable[:len(durable):len(durable)], args...)...)
	pr.Close()
	return strings.TrimSpace(string(out)), err
}

// savePack saves objects as one pack with its index. The pack has a .keep file, without which a repack
// at this moment would drop it, because no ref reaches it yet; its path is returned and removed by
// Release. The caller holds the lock of Lock, so .keep files of ours that are there already belong to
// the dead.
func (r *Repo) savePack(ctx context.Context, objs []Object) (kept []string, err error) {
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	if err := dropKeeps(dir); err != nil {
		return nil, err
	}
	var out string
	for try := 1; ; try++ {
		out, err = r.sendPack(ctx, objs, "index-pack", "--stdin", "--keep="+keepText)
		if err == nil {
			break
		}
		var told *Error
		if !errors.As(err, &told) || !bytes.Contains(told.all, []byte("No such file")) || try == saveTries {
			return nil, err // else a git prune has removed git's temporary files
		}
	}
	result, name, _ := strings.Cut(out, "\t")
	switch {
	case r.ObjectFormat != "" && !r.IsID(name):
		return nil, fmt.Errorf("git index-pack: said %q", out)
	case result == "keep":
		kept = []string{filepath.Join(dir, "pack-"+name+".keep")}
	}
	return kept, file.SyncDir(dir)
}

func dropKeeps(dir string) error {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "pack-*.keep"))
	if err != nil {
		return err
	}
	var ours []string
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == keepText {
			ours = append(ours, path)
		}
	}
	return removeAll(ours)
}

func escapeGlob(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
