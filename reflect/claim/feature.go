package claim

import "strings"

// Sorts of features. Each is part of the hash, so that one word in two roles is two features.
const (
	fWord uint32 = iota + 1
	fPair
	fTriple
	fForm2
	fForm3
	fForm4
	fSkip
	fFirst
	fFirst2
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
	fManner2
	fManner3
	fMannerPair
	fMannerSkip
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

// features appends the features of a sentence in its message: first those of its content, then
// those of its place. said counts the first.
func (m *vocabulary) features(s *Sentence, list []uint32) (all []uint32, said int) {
	toks := s.tokens
	add := func(sort, h uint32) { list = append(list, mix(sort, h)) }
	flag := func(on bool, f uint32) {
		if on {
			list = append(list, mix(fFlag, f))
		}
	}
	var forms [maxTokens + 2]uint32
	var common [maxTokens]bool
	forms[0] = bos
	for i, t := range toks {
		common[i] = t.shape == mark || m.common(t.hash)
		forms[i+1] = uint32(t.shape)
		if common[i] {
			forms[i+1] = t.hash
		}
	}
	n := len(toks)
	forms[n+1] = eos
	for i, t := range toks {
		add(fWord, t.hash)
		if i > 0 {
			add(fPair, mix(toks[i-1].hash, t.hash))
		}
		if t.shape == han && i > 1 {
			add(fTriple, mix(mix(toks[i-2].hash, toks[i-1].hash), t.hash))
		}
		if w := s.text[t.start:t.end]; t.shape <= capital && len(w) > 4 {
			w = strings.ToLower(w)
			add(fHead, hashOf(cutRunes(w, 4)))
			add(fTail, hashOf(w[len(w)-3:]))
		}
		if t.shape >= symbol && t.shape <= quoted {
			add(fShape, uint32(t.shape))
		}
		if common[i] {
			for j, seen := i+1, 0; j < n && seen < 6; j++ {
				if common[j] {
					add(fSkip, mix(t.hash, toks[j].hash))
					seen++
				}
			}
		}
	}
	for i := 0; i+1 < n+2; i++ {
		pair := mix(forms[i], forms[i+1])
		add(fForm2, pair)
		if i+2 < n+2 {
			triple := mix(pair, forms[i+2])
			add(fForm3, triple)
			if i+3 < n+2 {
				add(fForm4, mix(triple, forms[i+3]))
			}
		}
	}
	if n > 0 {
		add(fFirst, toks[0].hash)
		add(fFirst2, mix(forms[1], forms[2]))
		add(fLast, toks[n-1].hash)
	}
	list = mannerFeatures(toks, &common, list)
	flag(s.asks(), isQuestion)
	flag(strings.ContainsAny(s.text, ":：—–"), hasColon)
	flag(strings.ContainsAny(s.text, ",，、"), hasComma)
	flag(strings.ContainsAny(s.text, "(（"), hasBracket)
	flag(strings.ContainsAny(s.text, "!！"), hasExclamation)
	flag(s.open, endsOpen)
	step := uint32(0)
	for k := n; k > 2 && step < 8; k = k * 3 / 4 {
		step++
	}
	flag(true, lengthAt+step)
	said = len(list)

	flag(s.item, isItem)
	flag(s.count > 8, ofMany)
	size := s.message.size
	flag(size >= 1200, inLong)
	flag(s.message.blocks > 3, inBlocks)
	flag(s.message.symbols > 5, inSymbols)
	flag(s.message.hearsay, inHearsay)
	add(fMessage, s.message.manner())
	if p := s.before; p != nil && len(p.tokens) > 0 {
		add(fBefore, p.tokens[0].hash)
		flag(p.asks(), wasQuestion)
	}
	if p := s.after; p != nil && len(p.tokens) > 0 {
		add(fAfter, p.tokens[0].hash)
		flag(p.asks(), nextQuestion)
	}
	for _, h := range s.heading {
		add(fHeading, h)
	}
	if s.index > 0 && s.message.opening != 0 {
		add(fOpening, s.message.opening)
	}
	return list, said
}

// mannerFeatures appends features for a sentence's manners, their combinations and their order.
func mannerFeatures(toks []token, common *[maxTokens]bool, list []uint32) []uint32 {
	known := manners()
	var has uint32
	var order [maxTokens + 2]uint32
	order[0] = bos
	n := 1
	last := none
	for i, t := range toks {
		m := known[t.hash]
		if m != none {
			if has&(1<<m) == 0 {
				list = append(list, mix(fManner, uint32(m)))
			}
			has |= 1 << m
			if last != none {
				list = append(list, mix(fMannerSkip, mix(uint32(last), uint32(m))))
			}
			last = m
			order[n] = 1000 + uint32(m)
		} else {
			order[n] = uint32(t.shape)
			if common[i] {
				order[n] = t.hash
			}
		}
		n++
	}
	order[n] = eos
	for i := range n {
		pair := mix(order[i], order[i+1])
		list = append(list, mix(fManner2, pair))
		if i+2 <= n {
			list = append(list, mix(fManner3, mix(pair, order[i+2])))
		}
	}
	for a := modal; a <= existing; a++ {
		for b := a + 1; b <= existing && has&(1<<a) != 0; b++ {
			if has&(1<<b) != 0 {
				list = append(list, mix(fMannerPair, mix(uint32(a), uint32(b))))
			}
		}
	}
	return list
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
