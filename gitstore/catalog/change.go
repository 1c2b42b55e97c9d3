package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrBehind is returned if a catalog cannot be brought to a state within a limit.
var ErrBehind = errors.New("too much has changed to index it now")

const (
	maxSegments = 9 // one large and eight small
	maxGone     = 5 // a segment is rewritten once one document in so many is removed
)

// Change collects changes of a catalog. It is for one goroutine.
type Change struct {
	Segments []*Segment // of the previous catalog, to Remove documents from
	base     *Catalog
	b        builder
}

// Change begins a change of the catalog, from nothing if it is damaged. split returns the grams of
// a term; nil means none.
func (c *Catalog) Change(split func(term string) []string) *Change {
	ch := &Change{base: c, b: builder{split: split}}
	if c.Err() == nil {
		ch.Segments = c.shared()
	}
	return ch
}

// Before returns the previous state.
func (ch *Change) Before() State { return ch.base.State }

// Remove removes the document with a key, if it exists.
func (ch *Change) Remove(key string) {
	for _, s := range ch.Segments {
		if doc, ok := s.Find(key); ok && s.Live(doc) {
			s.Remove(doc)
		}
	}
}

// Add adds a document with a new key.
func (ch *Change) Add(d Doc) error { return ch.b.add(d) }

// Commit returns the changed catalog at a state, and writes it to the file unless Unkept gives a
// reason. It rewrites at most limit documents to keep the segments few; 0 means no limit. The error
// wraps ErrCorrupt if the previous catalog was damaged, and ErrBehind if removing purged text needs
// more than limit documents. Otherwise it is that of ctx.
func (ch *Change) Commit(ctx context.Context, to State, limit int) (*Catalog, error) {
	purged := to.Purged != ch.base.Purged
	merged := choose(ch.Segments, len(ch.b.docs), limit)
	for i, s := range ch.Segments {
		if purged && s.gone > 0 && s.gone < s.docs && !slices.Contains(merged, i) {
			if limit > 0 && s.docs-s.gone > limit {
				return nil, fmt.Errorf("%w: %d documents beside one that was purged", ErrBehind, s.docs-s.gone)
			}
			merged = append(merged, i)
		}
	}
	var positions []Position
	var tokens []Token
	for _, i := range merged {
		s := ch.Segments[i]
		for doc := range s.docs {
			if !s.Live(doc) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			err := ch.b.add(s.doc(doc, &positions, &tokens))
			if err = cmp.Or(s.Err(), err); err != nil {
				return nil, errors.Join(ErrCorrupt, err)
			}
		}
	}
	y := ch.base.with(to)
	for i, s := range ch.Segments {
		if !slices.Contains(merged, i) && s.gone < s.docs {
			y.Segments = append(y.Segments, s)
		}
	}
	if err := y.Err(); err != nil {
		y.Close()
		return nil, err
	}
	if len(ch.b.docs) > 0 {
		data, err := ch.b.bytes()
		if err != nil {
			y.Close()
			return nil, err
		}
		made, _ := openSegment(nil, 0, 0, data)
		y.Segments = append(y.Segments, made)
	}
	y, y.unkept = y.kept(purged)
	return y, nil
}

// kept writes a catalog to its file, if it has one. The error says why the file lacks it.
func (c *Catalog) kept(whole bool) (*Catalog, error) {
	if c.path == "" || c.file == nil {
		return c, c.unkept
	}
	y, err := c.keep(whole)
	if err != nil {
		err = fmt.Errorf("keep the catalog: %w", err)
	}
	return y, err
}

// choose selects the segments to merge with the n new documents: any that has lost many documents.
// If there are too many segments, it adds the smallest, and each that is no larger than the sum so
// far. So a document is rewritten about as often as the number of documents doubles.
func choose(segments []*Segment, n, limit int) (merged []int) {
	var rest []int
	taken := n
	size := func(i int) int { return segments[i].docs - segments[i].gone }
	fits := func(i int) bool { return limit == 0 || taken+size(i) <= limit }
	for i, s := range segments {
		switch {
		case s.gone == s.docs:
		case s.gone*maxGone > s.docs && fits(i):
			merged = append(merged, i)
			taken += size(i)
		default:
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(i, j int) int { return cmp.Compare(size(i), size(j)) })
	if many := len(rest) + min(taken, 1); many > maxSegments {
		for k, i := range rest {
			if !fits(i) || many-k <= maxSegments && size(i) > taken {
				break
			}
			merged = append(merged, i)
			taken += size(i)
		}
	}
	return merged
}

// Kept reports whether Commit writes to a file, as far as is known.
func (ch *Change) Kept() bool { return ch.base.Kept() }
