package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// keepText is the content that identifies our .keep files.
const keepText = "reverie: being written"

// writePack writes objects as a pack without deltas, the form in which git receives many objects at
// once.
func writePack(w io.Writer, format Format, objs []Object) error {
	from, names := source{objects: make(map[plumbing.Hash]Object, len(objs))}, make([]plumbing.Hash, len(objs))
	for i, o := range objs {
		names[i] = plumbing.NewHash(o.ID) // the first 20 bytes of a sha256 id, which differ too
		from.objects[names[i]] = o
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if format == "sha256" {
		pack := &sha256Pack{out: out, sum: sha256.New()}
		_, err := packfile.NewEncoder(pack, from, false).Encode(names, 0)
		out.Write(pack.sum.Sum(nil))
		return errors.Join(err, out.Flush())
	}
	_, err := packfile.NewEncoder(out, from, false).Encode(names, 0)
	return errors.Join(err, out.Flush())
}

// source serves objects by their ids to go-git's encoder of packs, which uses nothing else.
type source struct {
	storer.EncodedObjectStorer
	objects map[plumbing.Hash]Object
}

func (s source) EncodedObject(_ plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	return s.objects[h].encoded(), nil
}

// sha256Pack turns a pack of a sha1 repository into one of a sha256 repository, which differs only
// in the checksum at its end.
type sha256Pack struct {
	out  io.Writer
	sum  hash.Hash
	tail []byte // possibly the sha1
}

func (p *sha256Pack) Write(b []byte) (int, error) {
	p.tail = append(p.tail, b...)
	n := max(0, len(p.tail)-nameSize)
	p.sum.Write(p.tail[:n])
	_, err := p.out.Write(p.tail[:n])
	p.tail = append(p.tail[:0], p.tail[n:]...)
	return len(b), err
}

// sendPack pipes objects into a git command that reads a pack, and returns its output.
func sendPack(ctx context.Context, r *Repo, objs []Object, args ...string) (string, error) {
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writePack(pw, r.ObjectFormat, objs)) }()
	out, err := r.Git(ctx, pr, append(durable[:len(durable):len(durable)], args...)...)
	pr.Close()
	return strings.TrimSpace(string(out)), err
}

// keeps lists the .keep files of saved packs.
type keeps struct{ kept []string }

// Release removes the .keep files, once refs reach their packs.
func (k *keeps) Release() error {
	kept := k.kept
	k.kept = nil
	return removeAll(kept)
}

// savePack saves objects as one pack with its index. No ref reaches the pack yet, so a .keep file
// protects it from a concurrent repack until Release. The caller holds the lock of State.Lock, so
// existing .keep files of Reverie belong to dead processes.
func (k *keeps) savePack(ctx context.Context, r *Repo, objs []Object) error {
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	if err := dropKeeps(dir); err != nil {
		return err
	}
	var out string
	var err error
	for try := 1; ; try++ {
		out, err = sendPack(ctx, r, objs, "index-pack", "--stdin", "--keep="+keepText)
		if err == nil {
			break
		}
		var told *Error
		if !errors.As(err, &told) || !bytes.Contains(told.all, []byte("No such file")) || try == saveTries {
			return err // otherwise a git prune has removed git's temporary files
		}
	}
	result, name, _ := strings.Cut(out, "\t")
	switch {
	case r.ObjectFormat != "" && !r.ObjectFormat.IsID(name):
		return fmt.Errorf("git index-pack: said %q", out)
	case result == "keep":
		k.kept = append(k.kept, filepath.Join(dir, "pack-"+name+".keep"))
	}
	return file.SyncDir(dir)
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
