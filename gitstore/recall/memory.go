package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// What the index keeps of a memory beside its terms: all of it, packed, and as labels what a Filter looks at. Retired
// memories are not in it; those that expire are, until it is asked at a time when they have.

// Beginnings of labels.
const (
	labelPath   = "path="
	labelAnchor = "anchor=" // and the path of a file
	labelTag    = "tag="
	labelBy     = "by="
	mayExpire   = "expires" // the whole label
)

// privateMark is behind the id of a memory of the journal, in its key.
const privateMark = "+"

// givenMark is at the end of the key of a version that agents are given and that is not the newest.
const givenMark = "="

// idOf is the id in a key.
func idOf(key string) string { return strings.TrimRight(key, privateMark+givenMark) }

// isPrivate reports whether the memory of a key is of the journal.
func isPrivate(key string) bool {
	return strings.HasSuffix(strings.TrimSuffix(key, givenMark), privateMark)
}

func keyOf(id string, private bool) string {
	if private {
		return id + privateMark
	}
	return id
}

// Document is a memory as it is indexed.
func Document(a *terms.Analyzer, m record.Memory) segment.Doc {
	d := segment.Doc{Stored: record.Pack(m), Kind: KindNumber(m.Kind), Tokens: Tokens(a, m), Labels: []string{labelBy + m.Source.By}}
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

// since1970 are the seconds that a time lies behind the year 1970: the index has none before it, where 0 is no time.
func since1970(t time.Time) int64 { return max(1, t.Unix()) }

// maxChanges is how many changes are taken in one by one: all files of 10,000 memories are compared in the time of some 50.
const maxChanges = 64

// BringTo is the index for a view: Bring for memories. The notes of its State are why files of memories cannot be read, one each. Where
// git has lost some, the index has the others, and is in memory only: it does not hold all that its key says, which may be mended.
func (x *Index) BringTo(ctx context.Context, v *record.View, limit Limits) (*Index, error) {
	return x.BringToBoth(ctx, v, v, limit)
}

// BringToBoth is BringTo for a view and for that of what agents are given of it, which may be the same. What only the latter has is
// apart: Only tells.
func (x *Index) BringToBoth(ctx context.Context, v, given *record.View, limit Limits) (*Index, error) {
	state := State{Key: given.Key()}
	if x.State().Key == state.Key && x.Err() == nil {
		return x.Bring(ctx, state, nil, limit, nil)
	}
	if took := v.Took(); took != nil {
		limit.rid = func(key, blob string) bool { return took(idOf(key), blob) }
	}
	var a terms.Analyzer
	if gone, added, ok := x.since(&a, given); ok {
		if y, err := x.Apply(ctx, state, gone, added, limit); !errors.Is(err, segment.ErrCorrupt) {
			return y, err
		}
	}
	bad := v.Bad()
	if v.Damage() != nil && x.folder != nil {
		x = x.InMemory()
		defer x.Close()
	}
	for _, bad := range bad {
		state.Notes = append(state.Notes, bad.Error())
	}
	var entries []Entry
	var at []source
	there := map[record.File]bool{}
	for i, f := range v.Files() {
		if given != v {
			there[f] = true
		}
		if !f.Retired {
			entries, at = append(entries, Entry{keyOf(f.ID, f.Private), string(f.Blob)}), append(at, source{v, i})
		}
	}
	if given != v {
		for i, f := range given.Files() {
			if !f.Retired && !there[f] {
				entries, at = append(entries, Entry{keyOf(f.ID, f.Private) + givenMark, string(f.Blob)}), append(at, source{given, i})
			}
		}
		order := make([]int, len(entries))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(entries[a].Key, entries[b].Key) })
		was, from := entries, at
		entries, at = make([]Entry, len(was)), make([]source, len(was))
		for i, o := range order {
			entries[i], at[i] = was[o], from[o]
		}
	}
	y, err := x.Bring(ctx, state, entries, limit, func(i int) (segment.Doc, error) {
		m := at[i].view.Memory(at[i].file)
		switch {
		case v.Damage() == nil:
			return Document(&a, m), nil
		case x.folder != nil:
			return segment.Doc{}, v.Damage()
		case m.ID == "":
			return segment.Doc{}, errAbsent
		}
		return Document(&a, m), nil
	})
	if err != nil && v.Damage() != nil && x.folder != nil { // it was found on the way
		return x.BringToBoth(ctx, v, given, limit)
	}
	return y, err
}

// source is a file of a view.
type source struct {
	view *record.View
	file int
}

// since is what became of memories since the state of x; ok is false where that needs a look at all of them.
func (x *Index) since(a *terms.Analyzer, v *record.View) (gone []string, added []segment.Doc, ok bool) {
	if len(x.segments) == 0 || len(x.State().Notes) > 0 { // a file that could not be read may hide another one
		return nil, nil, false
	}
	changes, ok := v.Since(x.State().Key, maxChanges)
	if !ok {
		return nil, nil, false
	}
	for _, c := range changes {
		key := keyOf(c.ID, c.Private)
		if c.Blob == "" || c.Memory.Status == record.Retired {
			gone = append(gone, key)
			continue
		}
		d := Document(a, c.Memory)
		d.Key, d.Blob = key, string(c.Blob)
		added = append(added, d)
	}
	return gone, added, true
}

// Of is an index of some memories, in memory. Of several with one id it has the first.
func Of(memories []record.Memory) (*Index, error) {
	all := slices.Clone(memories)
	slices.SortStableFunc(all, func(a, b record.Memory) int { return strings.Compare(keyOf(a.ID, a.Private), keyOf(b.ID, b.Private)) })
	all = slices.CompactFunc(all, func(a, b record.Memory) bool { return a.ID == b.ID })
	entries := make([]Entry, len(all))
	for i, m := range all {
		entries[i].Key = keyOf(m.ID, m.Private)
	}
	var a terms.Analyzer
	return Open("", MemoryAnalysis()).Bring(context.Background(), State{Key: "memory"}, entries, Limits{}, func(i int) (segment.Doc, error) {
		return Document(&a, all[i]), nil
	})
}

// Memory is the memory that was indexed as a document. With an error the index is spoilt.
func (x *Index) Memory(at Ref) (record.Memory, error) {
	s := x.segments[at.Segment]
	packed, err := s.Stored(at.Doc)
	if err != nil {
		return record.Memory{}, err
	}
	m, ok := record.Unpack(packed)
	if !ok {
		return m, fmt.Errorf("memory %s: %w", s.Key(at.Doc), segment.ErrCorrupt)
	}
	m.Private = isPrivate(s.Key(at.Doc))
	return m, nil
}

// IDs are those of the memories that Rank finds for a text, the best first, each by itself.
func (x *Index) IDs(text string, n int, keep func(Ref) bool) (ids []string) {
	for _, f := range x.Rank(Request{Text: text, N: n, Apart: true, Keep: keep}) {
		if m, err := x.Memory(f.Ref); err == nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Newest are the documents that keep lets through, at most n unless n is 0, the newest first: what a query finds that only filters.
func (x *Index) Newest(n int, keep func(Ref) bool) (out []Found) {
	for k, s := range x.segments {
		for doc := range s.Len() {
			if at := (Ref{k, doc}); s.Live(doc) && (keep == nil || keep(at)) {
				out = append(out, Found{Ref: at})
			}
		}
	}
	slices.SortFunc(out, func(a, b Found) int {
		s, t := x.segments[a.Segment], x.segments[b.Segment]
		if s.Time(a.Doc) != t.Time(b.Doc) {
			return cmp.Compare(t.Time(b.Doc), s.Time(a.Doc))
		}
		return strings.Compare(s.Key(a.Doc), t.Key(b.Doc))
	})
	if n > 0 && len(out) > n {
		out = out[:n]
	}
	return out
}

// ByID is the document of a memory.
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

// Keep lets documents through that hold at a time and that the filters of a query let through; nil is all of them.
func (x *Index) Keep(q Query, now time.Time) func(Ref) bool {
	filtered := !q.Filter.empty() || !q.Without.empty()
	labels := make([][]string, len(x.segments)) // of each segment, once one was asked for
	expiring := make([]bool, len(x.segments))
	some := filtered
	for k, s := range x.segments {
		_, expiring[k] = s.Label(mayExpire)
		some = some || expiring[k]
	}
	if !some {
		return nil
	}
	var ids []uint32
	return func(at Ref) bool {
		s := x.segments[at.Segment]
		if expiring[at.Segment] {
			if e := s.Expires(at.Doc); e != 0 && now.Unix() >= e {
				return false
			}
		}
		if !filtered {
			return true
		}
		if labels[at.Segment] == nil {
			labels[at.Segment] = []string{}
			for _, text := range s.AllLabels() {
				labels[at.Segment] = append(labels[at.Segment], string(text))
			}
		}
		v := Values{Kind: kindOf(s.Kind(at.Doc))}
		if t := s.Time(at.Doc); t != 0 {
			v.Time = time.Unix(t, 0)
		}
		ids = s.Labels(at.Doc, ids[:0])
		for _, id := range ids {
			if int(id) >= len(labels[at.Segment]) {
				return false // they were spoilt, and Err says so
			}
			label := labels[at.Segment][id]
			if path, ok := strings.CutPrefix(label, labelPath); ok {
				v.Paths = append(v.Paths, path)
			} else if tag, ok := strings.CutPrefix(label, labelTag); ok {
				v.Tags = append(v.Tags, tag)
			} else if by, ok := strings.CutPrefix(label, labelBy); ok {
				v.By = by
			}
		}
		return q.Match(v, now)
	}
}

// kindOf is the kind of a number, the reverse of KindNumber.
func kindOf(n uint8) record.Kind {
	if n == 0 || int(n) > len(record.Kinds) {
		return ""
	}
	return record.Kinds[n-1]
}
