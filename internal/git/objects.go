package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

var (
	// ErrNoObject is returned when the repository does not have an object.
	ErrNoObject = errors.New("object not found")
	// ErrCorrupt is returned when an object's bytes do not match its id.
	ErrCorrupt = errors.New("object is corrupt")
	// ErrTooLarge is returned when an object is larger than MaxObject.
	ErrTooLarge = errors.New("too large for an object of ours")
)

// MaxObject bounds an object that is read, in bytes. Ours are a thousand times smaller.
const MaxObject = 64 << 20

// Kinds of object.
const (
	Blob   = "blob"
	Tree   = "tree"
	Commit = "commit"
)

// Object is one git object.
type Object struct {
	ID   string
	Kind string // Blob, Tree, Commit or tag
	Data []byte
}

// Objects is the object database of a repository during one operation. A longer-lived handle would
// miss repacks by other processes, so open one per operation and Close it.
type Objects interface {
	// Read returns one object and checks its bytes against its id. Errors wrap ErrNoObject or
	// ErrCorrupt.
	Read(ctx context.Context, id string) (Object, error)
	// ReadAll reads many objects and calls fn with the position of each in ids, in the cheapest order,
	// never concurrently. It ends at the first error.
	ReadAll(ctx context.Context, ids []string, fn func(i int, o Object) error) error
	// Save writes objects and returns when they are durable. More than PackFrom become one pack, which
	// git keeps out of every repack until Release.
	Save(ctx context.Context, objs []Object) error
	// Release declares the saved objects reachable from a ref, or abandoned.
	Release() error
	// Close ends the operation.
	Close() error
}

// PackFrom is the number of objects beyond which Save makes a pack instead of loose objects.
const PackFrom = 100

// Objects opens the object database. It costs nothing until the first read. It reads the common
// formats (sha1, pack index version 2) itself; real git serves the rest.
func (r *Repo) Objects() Objects { return r.ObjectsUpTo(Sizes{}) }

// ObjectsUpTo is Objects with size limits. Reading a larger object fails before it is unpacked,
// with an error that wraps ErrTooLarge.
func (r *Repo) ObjectsUpTo(s Sizes) Objects {
	if r.ObjectFormat != "sha1" {
		return &gitObjects{repo: r, sizes: s}
	}
	return &fileObjects{repo: r, sizes: s}
}

// Sizes bounds the objects that are read, in bytes: blobs, and all others. Zero means MaxObject.
type Sizes struct{ Blob, Other int }

// check returns an error if an object is too large.
func (s Sizes) check(kind string, size int64) error {
	most := s.Other
	if kind == Blob {
		most = s.Blob
	}
	if most == 0 {
		most = MaxObject
	}
	if size < 0 || size > int64(most) {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	return nil
}

// NewObject returns data as an object of this repository. sha1 repositories use go-git's hash. Like
// git's own, it detects the known attacks on SHA-1 and then gives another id.
func (r *Repo) NewObject(kind string, data []byte) Object {
	if r.ObjectFormat == "sha256" {
		h := sha256.New()
		fmt.Fprintf(h, "%s %d\x00", kind, len(data))
		h.Write(data)
		return Object{ID: hex.EncodeToString(h.Sum(nil)), Kind: kind, Data: data}
	}
	return Object{ID: plumbing.ComputeHash(typeOf(kind), data).String(), Kind: kind, Data: data}
}

// typeOf returns go-git's number for a kind of object.
func typeOf(kind string) plumbing.ObjectType {
	t, _ := plumbing.ParseObjectType(kind) // InvalidObject for other words
	return t
}

// encoded returns the object in go-git's form.
func (o Object) encoded() plumbing.EncodedObject {
	e := &plumbing.MemoryObject{}
	e.SetType(typeOf(o.Kind))
	e.Write(o.Data)
	return e
}

// check returns an error wrapping ErrCorrupt unless the object's bytes match its id.
func (r *Repo) check(o Object) error {
	if got := r.NewObject(o.Kind, o.Data).ID; got != o.ID {
		return fmt.Errorf("%w: %s %s has the bytes of %s", ErrCorrupt, o.Kind, o.ID, got)
	}
	return nil
}
