package git

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

var (
	// ErrNoObject is returned when the repository does not have an object.
	ErrNoObject = errors.New("object not found")
	// ErrCorrupt is returned when an object's bytes do not match its id.
	ErrCorrupt = errors.New("object is corrupt")
	// ErrTooLarge is returned when an object is larger than MaxObject.
	ErrTooLarge = errors.New("object is too large")
)

// MaxObject bounds an object that is read, in bytes. Ours are a thousand times smaller.
const MaxObject = 64 << 20

// Format is the object format of a repository: sha1 or sha256.
type Format string

// IsID reports whether s is an object id of the format: 40 or 64 lower-case hex digits.
func (f Format) IsID(s string) bool {
	want := 40
	if f == "sha256" {
		want = 64
	}
	return len(s) == want && strings.Trim(s, "0123456789abcdef") == ""
}

// zero returns the id by which git writes that a ref has no value.
func (f Format) zero() string {
	if f == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// NewObject returns data as an object. sha1 uses go-git's hash. Like git's own, it detects the
// known attacks on SHA-1 and then gives another id.
func (f Format) NewObject(kind string, data []byte) Object {
	if f == "sha256" {
		h := sha256.New()
		fmt.Fprintf(h, "%s %d\x00", kind, len(data))
		h.Write(data)
		return Object{ID: hex.EncodeToString(h.Sum(nil)), Kind: kind, Data: data}
	}
	return Object{ID: plumbing.ComputeHash(typeOf(kind), data).String(), Kind: kind, Data: data}
}

// check returns an error wrapping ErrCorrupt unless the object's bytes match its id.
func (f Format) check(o Object) error {
	if got := f.NewObject(o.Kind, o.Data).ID; got != o.ID {
		return fmt.Errorf("%w: %s %s has the bytes of %s", ErrCorrupt, o.Kind, o.ID, got)
	}
	return nil
}

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

// Sizes bounds the objects that are read, in bytes: blobs, and all others. Zero means MaxObject.
type Sizes struct{ Blob, Other int }

// check returns an error if an object is too large.
func (s Sizes) check(kind string, size int64) error {
	most := s.Other
	if kind == Blob {
		most = s.Blob
	}
	most = cmp.Or(most, MaxObject)
	if size < 0 || size > int64(most) {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	return nil
}
