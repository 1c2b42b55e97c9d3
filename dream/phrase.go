package dream

import (
	"sync"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
)

// phrase is a statement in comparable form. It is read at most once, since reading costs far more
// than a comparison.
type phrase struct {
	text    string
	print   record.Fingerprint
	reading func() wording.Reading
}

func phraseOf(text string) phrase {
	return phrase{text, record.Print(text), sync.OnceValue(func() wording.Reading { return wording.Read(text) })}
}

// minOpposed is the share of common words below which two statements are not about one thing.
const minOpposed = 0.1

// same reports whether two statements say the same.
func (p phrase) same(q phrase) bool { return p.text == q.text || p.print.Same(q.print) }

// near reports whether two different statements share enough words to be about one thing.
func (p phrase) near(q phrase) bool { return p.print.Alike(q.print) >= minOpposed && !p.same(q) }

// opposes reports whether two statements cannot both hold.
func (p phrase) opposes(q phrase) bool { return p.near(q) && p.reading().Opposes(q.reading()) }

// replaces reports whether two statements are opposed about one subject.
func (p phrase) replaces(q phrase) bool { return p.near(q) && p.reading().Replaces(q.reading()) }

// covers reports whether a statement says in general what another says for one place.
func (p phrase) covers(q phrase) bool {
	return p.print.Within(q.print) && p.reading().Covers(q.reading())
}
