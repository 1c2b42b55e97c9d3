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

// Limits are what Bring may cost.
type Limits struct {
	// Docs is how many documents may be loaded, and how many may be written once more to keep the segments few. 0: as many
	// as there are.
	Docs int
}

// Bring is the index for a state: x with what its entries, which are sorted by Key, have more, without what they have less. load gives the document of an
// entry; it is called for those that x does not have with that Blob. x stays as it is: both are to be closed.
//
// Where x has a folder, the result is in it when Bring returns, unless Unkept says why not. Errors are those of load and ctx, ErrBehind, and
// entries that are not sorted.
func (x *Index) Bring(ctx context.Context, to State, entries []Entry, limit Limits, load func(i int) (segment.Doc, error)) (*Index, error) {
	if x.Err() == nil && to.Key == x.state.Key && to.Key != "" {
		return x.with(x.state, x.shared()), nil
	}
	for i := 1; i < len(entries); i++ {
		if entries[i-1].Key >= entries[i].Key {
			return nil, fmt.Errorf("bring the index to %s: entry %q does not stand behind %q", to.Key, entries[i].Key, entries[i-1].Key)
		}
	}
	old := x.shared()
	defer func() {
		for _, s := range old { // what went into the result was taken out
			if s != nil {
				s.part.close()
			}
		}
	}()
	added := compare(old, entries)
	for _, s := range old {
		if s.Err() != nil { // then nothing of it is believed
			added = compare(nil, entries)
			for i, s := range old {
				s.part.close()
				old[i] = nil
			}
			break
		}
	}
	if limit.Docs > 0 && len(added) > limit.Docs {
		return nil, fmt.Errorf("%w: %d documents", ErrBehind, len(added))
	}
	merged := choose(old, len(added), limit)
	b := segment.Builder{Grams: x.analysis.Grams}
	for _, i := range added {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := load(i)
		if err != nil {
			return nil, err
		}
		d.Key, d.Blob = entries[i].Key, entries[i].Blob
		if err := b.Add(d); err != nil {
			return nil, err
		}
	}
	for _, i := range merged {
		if err := old[i].copyTo(ctx, &b); errors.Is(err, segment.ErrCorrupt) {
			fresh := x.with(State{}, nil)
			defer fresh.Close()
			return fresh.Bring(ctx, to, entries, limit, load)
		} else if err != nil {
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
	return y, nil
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
		if err := b.Add(d); err != nil {
			return err
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
		if info, err := x.folder.root.Lstat(n.name); err != nil || info.Size() != n.size { // new, or somebody took it away
			x.unkept = errors.Join(x.unkept, x.folder.put(n.name, s.Bytes()))
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
