package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pairs are grams of two bytes.
func pairs(term string) (out []string) {
	for i := 2; i <= len(term); i++ {
		out = append(out, term[i-2:i])
	}
	return out
}

type entry struct{ key, blob string }

// text returns the text of an entry, which follows from its key and its blob.
func (e entry) text() string {
	r := rand.New(rand.NewPCG(uint64(len(e.key)), hash(e.key+"\x00"+e.blob)))
	words := []string{"k" + e.key, "b" + e.blob}
	for range 3 + r.IntN(12) {
		words = append(words, fmt.Sprintf("w%d", r.IntN(4)*r.IntN(10)))
	}
	return strings.Join(words, " ")
}

func hash(s string) (h uint64) {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// doc returns an entry's document, which is indexed unless its key says otherwise.
func (e entry) doc() Doc {
	h := hash(e.key)
	d := Doc{Key: e.key, Blob: e.blob, Head: []byte("head of " + e.key), Body: []byte(e.text()), Mark: h, Flags: uint8(h), Indexed: h%5 > 0}
	if !d.Indexed {
		return d
	}
	d.Time, d.Expires, d.Kind, d.Group = int64(h%3), int64(h%7)<<40, uint8(h%11), []string{"", "s1", "s2"}[h%3]
	d.Labels = []string{"tag=" + e.key[:1], "all"}
	for i, w := range strings.Fields(e.text()) {
		d.Tokens = append(d.Tokens, Token{Term: w, Weight: 1 + uint8(i%2)*2, Word: uint32(i * (1 + i%3)), Passage: uint16(i / 4), Gram: w[0] != 'b'})
	}
	return d
}

// entries returns the entries of state n. They follow from n, so any reader can check a catalog.
func entries(n int) (State, []entry) {
	var all []entry
	for i := range 40 {
		if (i+n)%7 != 0 {
			all = append(all, entry{fmt.Sprintf("%02d", i), fmt.Sprintf("%02x", (n+i)/11)})
		}
	}
	return State{Key: fmt.Sprintf("state %d", n), Notes: []string{"a", fmt.Sprint(n)}}, all
}

// bring returns the catalog at a state.
func bring(ctx context.Context, c *Catalog, to State, all []entry, limit int) (*Catalog, error) {
	ch := c.Change(pairs)
	want := map[string]entry{}
	for _, e := range all {
		want[e.key] = e
	}
	for _, s := range ch.Segments {
		for doc := range s.Len() {
			if key := s.Key(doc); s.Live(doc) && want[key].key == key && want[key].blob == s.Blob(doc) {
				delete(want, key)
			} else if s.Live(doc) {
				s.Remove(doc)
			}
		}
	}
	for _, e := range want {
		if err := ch.Add(e.doc()); err != nil {
			return nil, err
		}
	}
	return ch.Commit(ctx, to, limit)
}

func brought(t interface{ Fatalf(string, ...any) }, c *Catalog, to State, all []entry, limit int) *Catalog {
	y, err := bring(context.Background(), c, to, all, limit)
	if err != nil {
		t.Fatalf("bring to %s: %v", to.Key, err)
	}
	c.Close()
	return y
}

func read(path string) *Catalog {
	f := Open(path)
	defer f.Close()
	return f.Read()
}

// judge returns the first difference between a catalog and its expected entries, or "".
func judge(c *Catalog, all []entry) string {
	freqs, grams, order := map[string]map[string]uint32{}, map[string]map[string]bool{}, []entry{}
	var totals Totals
	for _, e := range all {
		d := e.doc()
		if at := find(c, e.key); at.s == nil {
			return e.key + " is missing"
		} else if got := at.get(); fmt.Sprint(got) != fmt.Sprint(sorted(d)) {
			return fmt.Sprintf("%s is %v, want %v", e.key, got, d)
		}
		if !d.Indexed {
			continue
		}
		totals.Docs++
		if d.Group != "" {
			order = append(order, e)
		}
		for _, t := range d.Tokens {
			if freqs[t.Term] == nil {
				freqs[t.Term] = map[string]uint32{}
			}
			freqs[t.Term][e.key] += uint32(t.Weight)
			totals.Length += uint64(t.Weight)
			for _, g := range pairs(t.Term) {
				if !t.Gram {
					break
				}
				totals.GramLength += uint64(t.Weight)
				if grams[g] == nil {
					grams[g] = map[string]bool{}
				}
				grams[g][e.key] = true
			}
		}
	}
	var got Totals
	docs := 0
	for _, s := range c.Segments {
		docs += s.docs - s.gone
		got = Totals{got.Docs + s.Totals().Docs, got.Length + s.Totals().Length, got.GramLength + s.Totals().GramLength}
	}
	if got != totals || docs != len(all) {
		return fmt.Sprintf("%d documents, totals %v, want %d and %v", docs, got, len(all), totals)
	}
	for term, want := range freqs {
		got, df := map[string]uint32{}, 0
		for _, s := range c.Segments {
			id, ok := s.Term(term)
			if !ok {
				continue
			}
			df += s.DF(id)
			for p := s.Postings(id); p.Next(); {
				if s.Live(int(p.Doc)) {
					got[s.Key(int(p.Doc))] = p.Freq
				}
			}
			for first := range s.Prefix(term) {
				if first != id {
					return term + " is not the first that begins with it"
				}
				break
			}
		}
		if !maps.Equal(got, want) || df != len(want) {
			return fmt.Sprintf("%s is in %v, %d documents, want %v", term, got, df, want)
		}
	}
	for g, want := range grams {
		df := 0
		for _, s := range c.Segments {
			n, ids := s.Gram(g, nil)
			df += n
			for _, id := range ids {
				if !strings.Contains(s.TermText(id), g) {
					return fmt.Sprintf("%s has gram %s", s.TermText(id), g)
				}
			}
		}
		if df != len(want) {
			return fmt.Sprintf("gram %s is in %d documents, want %d", g, df, len(want))
		}
	}
	slices.SortFunc(order, func(a, b entry) int {
		x, y := a.doc(), b.doc()
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Time, y.Time), cmp.Compare(x.Key, y.Key))
	})
	for _, s := range c.Segments {
		left := order
		for i := range s.Neighbours() {
			if doc := s.Neighbour(i); s.Live(doc) {
				n := slices.IndexFunc(left, func(e entry) bool { return e.key == s.Key(doc) })
				if n < 0 {
					return s.Key(doc) + " is in no group, or not at its place"
				}
				left = left[n+1:]
			}
		}
	}
	return ""
}

type found struct {
	s   *Segment
	doc int
}

func find(c *Catalog, key string) (at found) {
	for _, s := range c.Segments {
		if doc, ok := s.Find(key); ok && s.Live(doc) {
			at = found{s, doc}
		}
	}
	return at
}

func (p found) get() Doc {
	var positions []Position
	var tokens []Token
	return sorted(p.s.doc(p.doc, &positions, &tokens))
}

func sorted(d Doc) Doc {
	slices.Sort(d.Labels)
	return d
}

func wantRight(t *testing.T, c *Catalog, all []entry) {
	t.Helper()
	if bad := judge(c, all); bad != "" || c.Err() != nil {
		t.Errorf("%s: %s, %v", c.Key, bad, c.Err())
	}
}

func TestChangeGoesAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	base, round := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		path := filepath.Join(base, fmt.Sprint(round))
		c := read(path)
		have := map[string]string{}
		for step := range rapid.IntRange(1, 25).Draw(t, "steps") {
			for range rapid.SampledFrom([]int{0, 1, 1, 2, 30}).Draw(t, "changes") {
				key := fmt.Sprintf("%02d", rapid.IntRange(0, 60).Draw(t, "key"))
				if blob := rapid.SampledFrom([]string{"", "aa", "bb", "not hex"}).Draw(t, "blob"); blob == "" {
					delete(have, key)
				} else {
					have[key] = blob
				}
			}
			var all []entry
			for _, key := range slices.Sorted(maps.Keys(have)) {
				all = append(all, entry{key, have[key]})
			}
			to := State{Key: fmt.Sprintf("%d %v", step, all), Purged: rapid.SampledFrom([]string{"", "", "", "x"}).Draw(t, "purged")}
			limit := rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "limit")
			y, err := bring(context.Background(), c, to, all, limit)
			if limit > 0 && errors.Is(err, ErrBehind) {
				continue
			}
			if err != nil || y.Unkept() != nil {
				t.Fatalf("bring: %v, %v", err, y.Unkept())
			}
			if n := len(y.Segments); limit == 0 && n > maxSegments {
				t.Fatalf("%d segments", n)
			}
			c.Close()
			c = y
			again := read(path)
			for which, c := range map[string]*Catalog{"brought": c, "read": again} {
				if bad := judge(c, all); bad != "" || c.Err() != nil || c.Key != to.Key {
					t.Fatalf("step %d, %s: %s, %v", step, which, bad, c.Err())
				}
			}
			again.Close()
		}
		c.Close()
	})
}

func TestFileIsTheOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	brought(t, read(path), to, all, 0).Close()
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 || err != nil {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	to, all := entries(1)
	theirs, dir := t.TempDir(), filepath.Join(t.TempDir(), "state")
	if err := os.Symlink(theirs, dir); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := brought(t, read(filepath.Join(dir, "cache")), to, all, 0)
	wantRight(t, c, all)
	if left, err := os.ReadDir(theirs); c.Unkept() == nil || err != nil || len(left) > 0 {
		t.Errorf("written through the link: %v, %v; it says %v", left, err, c.Unkept())
	}
	path := filepath.Join(theirs, "cache")
	if err := os.Symlink("other", path); err != nil {
		t.Fatal(err)
	}
	c = brought(t, read(path), to, all, 0)
	wantRight(t, c, all)
	if _, err := os.Stat(filepath.Join(theirs, "other")); err == nil || c.Unkept() == nil {
		t.Errorf("written through the link: %v; it says %v", err, c.Unkept())
	}
	if err := Drop(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the link stays")
	}
}

func TestDropWinsOverALateWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	for name, late := range map[string]*Catalog{"new": read(path), "old": brought(t, read(path), to, all, 0)} {
		if err := Drop(path); err != nil {
			t.Fatal(err)
		}
		if name == "old" {
			read(path).Close() // another process begins a new one
		}
		to, all := entries(2)
		y := brought(t, late, to, all, 0)
		wantRight(t, y, all)
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			t.Errorf("%s: the late writer wrote %d bytes", name, info.Size())
		}
	}
	if err := errors.Join(Drop(path), Drop(path)); err != nil {
		t.Error(err)
	}
}

func TestLimitHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	c := brought(t, read(path), to, all, 0)
	large := c.Segments[0].docs
	for i := range 40 { // one at a time, most of them gone again
		all = append(all[i%2:], entry{fmt.Sprintf("x%02d", i), "aa"})
		c = brought(t, c, State{Key: fmt.Sprint(i)}, all, 10)
		wantRight(t, c, all)
	}
	if c.Segments[0].docs != large {
		t.Error("a hook has written the large segment once more")
	}
	c = brought(t, c, State{Key: "end"}, all, 0)
	if n := len(c.Segments); n > maxSegments || c.Segments[0].docs == large {
		t.Errorf("%d segments, and what is gone still there", n)
	}
	wantRight(t, c, all)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bring(ctx, c, to, all[len(all)/2:], 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after its deadline: %v", err)
	}
}

// A newly named purge removes deleted text from the file. A hook leaves that to others if it is
// much.
func TestPurgedTextLeavesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	all = append(all, entry{"secret", "aa"})
	c := brought(t, read(path), to, all, 0)
	all = slices.Delete(all, len(all)-1, len(all))
	c = brought(t, c, State{Key: "2"}, all, 0)
	has := func() bool {
		data, err := os.ReadFile(path)
		return err != nil || strings.Contains(string(data), "ksecret")
	}
	if !has() {
		t.Fatal("it went at once: this shows nothing")
	}
	purged := State{Key: "3", Purged: "purge"}
	if _, err := bring(t.Context(), c, purged, all, 10); !errors.Is(err, ErrBehind) {
		t.Errorf("in a hook: %v", err)
	}
	wantRight(t, brought(t, c, purged, all, 0), all)
	if has() {
		t.Error("it is in the file")
	}
	wantRight(t, read(path), all)
}

// With any missing or changed bytes in the file, the answer is right or Err reports an error. The
// next process has a good file.
func TestTornAndSpoiltFilesGiveNoWrongAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	c := brought(t, read(path), to, all, 0)
	to, all = entries(2)
	brought(t, c, to, all, 8).Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen, refused := 0, 0
	try := func(spoilt []byte, what string) {
		os.Remove(path)
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		c := read(path)
		bad := judge(c, all)
		switch {
		case len(c.Segments) == 0:
			refused++
		case c.Err() != nil:
			seen++
		case bad != "":
			t.Errorf("%s: %s", what, bad)
		}
		y := brought(t, c, to, all, 0)
		wantRight(t, y, all)
		y.Close()
		c = read(path)
		if wantRight(t, c, all); c.Key != to.Key {
			t.Errorf("%s: the next process has the work again", what)
		}
		c.Close()
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/120 {
		try(whole[:n], fmt.Sprintf("%d of %d bytes", n, len(whole)))
		flipped := slices.Clone(whole)
		flipped[n] ^= 1 << (n % 8)
		try(flipped, fmt.Sprintf("byte %d of %d", n, len(whole)))
	}
	if seen < 20 || refused < 60 {
		t.Errorf("only %d were noticed when read and %d when opened: that shows little", seen, refused)
	}
}

func TestShortenedFileIsSpoilt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var all []entry
	for i := range 2000 {
		all = append(all, entry{fmt.Sprintf("%04d", i), "aa"})
	}
	to := State{Key: "long"}
	brought(t, read(path), to, all, 0).Close()
	c := read(path)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Segments[0].Body(1999); ok || !errors.Is(c.Err(), ErrCorrupt) {
		t.Fatalf("it is read: %v", c.Err())
	}
	wantRight(t, brought(t, c, to, all, 0), all)
	c = read(path)
	defer c.Close()
	wantRight(t, c, all)
}

// A writer does not touch a file that another changed since it was read, and does not wait for a
// running writer.
func TestOneWriterWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	brought(t, read(path), to, all, 0).Close()
	one, two := read(path), read(path)
	first, other := entries(2)
	brought(t, one, first, other, 0).Close()
	second, theirs := entries(3)
	late := brought(t, two, second, theirs, 0)
	wantRight(t, late, theirs)
	c := read(path)
	if wantRight(t, c, other); c.Key != first.Key || late.Unkept() != nil {
		t.Errorf("the file has %s; the late writer says %v", c.Key, late.Unkept())
	}
}

// After many changes the file is not much larger than its content.
func TestFileStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	c := read(path)
	for n := range 300 {
		to, all := entries(n)
		c = brought(t, c, to, all, 0)
	}
	_, all := entries(299)
	wantRight(t, c, all)
	if info, err := os.Stat(path); err != nil || info.Size() > 3<<19 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

func FuzzSegment(f *testing.F) {
	var b builder
	_, all := entries(1)
	for _, e := range all {
		if err := b.add(e.doc()); err != nil {
			f.Fatal(err)
		}
	}
	data, err := b.bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(100), byte(7))
	f.Fuzz(func(t *testing.T, at uint32, with byte) {
		// A forger can write sums, so only bounds are checked.
		forged := slices.Clone(data)
		forged[segmentHead+int(at)%(len(forged)-segmentHead)] ^= with
		s, ok := openSegment(nil, 0, 0, mended(forged))
		if !ok {
			return
		}
		c := &Catalog{Segments: []*Segment{s}}
		judge(c, all)
		for i := range s.docs {
			found{s, i}.get()
		}
	})
}

// BenchmarkOneMore measures adding a document and reading it back, and BenchmarkOpen a cold
// opening.
func BenchmarkOneMore(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		path := filepath.Join(b.TempDir(), "cache")
		var all []entry
		for i := range n {
			all = append(all, entry{fmt.Sprintf("%016x", i*7919), "aa"})
		}
		brought(b, read(path), State{Key: "0"}, all, 0).Close()
		step := 0
		b.Run(fmt.Sprint("to ", n), func(b *testing.B) {
			for b.Loop() {
				step++
				c := read(path)
				ch := c.Change(pairs)
				if err := ch.Add(entry{fmt.Sprintf("x%016x", step), "aa"}.doc()); err != nil {
					b.Fatal(err)
				}
				y, err := ch.Commit(b.Context(), State{Key: fmt.Sprint(step)}, 64)
				if err != nil || y.Unkept() != nil {
					b.Fatal(err, y.Unkept())
				}
				c.Close()
				y.Close()
			}
		})
		b.Run(fmt.Sprint("open ", n), func(b *testing.B) {
			for b.Loop() {
				read(path).Close()
			}
		})
	}
}
