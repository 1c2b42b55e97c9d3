package recall

import "strings"

// Version is a document of an index that was brought to two views.
type Version struct {
	Blob    string // name of its content
	Private bool   // it is of the journal
	Given   bool   // agents are given it, and it is not the newest
}

// Only is the index as if the documents that keep refuses had never been brought to it: they are not found, hide none that says the
// same, and count in no frequency. The new index is kept
// nowhere, and both are to be closed.
func (x *Index) Only(keep func(Version) bool) *Index {
	y := x.InMemory()
	for _, s := range y.segments {
		for e := s.Entries(); e.Next(); {
			if s.Live(e.Doc) && !keep(versionOf(string(e.Key()), s.Blob(e.Doc))) {
				s.remove(e.Doc)
			}
		}
	}
	return y
}

func versionOf(key, blob string) Version {
	return Version{Blob: blob, Private: isPrivate(key), Given: strings.HasSuffix(key, givenMark)}
}
