package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// errAbsent is returned by load for a document that is not there after all: it is left out.
var errAbsent = errors.New("no such document")

// Limits are what Bring may cost.
type Limits struct {
	// Docs is how many documents may be loaded, and how many may be written once more to keep the segments few. 0: as many
	// as there are.
	Docs int

	// rid reports of a document that is gone that its segment is written once more without it, whatever Docs says; nil: of none.
	rid func(key, blob string) bool
}

// Bring is the index for a state: x with what its entries, which are sorted by Key, have more, without what they have less. load gives the document of an
// entry; it is called for those that x does not have with that Blob. x stays as it is: both are to be closed.
//
// Where x has a folder, the result is in it when Bring returns, unless Unkept says why not. A document that a segment does not take
// is left out, and a note of the result's State says why. Errors are those of load and ctx, ErrBehind, and entries that are not sorted.
func (x *Index) Bring(ctx context.Context, to State, entries []Entry, limit Limits, load func(i int) (segment.Doc, error)) (*Index, error) {
	if x.Err() == nil && to.Key == x.state.Key && to.Key != "" {
		return x.with(x.state, x.shared()), nil
	}
	for i := 1; i < len(entries); i++ {
		if entries[i-1].Key >= entries[i].Key {
			return nil, fmt.Errorf("bring the index to %s: entry %q does not stand behind %q", to.Key, entries[i].Key, entries[i-1].Key)
		}
	}
	var old []*Segment
	if x.Err() == nil {
		old = x.shared()
	}
	added := compare(old, entries)
	for _, s := range old {
		if s.Err() != nil { // then nothing of it is believed
			closeAll(old)
			old, added = nil, compare(nil, entries)
			break
		}
	}
	y, err := x.assemble(ctx, to, old, len(added), limit, func(n int) (segment.Doc, error) {
		d, err := load(added[n])
		d.Key, d.Blob = entries[added[n]].Key, entries[added[n]].Blob
		return d, err
	})
	if errors.Is(err, segment.ErrCorrupt) && len(old) > 0 {
		fresh := x.with(State{}, nil)
		defer fresh.Close()
		return fresh.Bring(ctx, to, entries, limit, load)
	}
	return y, err
}

// Apply is Bring where it is known what differs: the documents with the keys in gone are there no more, and those in added are new, or take
// the place of one with their key. Its cost is that of the difference. The error wraps segment.ErrCorrupt where x is spoilt.
func (x *Index) Apply(ctx context.Context, to State, gone []string, added []segment.Doc, limit Limits) (*Index, error) {
	if err := x.Err(); err != nil {
		return nil, err
	}
	old := x.shared()
	remove := func(key string) {
		for _, s := range old {
			if doc, ok := s.Find(key); ok && s.Live(doc) {
				s.remove(doc)
			}
		}
	}
	for _, key := range gone {
		remove(key)
	}
	for _, d := range added {
		remove(d.Key)
	}
	for _, s := range old {
		if err := s.Err(); err != nil {
			closeAll(old)
			return nil, err
		}
	}
	return x.assemble(ctx, to, old, len(added), limit, func(n int) (segment.Doc, error) { return added[n], nil })
}

func closeAll(segments []*Segment) {
	for _, s := range segments {
		if s != nil {
			s.part.close()
		}
	}
}

// assemble is an index of the segments old, which it takes over, and n documents more.
func (x *Index) assemble(ctx context.Context, to State, old []*Segment, n int, limit Limits, load func(n int) (segment.Doc, error)) (*Index, error) {
	defer func() { closeAll(old) }() // what went into the result was taken out
	if limit.Docs > 0 && n > limit.Docs {
		return nil, fmt.Errorf("%w: %d documents", ErrBehind, n)
	}
	merged := choose(old, n, limit)
	var purged []string
	for i, s := range old {
		if limit.rids(s) {
			if !slices.Contains(merged, i) && s.gone < s.Len() {
				if limit.Docs > 0 && s.totals.Docs > limit.Docs {
					return nil, fmt.Errorf("%w: %d documents beside one that was purged", ErrBehind, s.totals.Docs)
				}
				merged = append(merged, i)
			}
			purged = append(purged, s.part.name)
		}
	}
	b := segment.Builder{Grams: x.analysis.Grams}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := load(i)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := b.Add(d); err != nil { // anybody may have written it
			to.Notes = append(slices.Clip(to.Notes), err.Error())
		}
	}
	for _, i := range merged {
		if err := old[i].copyTo(ctx, &b); err != nil {
			return nil, err
		}
	}
	y := x.with(to, nil)
	for i, s := range old {
		if s != nil && !slices.Contains(merged, i) && s.gone < s.Len() {
			y.segments, old[i] = append(y.segments, s), nil
		}
	}
	if b.Len() > 0 {
		data, err := b.Bytes()
		if err == nil {
			var r *segment.Reader
			if r, err = segment.Open(data); err == nil {
				y.segments = append(y.segments, newSegment(newPart(r, segmentName(data)), nil))
			}
		}
		if err != nil {
			y.Close()
			return nil, err
		}
	}
	y.keep()
	if y.folder != nil && y.unkept == nil {
		for _, name := range purged { // without the time of grace: who reads the old manifest looks again
			y.folder.root.Remove(name)
		}
	}
	return y, nil
}

// rids reports whether a segment has a document that its file may not have any more.
func (l Limits) rids(s *Segment) bool {
	if l.rid == nil || s == nil || s.gone == 0 {
		return false
	}
	for doc := range s.Len() {
		if !s.Live(doc) && l.rid(s.Key(doc), s.Blob(doc)) {
			return true
		}
	}
	return false
}

// with is an index of the same folder.
func (x *Index) with(state State, segments []*Segment) *Index {
	return &Index{analysis: x.analysis, folder: x.folder.share(), state: state, segments: segments, unkept: x.unkept}
}

func (x *Index) shared() (all []*Segment) {
	for _, s := range x.segments {
		all = append(all, s.share())
	}
	return all
}

// compare removes from the segments what the entries do not have, and gives the entries that the segments do not have.
func compare(segments []*Segment, entries []Entry) (added []int) {
	have := make([]bool, len(entries))
	for _, s := range segments {
		few := s.Len() < len(entries)/16
		i := 0
		for e := s.Entries(); e.Next(); {
			if !s.Live(e.Doc) {
				continue
			}
			if few {
				i, _ = slices.BinarySearchFunc(entries, e.Key(), func(x Entry, key []byte) int { return strings.Compare(x.Key, string(key)) })
			} else {
				if i < len(entries) && have[i] {
					i++
				}
				for i < len(entries) && entries[i].Key != string(e.Key()) && entries[i].Key < string(e.Key()) { // most are the same
					i++
				}
			}
			if i < len(entries) && !have[i] && entries[i].Key == string(e.Key()) && e.Same(entries[i].Blob) {
				have[i] = true
			} else {
				s.remove(e.Doc)
			}
		}
	}
	for i := range entries {
		if !have[i] {
			added = append(added, i)
		}
	}
	return added
}

const (
	maxSegments = 9 // one large and eight small
	maxGone     = 5 // a segment is written anew when one document of so many is gone
)

// choose says which segments are written once more, into one with the n new documents: those with many that are gone; and when there are too
// many, the smallest, with each that is no larger than what is taken before it. So a document is written again about as often as the
// number of documents doubles.
func choose(segments []*Segment, n int, limit Limits) (merged []int) {
	var rest []int
	taken := n
	fits := func(s *Segment) bool { return limit.Docs == 0 || taken+s.totals.Docs <= limit.Docs }
	for i, s := range segments {
		switch {
		case s == nil || s.gone == s.Len():
		case s.gone*maxGone > s.Len() && fits(s):
			merged = append(merged, i)
			taken += s.totals.Docs
		default:
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(i, j int) int { return cmp.Compare(segments[i].totals.Docs, segments[j].totals.Docs) })
	if many := len(rest) + min(taken, 1); many > maxSegments {
		for k, i := range rest {
			s := segments[i]
			if !fits(s) || many-k <= maxSegments && s.totals.Docs > taken {
				break
			}
			merged = append(merged, i)
			taken += s.totals.Docs
		}
	}
	return merged
}

// copyTo adds the documents that are there to a builder.
func (s *Segment) copyTo(ctx context.Context, b *segment.Builder) error {
	copier := segment.NewCopier(s.Reader)
	var tokens []segment.Token
	for doc := range s.Len() {
		if !s.Live(doc) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := copier.Doc(doc, tokens[:0])
		if err != nil {
			return err
		}
		tokens = d.Tokens
		if err := b.Add(d); err != nil { // it was taken before
			return errors.Join(segment.ErrCorrupt, err)
		}
	}
	return s.Err()
}

// keep writes the index to its folder.
func (x *Index) keep() {
	if x.folder == nil {
		return
	}
	m := manifest{version: x.analysis.Version, state: x.state}
	x.unkept = nil
	for _, s := range x.segments {
		n := named{s.part.name, int64(s.Size()), s.Sum(), s.deadDocs()}
		if !s.part.isIn(x.folder) { // new, or somebody took it away, or one of its name could not be opened
			file, err := x.folder.put(n.name, s.Bytes())
			if x.unkept = errors.Join(x.unkept, err); err == nil {
				s.part.file.Store(&file)
			}
		}
		m.segments = append(m.segments, n)
	}
	if x.unkept == nil {
		x.unkept = x.folder.keep(m)
	}
	if x.unkept != nil {
		x.unkept = fmt.Errorf("keep the index: %w", x.unkept)
	}
}
