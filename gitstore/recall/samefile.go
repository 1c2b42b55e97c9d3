package recall

import "strings"

// Memories about one file tend to answer one question (the cluster hypothesis: van Rijsbergen, Information Retrieval, 1979, chapter 3):
// one that says it in other words, or in fewer, stands beside one that says it in the words of the query.
//
// So a memory is raised towards the best that is about one of the same files. It is never raised above that one, and nothing is
// lowered: a memory that is about no file only lets those pass which a better one speaks for. Only one counts, for many files
// say no more than one, and those of a large change would have the best mates by chance.

// sameFile gives each candidate its part of the score of the best one about the same file, among those that rank by their words.
func (r *ranking) sameFile(all []candidate) {
	var (
		best  []float32 // score of each file, in the order of number
		files = filesOf{ranking: r, number: map[string]int{}, known: make([]map[uint32]int, len(r.segments))}
	)
	for _, c := range all[:min(depth, len(all))] { // the best come first
		for _, n := range files.of(c.Ref) {
			if n == len(best) {
				best = append(best, r.first(c.at))
			}
		}
	}
	for i := range all {
		c := &all[i]
		own, most := r.first(c.at), float32(0)
		for _, n := range files.of(c.Ref) {
			if n < len(best) {
				most = max(most, best[n])
			}
		}
		if most > own {
			c.Parts.SameFile = fileShare * float64(most-own)
		}
	}
}

// filesOf numbers the files and globs that documents are about or rest on, in the order in which they are met.
type filesOf struct {
	*ranking
	number map[string]int
	known  []map[uint32]int // of each segment, by label: its number, noFile
	ids    []uint32
	out    []int
}

const noFile = -1

// of are the numbers of a document's files. It is good until the next.
func (f *filesOf) of(at Ref) []int {
	s := f.segments[at.Segment]
	f.ids, f.out = s.Labels(at.Doc, f.ids[:0]), f.out[:0]
	if f.known[at.Segment] == nil {
		f.known[at.Segment] = map[uint32]int{}
	}
	for _, id := range f.ids[:min(len(f.ids), maxLabels)] {
		n, known := f.known[at.Segment][id]
		if !known {
			n = f.label(s.LabelText(id))
			f.known[at.Segment][id] = n
		}
		if n != noFile {
			f.out = append(f.out, n)
		}
	}
	return f.out
}

func (f *filesOf) label(text string) int {
	file, isAnchor := strings.CutPrefix(text, labelAnchor)
	if !isAnchor {
		glob, isPath := strings.CutPrefix(text, labelPath)
		if !isPath || len(Root(glob)) < 2 { // as about has it: a glob of everything says too little
			return noFile
		}
		file = clean(glob)
	}
	n, met := f.number[file]
	if !met {
		n = len(f.number)
		f.number[file] = n
	}
	return n
}
