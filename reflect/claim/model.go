// Package claim finds lasting statements in a person's words to an agent: conventions, constraints,
// decisions, preferences, workflows and facts.
//
// Begin with Read: it takes a message and returns claims, each with a probability. A linear model
// judges every sentence by its words and its form; reflect/train computes the model's weights from
// the labelled text in its folder. Read is safe for concurrent use.
package claim

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/lexicon"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A Claim is a part of a message that states something lasting, in its author's words.
type Claim struct {
	Start, End int     // bytes in the message, without preface and politeness
	From, To   int     // of the whole sentence
	Kind       Kind    // the likeliest
	Keep       float64 // probability that a maintainer wants it kept
	Lasts      bool    // it claims to last or to be general
	Asks       bool    // it is a question
	Pasted     bool    // its message reads like a pasted review or document
	Bound      bool    // to a condition that ends; or an agent may act unasked, or it may be irony
	Leans      bool    // it depends on the previous sentence of its paragraph
	Command    string  // that it announces in its last line, or ""
}

// A Kind is the subject of a claim.
type Kind int

// The kinds, in the order of the model's outputs.
const (
	Convention Kind = iota
	Constraint
	Decision
	Preference
	Workflow
	Fact
	kinds int = iota
)

var kindNames = [kinds]string{"convention", "constraint", "decision", "preference", "workflow", "fact"}

func (k Kind) String() string { return kindNames[k] }

//go:embed weights.bin
var weights string

var shipped = sync.OnceValue(func() *Model {
	m, err := open(weights)
	if err != nil {
		panic("claim: " + err.Error()) // a test reads the same bytes
	}
	return m
})

// Read judges every sentence that the author of a message typed, in order.
func Read(text string) []Claim { return shipped().Read(text) }

// Proposed reports whether a sentence is worth a person's look.
func (c Claim) Proposed() bool { return shipped().proposes(c) }

// May reports whether a sentence states something in its author's words.
func (c Claim) May() bool { return !c.Asks && (c.Lasts || !c.Pasted) }

// Accepted reports whether a sentence may be accepted without review: it claims to last, and the
// model is nearly certain.
func (c Claim) Accepted() bool {
	m := shipped()
	return c.Lasts && c.Keep >= m.accept && !c.Asks && !c.Leans && !c.Pasted && !c.Bound
}

// A Model judges sentences.
type Model struct {
	vocabulary
	keep, manner table // weights of keeping, and of kinds

	keepScale, keepBias     float64
	mannerScale, mannerBias [kinds]float64
	accept                  float64 // threshold of Keep for acceptance without review
	propose, lasting        float64 // thresholds of proposal: without and with a claim to last
}

// vocabulary holds the frequent words of a language, and the usual words around a claim.
type vocabulary struct {
	words, prefaces, closings table
}

func (v *vocabulary) common(hash uint32) bool { return v.words.has(hash) }

// table maps hashes to a fixed number of bytes each, by open addressing.
type table struct {
	slots string // of 4+width bytes: the hash, 0 where free, and the value
	width int
}

func (t *table) find(hash uint32) int {
	size := 4 + t.width
	n := uint32(len(t.slots) / size)
	if n == 0 {
		return -1
	}
	hash = max(hash, 1)
	for i := hash % n; ; i = (i + 1) % n {
		at := int(i) * size
		switch uint32(t.slots[at]) | uint32(t.slots[at+1])<<8 | uint32(t.slots[at+2])<<16 | uint32(t.slots[at+3])<<24 {
		case hash:
			return at + 4
		case 0:
			return -1
		}
	}
}

func (t *table) has(hash uint32) bool { return t.find(hash) >= 0 }

// Read is Read for this model.
func (m *Model) Read(text string) []Claim {
	var out []Claim
	var list []uint32
	for _, s := range Split(text) {
		c, features := m.judge(s, list[:0])
		list = features
		out = append(out, c)
	}
	return out
}

func (m *Model) proposes(c Claim) bool {
	if c.Lasts {
		return c.Keep >= m.lasting && c.May()
	}
	return c.Keep >= m.propose && c.May()
}

func (m *Model) judge(s *Sentence, list []uint32) (Claim, []uint32) {
	list, said := m.features(s, list)
	c := Claim{Start: s.Start, End: s.End, From: s.Start, To: s.End, Asks: s.asks() || Asks(s.text), Pasted: s.message.pasted(), Bound: s.bound(), Leans: leaning.MatchString(s.text), Command: s.given.command}
	sum := 0
	for _, f := range list {
		if at := m.keep.find(f); at >= 0 {
			sum += int(int8(m.keep.slots[at]))
		}
	}
	c.Keep = logistic(m.keepBias + m.keepScale*float64(sum)*norm(len(list)))
	if c.Lasts = s.lasts(); s.remembers() {
		c.Lasts, c.Keep = true, max(c.Keep, m.lasting) // its author says that it is worth keeping
	}
	if writtenDown.MatchString(s.text) {
		c.Lasts, c.Bound = true, true
	}
	if s.open || s.machine() || supposing.MatchString(s.text) && !markPhrase.MatchString(s.text) || s.reports() || !c.Lasts && (s.onlyOrdered() || m.unread(s)) {
		c.Keep = 0 // a heading, not typed, no statement, done when its session is, or in another language
	}
	if !m.proposes(c) {
		return c, list
	}
	var sums [kinds]int
	for _, f := range list[:said] {
		if at := m.manner.find(f); at >= 0 {
			for k := range sums {
				sums[k] += int(int8(m.manner.slots[at+k]))
			}
		}
	}
	best := math.Inf(-1)
	for k := range sums {
		z := m.mannerBias[k] + m.mannerScale[k]*float64(sums[k])*norm(said)
		if Kind(k) == Constraint && (lexicon.Binding.MatchString(s.text) || havingTo.MatchString(s.text)) || Kind(k) == Preference && preferring.MatchString(s.text) {
			z += tellingWeight
		}
		if z > best {
			best, c.Kind = z, Kind(k)
		}
	}
	from, to := m.trim(s)
	if c.Start = s.Start + from; s.given.command == "" {
		c.End = s.Start + to
	}
	return c, list
}

// In the languages of the training text a sentence of 5 words or more usually has a frequent one.
const (
	minWords  = 5 // of a sentence that shows its language
	knownPart = 8 // at least 1 word of 8 is frequent
)

// unread reports whether a sentence is in a language that the model has never read. Its words weigh
// nothing there. Words of Korean have so many endings that they do not tell.
func (v *vocabulary) unread(s *Sentence) bool {
	words, known := 0, 0
	for _, t := range s.tokens {
		if t.shape > shouted && t.shape != han {
			continue
		}
		words++
		if first, _ := utf8.DecodeRuneInString(s.text[t.start:]); v.common(t.hash) || unicode.Is(unicode.Hangul, first) {
			known++
		}
	}
	return words >= minWords && known*knownPart < words
}

// havingTo matches an obligation or a ban that lasts.
var havingTo = pattern.New(`(?i)\b(?:cannot|ha(?:s|ve) to (?:stay|be|keep|remain|work))\b`)

// tellingWeight is the log-odds that a binding word adds to a constraint, and "I prefer" to a
// preference. The voices label these and conventions unevenly; the word decides.
const tellingWeight = 3.0

// Bounds of the text removed from a claim, in tokens.
const (
	maxPreface = 8
	minClaim   = 3
)

// trim returns the part of a sentence without the usual words around a claim.
func (m *vocabulary) trim(s *Sentence) (from, to int) {
	toks := s.tokens
	first, last := 0, len(toks)
	for again := true; again; {
		again = false
		for n := min(maxPreface, last-first-minClaim); n > 0; n-- {
			if m.prefaces.has(sequence(toks[first : first+n])) {
				first += n
				again = true
				break
			}
		}
	}
	for i, t := range toks[first:max(first, min(first+maxPreface, last-minClaim))] {
		if w := s.text[t.start:t.end]; w == ":" || w == "：" {
			first += i + 1 // an announcement
			break
		}
		if t.shape != mark && !m.common(t.hash) {
			break
		}
	}
	for n := min(maxPreface, last-first-minClaim); n > 0; n-- {
		if m.closings.has(sequence(toks[last-n : last])) {
			last -= n
			break
		}
	}
	for _, lead := range []*pattern.Pattern{writtenDown, fromNow, remembering} {
		if at := lead.FindStringIndex(s.text[toks[first].start:]); at != nil {
			for end := toks[first].start + at[1]; first < last-minClaim && toks[first].start < end; {
				first++
			}
		}
	}
	for first < last-minClaim && toks[first].shape == mark && toks[first].end-toks[first].start < 3 && s.text[toks[first].start] != '(' {
		first++
	}
	return toks[first].start, toks[last-1].end
}

// sequence returns the hash of consecutive tokens.
func sequence(toks []token) uint32 {
	h := uint32(1)
	for _, t := range toks {
		h = mix(h, t.hash)
	}
	return h
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// norm keeps long sentences from weighing more than short ones.
func norm(n int) float64 { return 4 / math.Sqrt(float64(max(n, 1))) }

// The file begins with a version number, seven table sizes in slots, and the scales, biases and
// thresholds.
const version = 0x52434c31

func open(file string) (*Model, error) {
	d := decoder{rest: file}
	if d.uint32() != version {
		return nil, errWeights
	}
	m := &Model{}
	for _, t := range m.tables() {
		t.width = int(d.uint32())
		t.slots = d.bytes(int(d.uint32()) * (4 + t.width))
	}
	for _, f := range m.numbers() {
		*f = float64(math.Float32frombits(d.uint32()))
	}
	if d.short || d.rest != "" || m.keep.width != 1 || m.manner.width != kinds {
		return nil, errWeights
	}
	return m, nil
}

func (m *Model) tables() []*table {
	return []*table{&m.words, &m.prefaces, &m.closings, &m.keep, &m.manner}
}

func (m *Model) numbers() []*float64 {
	list := []*float64{&m.keepScale, &m.keepBias, &m.accept, &m.propose, &m.lasting}
	for k := range kinds {
		list = append(list, &m.mannerScale[k], &m.mannerBias[k])
	}
	return list
}

// Bytes returns the model in the stored form of Read's weights.
func (m *Model) Bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, version)
	for _, t := range m.tables() {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.width))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.slots)/(4+t.width)))
		b = append(b, t.slots...)
	}
	for _, f := range m.numbers() {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(*f)))
	}
	return b
}

// newTable arranges values by hash, with a quarter of the slots free.
func newTable(width int, values map[uint32][]byte) table {
	n := uint32(len(values)*4/3 + 1)
	slots := make([]byte, int(n)*(4+width))
	hashes := make([]uint32, 0, len(values))
	for h := range values {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	for _, h := range hashes {
		key := max(h, 1)
		for i := key % n; ; i = (i + 1) % n {
			at := slots[int(i)*(4+width):]
			if old := binary.LittleEndian.Uint32(at); old == 0 {
				binary.LittleEndian.PutUint32(at, key)
				copy(at[4:4+width], values[h])
				break
			} else if old == key {
				break
			}
		}
	}
	return table{string(slots), width}
}

// ParseKind returns the kind of a name.
func ParseKind(name string) (Kind, bool) {
	k := slices.Index(kindNames[:], name)
	return Kind(k), k >= 0
}

// String describes the thresholds.
func (m *Model) String() string {
	return fmt.Sprintf("accept from %.3f, propose from %.3f, what says that it lasts from %.3f", m.accept, m.propose, m.lasting)
}

var errWeights = errors.New("weights.bin: not the weights that this program reads; run go run ./reflect/train")

// decoder reads numbers and bytes from a text.
type decoder struct {
	rest  string
	short bool // something was missing, and read as zero
}

func (d *decoder) uint32() uint32 {
	b := d.bytes(4)
	if len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32([]byte(b))
}

func (d *decoder) bytes(n int) string {
	if n < 0 || n > len(d.rest) {
		n, d.short = len(d.rest), true
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
