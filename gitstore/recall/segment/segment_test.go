package segment

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/file"
	"pgregory.net/rapid"
)

// pairs are the grams of these tests: two bytes in a row.
func pairs(term string) (out []string) {
	for i := 2; i <= len(term); i++ {
		out = append(out, term[i-2:i])
	}
	return out
}

func build(t testing.TB, docs []Doc) []byte {
	t.Helper()
	b := Builder{Grams: pairs}
	for _, d := range docs {
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t testing.TB, data []byte) *Reader {
	t.Helper()
	r, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// latin is whether a term's grams count, which is a property of the term: that of a few.
func latin(term string) bool { return term[0] < 'd' }

func drawDocs(t *rapid.T) []Doc {
	term := rapid.StringMatching(`[a-f]{1,6}|[a-f]{20,40}`)
	token := rapid.Custom(func(t *rapid.T) Token {
		return Token{Term: term.Draw(t, "term"), Weight: rapid.SampledFrom([]uint8{0, 1, 1, 1, 2, 3, 3, 255}).Draw(t, "weight"),
			Word: rapid.SampledFrom([]uint32{0, 1, 1, 1, 2, 3, 70, 1 << 31}).Draw(t, "step"), Passage: rapid.SampledFrom([]uint16{0, 0, 0, 1, 9, 65535}).Draw(t, "passage")}
	})
	doc := rapid.Custom(func(t *rapid.T) Doc {
		d := Doc{Key: rapid.StringMatching(`\+?(memories/)?[0-9a-f]{1,8}(\.md)?`).Draw(t, "key"), Blob: rapid.SampledFrom([]string{"", "00ff", "ab", "0g", "ABCD", "abc", "+x"}).Draw(t, "blob"),
			Stored: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "stored"), Time: rapid.Int64Range(0, 3).Draw(t, "time"), Expires: rapid.SampledFrom([]int64{0, 0, 1 << 40}).Draw(t, "expires"),
			Kind: rapid.Byte().Draw(t, "kind"), Group: rapid.SampledFrom([]string{"", "s1", "s2", "s33"}).Draw(t, "group"),
			Labels: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"tag=a", "tag=ab", "path=**", "by=x", ""}), 0, 3, rapid.ID[string]).Draw(t, "labels"),
			Tokens: rapid.SliceOfN(token, 0, 30).Draw(t, "tokens")}
		word := uint32(0)
		for i := range d.Tokens {
			word += d.Tokens[i].Word
			d.Tokens[i].Word, d.Tokens[i].Gram = word, latin(d.Tokens[i].Term)
		}
		return d
	})
	return rapid.SliceOfNDistinct(doc, 0, 40, func(d Doc) string { return d.Key }).Draw(t, "docs")
}

// same checks everything that a reader gives against the documents.
func same(t interface{ Fatalf(string, ...any) }, r *Reader, docs []Doc) {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(x, y Doc) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Time, y.Time), cmp.Compare(x.Key, y.Key))
	})
	equal := func(what string, want, got any) {
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("%s (-want +got):\n%s", what, d)
		}
	}
	type use struct{ Doc, Freq uint32 }
	postings := map[string]map[uint32]uint32{}
	grams, gramDocs := map[string][]string{}, map[string]map[int]bool{}
	labels := map[string]bool{}
	totals := Totals{Docs: len(docs)}
	gramsOf := map[string][]string{}
	for i, d := range docs {
		length, gramLength := uint32(0), uint32(0)
		for _, tok := range d.Tokens {
			length += uint32(tok.Weight)
			if postings[tok.Term] == nil {
				postings[tok.Term] = map[uint32]uint32{}
			}
			if tok.Gram {
				gramLength += uint32(tok.Weight) * uint32(len(pairs(tok.Term)))
				gramsOf[tok.Term] = pairs(tok.Term)
			}
			if tok.Weight == 0 {
				continue
			}
			postings[tok.Term][uint32(i)] += uint32(tok.Weight)
			for _, g := range gramsOf[tok.Term] {
				if gramDocs[g] == nil {
					gramDocs[g] = map[int]bool{}
				}
				gramDocs[g][i] = true
			}
		}
		for _, l := range d.Labels {
			labels[l] = true
		}
		totals.Length += uint64(length)
		totals.GramLength += uint64(gramLength)
		equal("length of "+d.Key, []uint32{length, gramLength}, []uint32{r.Length(i), r.GramLength(i)})
	}
	equal("totals", totals, r.Totals())
	equal("terms", len(postings), r.Terms())
	for at, term := range slices.Sorted(maps.Keys(postings)) {
		id, ok := r.Term(term)
		if !ok || int(id) != at || r.TermText(id) != term || r.Latin(id) != latin(term) {
			t.Fatalf("term %q: id %d (%v) for %d, text %q, latin %v", term, id, ok, at, r.TermText(id), r.Latin(id))
		}
		var want, got []use
		for _, doc := range slices.Sorted(maps.Keys(postings[term])) {
			want = append(want, use{doc, postings[term][doc]})
		}
		for c := r.Postings(id); c.Next(); {
			got = append(got, use{c.Doc, c.Freq})
		}
		equal("postings of "+term, want, got)
		for _, most := range []int{2, 256} {
			got, room := []use(nil), make([]Posting, most)
			for c := r.Postings(id); ; {
				n := c.Read(room)
				if n == 0 {
					break
				}
				for _, p := range room[:n] {
					got = append(got, use{p.Doc, p.Freq})
				}
			}
			equal(fmt.Sprintf("postings of %s, %d at once", term, most), want, got)
		}
		for _, begin := range []string{term, term[:1], term[:len(term)/2], term + "a"} {
			if at%(1+len(postings)/20) > 0 {
				break // some are enough
			}
			want := slices.DeleteFunc(slices.Sorted(maps.Keys(postings)), func(other string) bool { return !strings.HasPrefix(other, begin) })
			want = append([]string{}, want...)
			got := []string{}
			for id, other := range r.Prefix(begin) {
				if got = append(got, string(other)); r.TermText(id) != string(other) {
					t.Fatalf("%d is %q, and not %q", id, r.TermText(id), other)
				}
			}
			equal("terms that begin with "+begin, want, got)
		}
		equal("frequency of "+term, len(want), r.DF(id))
		for _, g := range gramsOf[term] {
			grams[g] = append(grams[g], term)
		}
	}
	for g, want := range grams {
		df, ids := r.Gram(g, nil)
		var got []string
		for _, id := range ids {
			got = append(got, r.TermText(id))
		}
		equal("terms of gram "+g, want, got)
		equal("frequency of gram "+g, len(gramDocs[g]), df)
	}
	for _, absent := range []string{"", "a~", "zz", "\x00", "ffffffffg"} {
		if _, ok := r.Term(absent); ok {
			t.Fatalf("term %q is found", absent)
		}
		if df, ids := r.Gram(absent, nil); df > 0 || ids != nil {
			t.Fatalf("gram %q is found", absent)
		}
		if _, ok := r.Find(absent); ok {
			t.Fatalf("key %q is found", absent)
		}
	}
	var names []string
	for _, l := range r.AllLabels() {
		names = append(names, string(l))
	}
	equal("labels", slices.Sorted(maps.Keys(labels)), names)
	copier := NewCopier(r)
	for i, d := range docs {
		if doc, ok := r.Find(d.Key); doc != i || !ok {
			t.Fatalf("key %q is document %d, %v; want %d", d.Key, doc, ok, i)
		}
		got, err := copier.Doc(i, nil)
		if err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
		want := d
		want.Labels = slices.Sorted(slices.Values(d.Labels))
		if d := gocmp.Diff(want, got, empty); d != "" {
			t.Fatalf("document %d (-want +got):\n%s", i, d)
		}
		before, after := -1, -1
		if d.Group != "" && i > 0 && docs[i-1].Group == d.Group {
			before = i - 1
		}
		if d.Group != "" && i+1 < len(docs) && docs[i+1].Group == d.Group {
			after = i + 1
		}
		equal("neighbours", []int{before, after}, []int{r.Previous(i), r.Next(i)})
		if first, end := r.Members(d.Group); i < first || i >= end || docs[first].Group != d.Group || docs[end-1].Group != d.Group {
			t.Fatalf("members of %q are %d to %d, and %d is not among them", d.Group, first, end, i)
		}
	}
	slices.SortFunc(docs, func(x, y Doc) int { return cmp.Compare(x.Key, y.Key) })
	at := 0
	for e := r.Entries(); e.Next(); {
		if string(e.Key()) != docs[at].Key || !e.Same(docs[at].Blob) || e.Same(docs[at].Blob+"0") || r.Key(e.Doc) != docs[at].Key {
			t.Fatalf("entry %d is %s, want %s", at, e.Key(), docs[at].Key)
		}
		at++
	}
	equal("entries", len(docs), at)
	if err := r.Err(); err != nil {
		t.Fatalf("after all: %v", err)
	}
}

// empty has slices without elements be equal.
var empty = gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().Type().Kind().String() == "slice" }, gocmp.Transformer("nil", func(x any) any {
	switch x := x.(type) {
	case []byte:
		return fmt.Sprintf("%q", x)
	case []string:
		return fmt.Sprintf("%q", x)
	case []Token:
		return fmt.Sprintf("%v", x)
	}
	return x
}))

func TestReaderGivesWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := drawDocs(t)
		add := func(docs []Doc) []byte {
			b := Builder{Grams: pairs}
			for _, d := range docs {
				if err := b.Add(d); err != nil {
					t.Fatalf("%v", err)
				}
			}
			data, err := b.Bytes()
			if err != nil {
				t.Fatalf("%v", err)
			}
			return data
		}
		data := add(docs)
		r, err := Open(data)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		same(t, r, docs)
		if other := add(rapid.Permutation(docs).Draw(t, "order")); !bytes.Equal(data, other) {
			t.Fatalf("another order makes another file")
		}
	})
}

// many is enough for several blocks, pages, hot terms, and a mapped file.
func many(n int) []Doc {
	var docs []Doc
	for i := range n {
		d := Doc{Key: fmt.Sprintf("memories/%02x/%08x.md", i%251, uint32(i)*2654435761), Blob: fmt.Sprintf("%040x", i*7919), Time: int64(i % 100),
			Group: []string{"", fmt.Sprintf("session-%03d", i%20)}[i%2], Stored: bytes.Repeat([]byte(fmt.Sprintf("text %d of this. ", i)), 1+i%30), Labels: []string{fmt.Sprintf("tag=%d", i%50)}}
		for w := range 40 {
			term := fmt.Sprintf("w%dx", (i*i+w*w*w)%(5000))
			d.Tokens = append(d.Tokens, Token{Term: term, Weight: 1 + 2*uint8(w/30), Word: uint32(w * 3 / 2), Passage: uint16(w / 9), Gram: latin(term)})
		}
		docs = append(docs, d)
	}
	return docs
}

func TestLargeSegmentInAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	docs := many(700)
	data := build(t, docs)
	same(t, open(t, data), docs)
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	mapped, release, err := file.Map(path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	r := open(t, mapped)
	if err := os.Remove(path); err != nil && os.PathSeparator == '/' {
		t.Fatal(err)
	}
	same(t, r, docs)
}

// TestSegmentsOfAnyNumberOfTerms has numbers of terms around those from which on the most frequent have short codes.
func TestSegmentsOfAnyNumberOfTerms(t *testing.T) {
	for _, around := range []int{fewHot, maxHot - fewHot, maxHot} {
		for n := around - 2; n <= around+2; n++ {
			d := Doc{Key: "a"}
			for i := range n {
				d.Tokens = append(d.Tokens, Token{Term: fmt.Sprintf("t%05d", i*7919%n), Weight: 1, Word: uint32(i)})
			}
			r := open(t, build(t, []Doc{d}))
			got, err := NewCopier(r).Doc(0, nil)
			if diff := gocmp.Diff(d.Tokens, got.Tokens); err != nil || diff != "" {
				t.Errorf("%d terms: %v (-want +got):\n%s", n, err, diff)
			}
		}
	}
}

func TestAddRefusesWhatHasNoPlace(t *testing.T) {
	for name, d := range map[string]Doc{
		"twice":       {Key: "a"},
		"long blob":   {Key: "b", Blob: string(make([]byte, 128))},
		"early":       {Key: "c", Time: -1},
		"no term":     {Key: "d", Tokens: []Token{{Weight: 1}}},
		"long term":   {Key: "e", Tokens: []Token{{Term: string(make([]byte, maxText+1))}}},
		"much stored": {Key: "f", Stored: make([]byte, maxStored+1)},
	} {
		var b Builder
		if err := b.Add(Doc{Key: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d); err == nil || b.Len() != 1 {
			t.Errorf("%s: %v, %d documents", name, err, b.Len())
		}
	}
}

func TestPrefix(t *testing.T) {
	var b Builder
	var tokens []Token
	for i := range 60 {
		tokens = append(tokens, Token{Term: fmt.Sprintf("t%02d", i), Weight: 1}, Token{Term: fmt.Sprintf("中%d", i), Weight: 1})
	}
	if err := b.Add(Doc{Key: "k", Tokens: tokens}); err != nil {
		t.Fatal(err)
	}
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]int{"": 120, "t": 60, "t3": 10, "t35": 1, "t355": 0, "a": 0, "中": 60, "中5": 11, "龍": 0, "\xff": 0, "s": 0, "u": 0} {
		n := 0
		for id, text := range r.Prefix(prefix) {
			if !bytes.HasPrefix(text, []byte(prefix)) || r.TermText(id) != string(text) {
				t.Errorf("%q: %q is %d", prefix, text, id)
			}
			n++
		}
		if n != want {
			t.Errorf("%q: %d terms, want %d", prefix, n, want)
		}
	}
}
