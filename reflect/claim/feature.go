package claim

import "strings"

// Sorts of features. Each is part of the hash, so that one word in two roles is two features.
const (
	fWord uint32 = iota + 1
	fPair
	fTriple
	fForm2
	fForm3
	fFirst
	fLast
	fHead
	fTail
	fShape
	fFlag
	fBefore
	fAfter
	fHeading
	fOpening
	fManner
	fMannerPair
	fMannerNext
	fMessage
)

// Flags of shape and place, each a feature.
const (
	isQuestion uint32 = iota
	wasQuestion
	nextQuestion
	isItem
	hasColon
	hasComma
	hasBracket
	hasExclamation
	endsOpen
	ofMany
	inLong
	inBlocks
	inSymbols
	inHearsay
	lengthAt // plus the length in steps
)

const bos, eos = 0x5bd1e995, 0x1b873593

// A bag collects the features of a sentence.
type bag []uint32

func (b *bag) add(sort, h uint32) { *b = append(*b, mix(sort, h)) }

func (b *bag) flag(on bool, f uint32) {
	if on {
		b.add(fFlag, f)
	}
}

// features appends the features of a sentence in its message: first those of its content, then
// those of its place. said counts the first.
func (m *vocabulary) features(s *Sentence, list []uint32) (all []uint32, said int) {
	b := bag(list)
	b.words(s)
	b.forms(m, s.tokens)
	b.manners(s.tokens)
	b.shape(s)
	said = len(b)
	b.place(s)
	return b, said
}

// words adds the words, their pairs, parts and shapes.
func (b *bag) words(s *Sentence) {
	toks := s.tokens
	for i, t := range toks {
		b.add(fWord, t.hash)
		if i > 0 {
			b.add(fPair, mix(toks[i-1].hash, t.hash))
		}
		if t.shape == han && i > 1 {
			b.add(fTriple, mix(mix(toks[i-2].hash, toks[i-1].hash), t.hash))
		}
		if w := s.text[t.start:t.end]; t.shape <= capital && len(w) > 4 {
			w = strings.ToLower(w)
			b.add(fHead, hashOf(cutRunes(w, 4)))
			b.add(fTail, hashOf(w[len(w)-3:]))
		}
		if t.shape >= symbol && t.shape <= quoted {
			b.add(fShape, uint32(t.shape))
		}
	}
}

// forms adds the first and the last word, and pairs and triples of neighbours in which a rare word
// counts by its shape alone.
func (b *bag) forms(m *vocabulary, toks []token) {
	before, last := uint32(bos), uint32(bos)
	add := func(form uint32) {
		pair := mix(last, form)
		b.add(fForm2, pair)
		b.add(fForm3, mix(before, pair))
		before, last = last, form
	}
	for _, t := range toks {
		form := uint32(t.shape)
		if t.shape == mark || m.common(t.hash) {
			form = t.hash
		}
		add(form)
	}
	add(eos)
	if n := len(toks); n > 0 {
		b.add(fFirst, toks[0].hash)
		b.add(fLast, toks[n-1].hash)
	}
}

// manners adds the manners of the words, in pairs and in their order.
func (b *bag) manners(toks []token) {
	known := manners()
	var has uint32
	last := none
	for _, t := range toks {
		m := known[t.hash]
		if m == none {
			continue
		}
		if has&(1<<m) == 0 {
			b.add(fManner, uint32(m))
		}
		has |= 1 << m
		if last != none {
			b.add(fMannerNext, mix(uint32(last), uint32(m)))
		}
		last = m
	}
	for one := modal; one <= existing; one++ {
		for two := one + 1; two <= existing && has&(1<<one) != 0; two++ {
			if has&(1<<two) != 0 {
				b.add(fMannerPair, mix(uint32(one), uint32(two)))
			}
		}
	}
}

// shape adds the mood, the punctuation and the length.
func (b *bag) shape(s *Sentence) {
	b.flag(s.asks(), isQuestion)
	b.flag(strings.ContainsAny(s.text, ":：—–"), hasColon)
	b.flag(strings.ContainsAny(s.text, ",，、"), hasComma)
	b.flag(strings.ContainsAny(s.text, "(（"), hasBracket)
	b.flag(strings.ContainsAny(s.text, "!！"), hasExclamation)
	b.flag(s.open, endsOpen)
	step := uint32(0)
	for k := len(s.tokens); k > 2 && step < 8; k = k * 3 / 4 {
		step++
	}
	b.flag(true, lengthAt+step)
}

// place adds the message and the neighbours of the sentence.
func (b *bag) place(s *Sentence) {
	b.flag(s.item, isItem)
	b.flag(s.count > 8, ofMany)
	b.flag(s.message.size >= 1200, inLong)
	b.flag(s.message.blocks > 3, inBlocks)
	b.flag(s.message.symbols > 5, inSymbols)
	b.flag(s.message.hearsay, inHearsay)
	b.add(fMessage, s.message.manner())
	if p := s.before; p != nil && len(p.tokens) > 0 {
		b.add(fBefore, p.tokens[0].hash)
		b.flag(p.asks(), wasQuestion)
	}
	if p := s.after; p != nil && len(p.tokens) > 0 {
		b.add(fAfter, p.tokens[0].hash)
		b.flag(p.asks(), nextQuestion)
	}
	for _, h := range s.heading {
		b.add(fHeading, h)
	}
	if s.index > 0 && s.message.opening != 0 {
		b.add(fOpening, s.message.opening)
	}
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
