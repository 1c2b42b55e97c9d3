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

// Memories about one file tend to answer one question (the cluster hypothesis: van Rijsbergen,
// Information Retrieval, 1979, chapter 3). A memory that uses other or fewer words may be next to
// one that uses the words of the query.
//
// So a memory's score rises towards the best one about one of its files, never above it, and no
// score falls. Only the best one counts: many files prove no more than one, and those of a large
// change would have good neighbours by chance.

// sameFile adds to each candidate a share of the best score about the same file, among those that
// rank by their words.
func (r *ranking) sameFile(all []candidate) {
	files := filesOf{ranking: r, number: map[string]int{}, known: make([][]int32, len(r.segments))}
	var best []float32 // score of each file, by its number
	var of []int       // numbers of all candidates' files, one after the other
	ends := make([]int, len(all))
	for i, c := range all { // the best come first
		from := len(of)
		of = files.add(of, c.Ref)
		ends[i] = len(of)
		for _, n := range of[from:] {
			if i < depth && n == len(best) {
				best = append(best, r.first(c.at))
			}
		}
	}
	from := 0
	for i := range all {
		own, most := r.first(all[i].at), float32(0)
		for _, n := range of[from:ends[i]] {
			if n < len(best) {
				most = max(most, best[n])
			}
		}
		if from = ends[i]; most > own {
			all[i].Parts.SameFile = fileShare * float64(most-own)
		}
	}
}

// filesOf numbers the files and globs of documents and their anchors, in the order of appearance.
type filesOf struct {
	*ranking
	number map[string]int
	known  [][]int32 // per segment and label: a number from 1; noFile; 0 if not computed yet
	ids    []uint32
}

const noFile = -1

// add adds the numbers of a document's files.
func (f *filesOf) add(out []int, at Ref) []int {
	s := f.segments[at.Segment]
	f.ids = s.Labels(at.Doc, f.ids[:0])
	known := f.known[at.Segment]
	for _, id := range f.ids[:min(len(f.ids), maxLabels)] {
		if n := int(id) + 1; n > len(known) {
			known = append(known, make([]int32, n-len(known))...)
			f.known[at.Segment] = known
		}
		if known[id] == 0 {
			known[id] = f.label(s.LabelText(id))
		}
		if known[id] != noFile {
			out = append(out, int(known[id])-1)
		}
	}
	return out
}

// label returns the number of a label, in the form of known.
func (f *filesOf) label(text string) int32 {
	file, isAnchor := strings.CutPrefix(text, labelAnchor)
	if !isAnchor {
		glob, isPath := strings.CutPrefix(text, labelPath)
		if file = clean(glob); !isPath || file == "" || wild(file[:1]) {
			// A glob of everything is too vague.
			return noFile
		}
	}
	n, met := f.number[file]
	if !met {
		n = len(f.number)
		f.number[file] = n
	}
	return int32(n + 1)
}
