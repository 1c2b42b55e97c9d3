package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// The index stores the properties for a Filter as labels. It skips retired memories, but keeps
// those that will expire.

// privateMark follows the id of a private memory in its key.
const privateMark = "+"

// givenMark ends the key of an older version that agents get.
const givenMark = "="

// isPrivate reports whether a key belongs to a private memory.
func isPrivate(key string) bool {
	return strings.HasSuffix(strings.TrimSuffix(key, givenMark), privateMark)
}

func keyOf(id string, private bool) string {
	if private {
		return id + privateMark
	}
	return id
}

// Document adds the data for searches to the document of a memory.
func Document(a *terms.Analyzer, d catalog.Doc, m record.Memory) catalog.Doc {
	d.Indexed, d.Kind, d.Tokens, d.Labels = true, KindNumber(m.Kind), Tokens(a, m), []string{labelBy + m.Source.By}
	if m.Source.Session() != "" {
		d.Group = m.Source.By
	}
	if !m.Source.Time.IsZero() {
		d.Time = since1970(m.Source.Time)
	}
	if !m.Expires.IsZero() {
		d.Expires = since1970(m.Expires)
		d.Labels = append(d.Labels, mayExpire)
	}
	for _, p := range m.Paths {
		d.Labels = append(d.Labels, labelPath+p)
	}
	for _, text := range m.Anchors {
		if a, err := record.ParseAnchor(text); err == nil { // a person may have written anything
			d.Labels = append(d.Labels, labelAnchor+a.Path)
		}
	}
	for _, t := range m.Tags {
		d.Labels = append(d.Labels, labelTag+t)
	}
	return d
}

// since1970 returns a time in seconds since 1970. The index has no earlier time, and 0 means none.
func since1970(t time.Time) int64 { return max(1, t.Unix()) }

// maxChanges bounds the changes that are applied one by one: comparing all files of 10,000 memories
// costs about as much as 50 changes.
const maxChanges = 64

// Limits bound the cost of bringing an index to a view.
type Limits struct {
	Docs int // documents to index, and documents to rewrite for few segments; 0 for no limit
}

// allow returns an error wrapping ErrBehind if more documents are to be indexed.
func (l Limits) allow(docs int) error {
	if l.Docs > 0 && docs > l.Docs {
		return fmt.Errorf("%w: %d documents", ErrBehind, docs)
	}
	return nil
}

// BringTo returns the index for a view. Its Notes list unreadable files of memories. If git has
// lost some, the index holds the others in memory only, because the store may be repaired. Errors
// are those of ctx and ErrBehind. Close both indexes.
func (x *Index) BringTo(ctx context.Context, v *record.View, limit Limits) (*Index, error) {
	return x.BringToBoth(ctx, v, v, limit)
}

// BringToBoth is BringTo for a view and its view for agents, which may be the same. Only selects
// the latter's documents.
func (x *Index) BringToBoth(ctx context.Context, v, given *record.View, limit Limits) (*Index, error) {
	c := x.catalog
	if c.Key == given.Key() && c.Analysis == analysis() && c.Err() == nil {
		return of(c.Share()), nil
	}
	from := c
	for n, step := range []func(context.Context, *catalog.Change, *record.View, *record.View, Limits) (catalog.State, error){follow, compare, compare} {
		if n > 0 && from.Err() == nil {
			v.Files() // reading them may have written to the catalog
			from = c.Again()
			defer from.Close()
		}
		if v.Damage() != nil {
			from = from.InMemory()
			defer from.Close()
		}
		ch := from.Change(terms.Grams)
		state, err := step(ctx, ch, v, given, limit)
		var y *catalog.Catalog
		if err == nil {
			y, err = ch.Commit(ctx, state, limit.Docs)
		}
		if err == nil {
			return of(y), nil
		}
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, errElsewise) {
			return nil, err
		}
	}
	return nil, cmp.Or(v.Damage(), c.Err(), error(ErrCorrupt))
}

// errElsewise makes BringToBoth try its next method.
var errElsewise = errors.New("the index is to be brought up to date otherwise")

// follow applies the changes since the previous state.
func follow(_ context.Context, ch *catalog.Change, _, given *record.View, limit Limits) (catalog.State, error) {
	state := record.StateOf(given)
	state.Analysis = analysis()
	if c := ch.Before(); len(ch.Segments) == 0 || len(c.Notes) > 0 || c.Analysis != state.Analysis {
		// An unreadable file may hide another.
		return state, errElsewise
	}
	changes, ok := given.Since(ch.Before().Key, maxChanges)
	if !ok {
		return state, errElsewise
	}
	for _, c := range changes {
		ch.Remove(keyOf(c.ID, c.Private))
	}
	var a terms.Analyzer
	n := 0
	for _, c := range changes {
		if c.Blob == "" {
			continue
		}
		d := c.Doc()
		if c.Memory.Status != record.Retired {
			d = Document(&a, d, c.Memory)
			n++
		}
		if err := ch.Add(d); err != nil {
			return state, err
		}
	}
	return state, limit.allow(n)
}

// compare applies all differences from the views.
func compare(ctx context.Context, ch *catalog.Change, v, given *record.View, limit Limits) (catalog.State, error) {
	state := record.StateOf(v)
	state.Key, state.Analysis = given.Key(), analysis()
	for _, bad := range v.Bad() {
		state.Notes = append(state.Notes, bad.Error())
	}
	wants := wantsOf(v, given)
	reuse(ch, wants, ch.Before().Analysis == state.Analysis)
	n := 0
	for _, w := range wants {
		if w.index {
			n++
		}
	}
	if err := limit.allow(n); err != nil {
		return state, err
	}
	var a terms.Analyzer
	for _, w := range wants {
		if err := ctx.Err(); err != nil {
			return state, err
		}
		if w.index {
			m := w.view.Memory(w.File)
			if m.ID == "" {
				continue
			}
			w.doc = Document(&a, w.doc, m)
		}
		if err := ch.Add(w.doc); err != nil {
			return state, err
		}
	}
	if v.Damage() != nil && ch.Kept() { // found on the way
		return state, errElsewise
	}
	return state, nil
}

// A want is a document that an index is to have.
type want struct {
	record.Kept
	view  *record.View
	index bool
	doc   catalog.Doc // without the data for searches
}

// wantsOf returns the documents of a view by their keys, and those that its view for agents has in
// place of others.
func wantsOf(v, given *record.View) map[string]want {
	files := v.Files()
	wants := map[string]want{}
	for _, k := range v.Kept() {
		if d, ok := k.Doc(); ok {
			wants[k.Key] = want{k, v, k.File >= 0 && !files[k.File].Retired, d}
		}
	}
	if given == v {
		return wants
	}
	there := make(map[record.File]bool, len(files))
	for _, f := range files {
		there[f] = true
	}
	of := given.Files()
	for _, k := range given.Kept() {
		if k.File < 0 || of[k.File].Retired || there[of[k.File]] {
			continue
		}
		if d, ok := k.Doc(); ok {
			d.Key, d.Flags = keyOf(of[k.File].ID, of[k.File].Private)+givenMark, d.Flags|record.IsGiven
			wants[d.Key] = want{k, given, true, d}
		}
	}
	return wants
}

// reuse keeps the documents of an index that are wanted as they are, and deletes them from wants.
// It removes all others. analysed reports whether the data for searches can be kept.
func reuse(ch *catalog.Change, wants map[string]want, analysed bool) {
	for _, s := range ch.Segments {
		for doc := range s.Len() {
			if !s.Live(doc) {
				continue
			}
			w, ok := wants[s.Key(doc)]
			head, _ := s.Head(doc)
			if ok && head == string(w.doc.Head) && s.Blob(doc) == w.doc.Blob && w.index == s.Indexed(doc) && (!w.index || analysed) {
				delete(wants, w.doc.Key)
			} else {
				s.Remove(doc)
			}
		}
	}
}

// Version is a document of an index for two views.
type Version struct {
	Blob    string // name of its content
	Private bool   // it is of the journal
	Given   bool   // an older version that agents get
}

// Only returns an in-memory index without the documents that keep rejects. They are not found, hide
// no duplicates, and count in no frequency. Close both.
func (x *Index) Only(keep func(Version) bool) *Index {
	y := x.InMemory()
	for _, s := range y.segments {
		for doc := range s.Len() {
			if s.May(doc) {
				key := s.Key(doc)
				if !keep(Version{Blob: s.Blob(doc), Private: isPrivate(key), Given: strings.HasSuffix(key, givenMark)}) {
					s.Remove(doc)
				}
			}
		}
	}
	return y
}

// Of returns an in-memory index of some memories. If several share an id, it has the first.
func Of(memories []record.Memory) (*Index, error) {
	ch := Open("").change()
	var a terms.Analyzer
	seen := map[string]bool{}
	for _, m := range memories {
		if seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		if err := ch.Add(Document(&a, catalog.Doc{Key: keyOf(m.ID, m.Private), Body: record.Pack(m)}, m)); err != nil {
			return nil, err
		}
	}
	c, err := ch.Commit(context.Background(), catalog.State{}, 0)
	if err != nil {
		return nil, err
	}
	return of(c), nil
}

// Memory returns the indexed memory of a document. An error means that the index is damaged.
func (x *Index) Memory(at Ref) (record.Memory, error) {
	s := x.segments[at.Segment]
	body, ok := s.Body(at.Doc)
	m, whole := record.Unpack(body)
	if !ok || !whole {
		return m, fmt.Errorf("memory %s: %w", s.Key(at.Doc), ErrCorrupt)
	}
	m.Private = isPrivate(s.Key(at.Doc))
	for _, j := range slices.Backward(x.joined) {
		if at.Segment >= j.from {
			j.mark(&m)
			break
		}
	}
	return m, nil
}

// IDs returns the ids of the memories that Rank finds for a text, the best first, without folding.
func (x *Index) IDs(text string, n int, keep func(Ref) bool) (ids []string) {
	for _, f := range x.Rank(Request{Text: text, N: n, Apart: true, Keep: keep}) {
		if m, err := x.Memory(f.Ref); err == nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Newest returns at most n documents that keep accepts, newest first; n = 0 sets no limit. It
// answers queries that only filter.
func (x *Index) Newest(n int, keep func(Ref) bool) (out []Found) {
	for k, s := range x.segments {
		for doc := range s.Len() {
			if at := (Ref{k, doc}); s.May(doc) && (keep == nil || keep(at)) {
				out = append(out, Found{Ref: at})
			}
		}
	}
	slices.SortFunc(out, func(a, b Found) int {
		s, t := x.segments[a.Segment], x.segments[b.Segment]
		return cmp.Or(cmp.Compare(t.Time(b.Doc), s.Time(a.Doc)), strings.Compare(s.Key(a.Doc), t.Key(b.Doc)))
	})
	if n > 0 && len(out) > n {
		out = out[:n]
	}
	return out
}

// ByID returns the document of a memory.
func (x *Index) ByID(id string) (Ref, bool) {
	for _, private := range []bool{false, true} {
		for _, mark := range []string{"", givenMark} {
			if at, ok := x.Find(keyOf(id, private) + mark); ok {
				return at, true
			}
		}
	}
	return Ref{}, false
}

// kindOf returns the kind of a number, the reverse of KindNumber.
func kindOf(n uint8) record.Kind {
	if n == 0 || int(n) > len(record.Kinds) {
		return ""
	}
	return record.Kinds[n-1]
}
