package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
)

// ErrNoPath is returned when a commit's tree has no plain file at a path.
var ErrNoPath = errors.New("no such file in the commit")

// MaxCode bounds the entries that Code.Walk visits.
const MaxCode = 300_000

// Code is the user's code at one commit. It reads only requested files and the folders above them,
// each once. It serves one goroutine and must be closed.
type Code struct {
	repo    *Repo
	commit  string
	objects Objects
	root    string
	trees   map[string][]codeEntry
}

// codeEntry is one entry of a tree.
type codeEntry struct{ mode, name, id string }

// Code names the code at a commit. It does no I/O.
func (r *Repo) Code(commit string) *Code {
	return &Code{repo: r, commit: commit, objects: r.Objects(), trees: map[string][]codeEntry{}}
}

// Commit returns the id that was passed to Code.
func (c *Code) Commit() string { return c.commit }

// Close ends the reading.
func (c *Code) Close() error { return c.objects.Close() }

// File returns the id of the plain file at a path. The error wraps ErrNoPath if there is no such
// file, also for folders, symbolic links and submodules. Any other error means that the lookup
// failed.
func (c *Code) File(ctx context.Context, name string) (blob string, err error) {
	e, err := c.find(ctx, name)
	if err == nil && !isFile(e.mode) {
		err = fmt.Errorf("%s: %w", name, ErrNoPath)
	}
	return e.id, err
}

// Has reports whether there is anything at a path: a file, a folder, a symbolic link or a
// submodule.
func (c *Code) Has(ctx context.Context, name string) (bool, error) {
	e, err := c.find(ctx, name)
	return e.name != "", err
}

// find returns the entry at a path, or the zero value if nothing is there.
func (c *Code) find(ctx context.Context, name string) (codeEntry, error) {
	if name == "" || path.Clean(name) != name || path.IsAbs(name) {
		return codeEntry{}, nil
	}
	at, err := c.top(ctx)
	if err != nil {
		return codeEntry{}, err
	}
	for {
		first, rest, deeper := strings.Cut(name, "/")
		e, err := c.entry(ctx, at, first)
		switch {
		case err != nil || !deeper:
			return e, err
		case e.mode != "40000":
			return codeEntry{}, nil
		}
		at, name = e.id, rest
	}
}

func isFile(mode string) bool { return strings.HasPrefix(mode, "100") }

// Read returns the bytes of a file.
func (c *Code) Read(ctx context.Context, blob string) ([]byte, error) {
	o, err := c.objects.Read(ctx, blob)
	if err == nil && o.Kind != Blob {
		err = fmt.Errorf("%s is a %s: %w", blob, o.Kind, ErrNoPath)
	}
	return o.Data, err
}

// Walk calls fn with every plain file, in git's order, until fn returns false or MaxCode entries
// were seen.
func (c *Code) Walk(ctx context.Context, fn func(name, blob string) bool) error {
	at, err := c.top(ctx)
	if err != nil {
		return err
	}
	left := MaxCode
	var walk func(at, dir string) (bool, error)
	walk = func(at, dir string) (bool, error) {
		entries, err := c.tree(ctx, at)
		if err != nil || ctx.Err() != nil {
			return false, errors.Join(err, ctx.Err())
		}
		for _, e := range entries {
			if left--; left < 0 {
				return false, nil
			}
			more := true
			switch {
			case e.mode == "40000":
				more, err = walk(e.id, dir+e.name+"/")
			case isFile(e.mode):
				more = fn(dir+e.name, e.id)
			}
			if !more || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	_, err = walk(at, "")
	return err
}

// top returns the id of the root tree.
func (c *Code) top(ctx context.Context) (string, error) {
	if c.root != "" {
		return c.root, nil
	}
	o, err := c.objects.Read(ctx, c.commit)
	if err != nil {
		return "", err
	}
	id, ok := bytes.CutPrefix(o.Data, []byte("tree "))
	id, _, _ = bytes.Cut(id, []byte("\n"))
	if !ok || o.Kind != Commit || !c.repo.ObjectFormat.IsID(string(id)) {
		return "", fmt.Errorf("%s: %w: not a commit", c.commit, ErrCorrupt)
	}
	c.root = string(id)
	return c.root, nil
}

func (c *Code) entry(ctx context.Context, tree, name string) (codeEntry, error) {
	entries, err := c.tree(ctx, tree)
	for _, e := range entries {
		if e.name == name {
			return e, nil
		}
	}
	return codeEntry{}, err
}

// tree reads a tree's entries: a mode, a space, a name, a zero byte, and the id in bytes.
func (c *Code) tree(ctx context.Context, id string) ([]codeEntry, error) {
	if entries, ok := c.trees[id]; ok {
		return entries, nil
	}
	o, err := c.objects.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	bad := fmt.Errorf("%s: %w: not a tree", id, ErrCorrupt)
	if o.Kind != Tree {
		return nil, bad
	}
	entries := []codeEntry{}
	size := len(id) / 2
	for data := o.Data; len(data) > 0; {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < size {
			return nil, bad
		}
		entries = append(entries, codeEntry{string(mode), string(name), hex.EncodeToString(rest[:size])})
		data = rest[size:]
	}
	c.trees[id] = entries
	return entries, nil
}
