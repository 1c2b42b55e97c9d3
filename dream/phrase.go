package dream

import (
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
)

// phrase is a statement in comparable form.
type phrase struct {
	text  string
	print record.Fingerprint
}

func phraseOf(text string) phrase { return phrase{text, record.Print(text)} }

// Shares of common words below which two statements are not compared: they can neither say the same
// nor be about one thing.
const (
	minSame    = 0.3
	minOpposed = 0.1
)

// same reports whether two statements say the same.
func (p phrase) same(q phrase) bool {
	if p.text == q.text {
		return true
	}
	if p.print.Alike(q.print) < minSame {
		return false
	}
	a, b := wording.Read(p.text), wording.Read(q.text)
	return a.Same(b) || p.print.Same(q.print) && (p.print.Alike(q.print) == 1 || a.SameValues(b))
}

// opposes reports whether two statements cannot both hold.
func (p phrase) opposes(q phrase) bool {
	return p.print.Alike(q.print) >= minOpposed && !p.same(q) && wording.Read(p.text).Opposes(wording.Read(q.text))
}

// covers reports whether a statement says in general what another says for one place or case.
func (p phrase) covers(q phrase) bool {
	return p.print.Alike(q.print) >= minSame && wording.Read(p.text).Covers(wording.Read(q.text))
}
