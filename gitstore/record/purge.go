package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
)

// PurgeDir is the folder of purge records in a tree.
const PurgeDir = "purged"

// Purge records a purge: no history that has the record may hold the named content. It reveals only
// hashes. It never changes and is never purged itself.
type Purge struct {
	ID       string    `json:"id"` // 16 hex digits of SHA-256 over the rest
	Time     time.Time `json:"time"`
	Blobs    []string  `json:"blobs,omitempty"`    // git's object ids of files at any path
	Memories []string  `json:"memories,omitempty"` // ids of memories, in all their versions
	Paths    []string  `json:"paths,omitempty"`    // SHA-256 of paths that revealed the target, hex
	Messages []string  `json:"messages,omitempty"` // SHA-256 of messages of commits, hex
}

// purgeEntries bounds the entries of a record; more entries make another record. With sha256 ids a
// full record has about 220 KiB.
const purgeEntries = 3000

// NewPurges makes the records of a purge, each within the size limit. Duplicates and order do not
// matter.
func NewPurges(all Purge) []Purge {
	all.Time = all.Time.UTC().Truncate(time.Second)
	var out []Purge
	now, n := Purge{Time: all.Time}, 0
	flush := func() {
		if n > 0 {
			now.ID = now.id()
			out = append(out, now)
		}
		now, n = Purge{Time: all.Time}, 0
	}
	for _, list := range []struct {
		from []string
		to   func() *[]string
	}{
		{all.Blobs, func() *[]string { return &now.Blobs }}, {all.Memories, func() *[]string { return &now.Memories }},
		{all.Paths, func() *[]string { return &now.Paths }}, {all.Messages, func() *[]string { return &now.Messages }},
	} {
		for _, v := range set(list.from) {
			if n == purgeEntries {
				flush()
			}
			*list.to() = append(*list.to(), v)
			n++
		}
	}
	flush()
	return out
}

func (p Purge) id() string {
	p.ID = ""
	text, _ := json.Marshal(p)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Path returns the record's path in its tree.
func (p Purge) Path() string { return PurgeDir + "/" + p.ID[:2] + "/" + p.ID + ".json" }

// Format returns the record's text form.
func (p Purge) Format() ([]byte, error) { return formatJSON(p) }

// ParsePurge parses the record at path. It rejects unknown keys and values that could reveal
// something.
func ParsePurge(at string, data []byte) (Purge, error) {
	var p Purge
	if err := parseJSON(at, data, &p); err != nil {
		return Purge{}, err
	}
	bad := func(field, why string) (Purge, error) {
		return Purge{}, &FormatError{Path: at, Field: field, Reason: why}
	}
	exact := json.NewDecoder(bytes.NewReader(data))
	exact.DisallowUnknownFields()
	if err := exact.Decode(new(Purge)); err != nil {
		return bad("", err.Error())
	}
	if !ValidID(p.ID) || at != p.Path() || p.ID != p.id() {
		return bad("id", fmt.Sprintf("%q does not belong to this path and these values", p.ID))
	}
	for _, list := range []struct {
		field  string
		values []string
		sizes  []int
	}{{"blobs", p.Blobs, []int{40, 64}}, {"memories", p.Memories, []int{16}}, {"paths", p.Paths, []int{64}}, {"messages", p.Messages, []int{64}}} {
		for _, v := range list.values {
			if !slices.Contains(list.sizes, len(v)) || strings.Trim(v, "0123456789abcdef") != "" {
				return bad(list.field, fmt.Sprintf("%q is not an id or a hash", v))
			}
		}
	}
	return p, nil
}

// Purges returns the purge records of a tree, sorted by id. The error joins those of unreadable
// files; the others are returned all the same.
func Purges(tree *gitstore.Tree) ([]Purge, error) { return records(tree, PurgeDir, ParsePurge) }

// Omit selects the content that some records name. It spares the records themselves, so that no
// purge can undo another.
func Omit(purges ...Purge) gitstore.Omit {
	o := gitstore.Omit{Blobs: map[gitstore.ID]bool{}, Messages: map[string]bool{}, Keep: isPurge}
	memories, paths := map[string]bool{}, map[string]bool{}
	for _, p := range purges {
		for _, id := range p.Blobs {
			o.Blobs[gitstore.ID(id)] = true
		}
		for _, id := range p.Memories {
			memories[id] = true
		}
		for _, hash := range p.Paths {
			paths[hash] = true
		}
		for _, hash := range p.Messages {
			o.Messages[hash] = true
		}
	}
	if len(memories) > 0 || len(paths) > 0 {
		o.Path = func(path string) bool {
			return memories[MemoryOf(path)] || len(paths) > 0 && paths[PathHash(path)]
		}
	}
	return o
}

func isPurge(path string, read func() []byte) bool {
	if !strings.HasPrefix(path, PurgeDir+"/") {
		return false
	}
	_, err := ParsePurge(path, read())
	return err == nil
}

// Beyond returns the parts of a purge that o does not omit already.
func (p Purge) Beyond(o gitstore.Omit) Purge {
	memory := func(id string) bool { return o.Path != nil && o.Path(MemoryDir+"/"+id[:2]+"/"+id+".md") }
	p.Blobs = slices.DeleteFunc(set(p.Blobs), func(id string) bool { return o.Blobs[gitstore.ID(id)] })
	p.Memories = slices.DeleteFunc(set(p.Memories), memory)
	p.Messages = slices.DeleteFunc(set(p.Messages), func(hash string) bool { return o.Messages[hash] })
	return p
}

// Empty reports whether a purge names nothing.
func (p Purge) Empty() bool { return len(p.Blobs)+len(p.Memories)+len(p.Paths)+len(p.Messages) == 0 }

// PathHash identifies a path without revealing it.
func PathHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// MemoryOf returns the id of the memory that a path belongs to, or "".
func MemoryOf(path string) string {
	name, ok := strings.CutPrefix(path, MemoryDir+"/")
	if !ok || len(name) < 3+16 || name[2] != '/' || !ValidID(name[3:19]) || name[:2] != name[3:5] {
		return ""
	}
	if rest := name[19:]; strings.Contains(rest, "/") || rest != ".md" && !strings.HasPrefix(rest, "-") {
		return ""
	}
	return name[3:19]
}

// PurgeSet is the purge records of the branch and the journal of a View.
type PurgeSet struct {
	trees [2]*gitstore.Tree // branch and journal; the second may be nil
	known *gitstore.Omit    // the purged content, once asked for
}

// omit returns the content that the records omit.
func (p *PurgeSet) omit() (gitstore.Omit, error) {
	if p.known == nil {
		var all []Purge
		for _, tree := range p.trees {
			purges, err := Purges(tree)
			for _, e := range unjoin(err) {
				var bad *FormatError
				if !errors.As(e, &bad) {
					return gitstore.Omit{}, err
				}
			}
			all = append(all, purges...)
		}
		omit := Omit(all...)
		p.known = &omit
	}
	return *p.known, nil
}

// purgedOf identifies the purge records of some trees; it is "" without any.
func purgedOf(trees ...*gitstore.Tree) (name string) {
	for _, tree := range trees {
		all, _ := Purges(tree)
		for _, p := range all {
			name += p.ID
		}
	}
	if name == "" {
		return ""
	}
	return PathHash(name)
}

// Took returns a test for purged files, by memory id or content. It returns nil if there was no
// purge.
func (p *PurgeSet) Took() func(id, blob string) bool {
	omit, err := p.omit()
	if err != nil || omit.Path == nil && len(omit.Blobs) == 0 {
		return nil
	}
	return func(id, blob string) bool { return omit.Blobs[gitstore.ID(blob)] || p.Has(id) }
}

// Has reports whether the memory with this id was purged.
func (p *PurgeSet) Has(id string) bool {
	omit, err := p.omit()
	return err == nil && omit.Path != nil && ValidID(id) && omit.Path(MemoryDir+"/"+id[:2]+"/"+id+".md")
}

// Like returns the id of the only purged memory that begins with prefix, or "".
func (p *PurgeSet) Like(prefix string) (id string) {
	for _, tree := range p.trees {
		purges, _ := Purges(tree)
		for _, p := range purges {
			for _, m := range p.Memories {
				if strings.HasPrefix(m, prefix) && m != id {
					if id != "" {
						return ""
					}
					id = m
				}
			}
		}
	}
	return id
}

func unjoin(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// Bad returns the unreadable purge records, which have no effect.
func (p *PurgeSet) Bad() error {
	var bad []error
	for _, tree := range p.trees {
		_, err := Purges(tree)
		bad = append(bad, err)
	}
	return errors.Join(bad...)
}

// SlugTells reports whether the slug in a memory's path reveals a text of its file. For a cut slug
// the beginning of a text is enough.
func SlugTells(path, text string) bool {
	const telling = 8 // minimum bytes of a revealing beginning
	id := MemoryOf(path)
	if id == "" {
		return false
	}
	_, slug, _ := strings.Cut(strings.TrimSuffix(path, ".md"), id+"-")
	words := strings.Join(strings.FieldsFunc(Normal(text), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}), "-")
	if words == "" || slug == "" {
		return false
	}
	if strings.Contains(slug, words) {
		return true
	}
	for n := min(len(slug), len(words)); n >= telling; n-- {
		if strings.HasSuffix(slug, words[:n]) {
			return true
		}
	}
	return false
}
