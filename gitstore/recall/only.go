package recall

import "strings"

// Only is the index as if the documents that keep refuses had never been brought to it: they are not found, hide none that says the
// same, and count in no frequency. keep is asked for the name of each content, and whether it is of the journal. The new index is kept
// nowhere, and both are to be closed.
func (x *Index) Only(keep func(blob string, private bool) bool) *Index {
	y := x.InMemory()
	for _, s := range y.segments {
		for e := s.Entries(); e.Next(); {
			if s.Live(e.Doc) && !keep(s.Blob(e.Doc), strings.HasSuffix(string(e.Key()), privateMark)) {
				s.remove(e.Doc)
			}
		}
	}
	return y
}
