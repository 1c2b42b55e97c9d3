package recall

import "strings"

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
