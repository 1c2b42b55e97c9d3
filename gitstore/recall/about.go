package recall

import (
	"slices"
	"strings"
)

// Bounds of about: an author can give a memory any number of globs.
const (
	maxPaths  = 32  // of a prompt, or files being worked on
	maxLabels = 128 // anchors and paths of a memory
)

// about finds the paths that documents are about. It examines each label once.
type about struct {
	index   *Index
	paths   []place
	beneath map[string][]int // the places in paths of those with a first folder
	anchors bool             // a document is about the files that it rests on too
	// known has, per segment and label, a place in paths, from 1; aboutNone; or 0 if not computed yet.
	known [][]int16
	ids   []uint32
}

const aboutNone = -1

// place is a path, made ready for many globs.
type place struct {
	written, clean string
	parts          []string
}

// about returns nil without paths. It uses the first maxPaths paths.
func (x *Index) about(paths []string, anchors bool) *about {
	if len(paths) == 0 {
		return nil
	}
	a := &about{index: x, beneath: map[string][]int{}, anchors: anchors, known: make([][]int16, len(x.segments))}
	for i, written := range paths[:min(len(paths), maxPaths)] {
		p := place{written: written, clean: clean(written)}
		p.parts = strings.Split(p.clean, "/")
		a.paths = append(a.paths, p)
		a.beneath[p.parts[0]] = append(a.beneath[p.parts[0]], i)
	}
	return a
}

// path returns the first path that a document is about, in the order of its labels, or "".
func (a *about) path(at Ref) string {
	if a == nil {
		return ""
	}
	s := a.index.segments[at.Segment]
	a.ids = s.Labels(at.Doc, a.ids[:0])
	known := a.known[at.Segment]
	for _, id := range a.ids[:min(len(a.ids), maxLabels)] {
		if n := int(id) + 1; n > len(known) {
			known = append(known, make([]int16, n-len(known))...)
			a.known[at.Segment] = known
		}
		if known[id] == 0 {
			known[id] = a.label(s.LabelText(id))
		}
		if known[id] != aboutNone {
			return a.paths[known[id]-1].written
		}
	}
	return ""
}

// label returns the path of a label, in the form of known.
func (a *about) label(text string) int16 {
	if glob, ok := strings.CutPrefix(text, labelPath); ok {
		return a.glob(clean(glob))
	}
	if file, ok := strings.CutPrefix(text, labelAnchor); ok && a.anchors {
		return a.first(file, func(p place) bool { return p.clean == file })
	}
	return aboutNone
}

// glob returns the first path that a glob covers or has as its fixed part. A glob whose fixed part
// is shorter than two characters is too vague.
func (a *about) glob(glob string) int16 {
	root := Root(glob)
	if len(root) < 2 {
		return aboutNone
	}
	parts := strings.Split(glob, "/")
	return a.first(root, func(p place) bool {
		return p.clean == root || Under(p.clean, glob) || len(root) < len(glob) && covers(parts, p.parts)
	})
}

// first returns the first path for which is holds, among those with the same first folder.
func (a *about) first(path string, is func(place) bool) int16 {
	folder, _, _ := strings.Cut(path, "/")
	within := a.beneath[folder]
	if n := slices.IndexFunc(within, func(i int) bool { return is(a.paths[i]) }); n >= 0 {
		return int16(within[n] + 1)
	}
	return aboutNone
}

// Beginnings of labels.
const (
	labelPath   = "path="
	labelAnchor = "anchor=" // and the path of a file
	labelTag    = "tag="
	labelBy     = "by="
	mayExpire   = "expires" // the whole label
)
