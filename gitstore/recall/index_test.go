package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"pgregory.net/rapid"
)

// testAnalysis has grams of two bytes.
var testAnalysis = Analysis{Version: "test 1", Grams: func(term string) (out []string) {
	for i := 2; i <= len(term); i++ {
		out = append(out, term[i-2:i])
	}
	return out
}}

// testText is the text of an entry, which its name and its content tell.
func testText(e Entry) string {
	r := rand.New(rand.NewPCG(uint64(len(e.Key)), hash(e.Key+"\x00"+e.Blob)))
	words := []string{"k" + e.Key, "b" + e.Blob}
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

func testDoc(e Entry) segment.Doc {
	d := segment.Doc{Key: e.Key, Blob: e.Blob, Stored: []byte(testText(e)), Time: int64(hash(e.Key) % 3), Labels: []string{"tag=" + e.Key[:1]}, Group: []string{"", "s1", "s2"}[hash(e.Key)%3]}
	for i, w := range strings.Fields(testText(e)) {
		d.Tokens = append(d.Tokens, segment.Token{Term: w, Weight: 1 + uint8(i%2)*2, Word: uint32(i), Gram: w[0] != 'b'})
	}
	return d
}

// testEntries are the entries of state n: n tells everything, so whoever reads an index can judge it.
func testEntries(n int) (State, []Entry) {
	var all []Entry
	for i := range 40 {
		if (i+n)%7 != 0 {
			all = append(all, Entry{fmt.Sprintf("%02d", i), fmt.Sprintf("%02x", (n+i)/11)})
		}
	}
	return State{Key: fmt.Sprintf("state %d", n), Notes: []string{"a", fmt.Sprint(n)}}, all
}

func bring(t interface{ Fatalf(string, ...any) }, x *Index, to State, entries []Entry, limit Limits) *Index {
	y, err := x.Bring(context.Background(), to, entries, limit, func(i int) (segment.Doc, error) { return testDoc(entries[i]), nil })
	if err != nil {
		t.Fatalf("bring to %s: %v", to.Key, err)
	}
	return y
}

// judge compares an index with a search through the entries' text. It returns what is different, and "" when nothing is.
func judge(x *Index, entries []Entry) string {
	type use struct {
		key  string
		freq uint32
	}
	want, grams, stored := map[string][]use{}, map[string]map[string]bool{}, map[string]string{}
	var totals segment.Totals
	for _, e := range entries {
		d := testDoc(e)
		stored[e.Key] = string(d.Stored)
		totals.Docs++
		freqs := map[string]uint32{}
		for _, tok := range d.Tokens {
			freqs[tok.Term] += uint32(tok.Weight)
			totals.Length += uint64(tok.Weight)
			if tok.Gram {
				for _, g := range testAnalysis.Grams(tok.Term) {
					totals.GramLength += uint64(tok.Weight)
					if grams[g] == nil {
						grams[g] = map[string]bool{}
					}
					grams[g][e.Key] = true
				}
			}
		}
		for term, n := range freqs {
			want[term] = append(want[term], use{e.Key, n})
		}
	}
	if got := x.Totals(); got != totals {
		return fmt.Sprintf("totals %v, want %v", got, totals)
	}
	for term, uses := range want {
		var got []use
		df := 0
		for _, s := range x.Segments() {
			id, ok := s.Term(term)
			if !ok {
				continue
			}
			df += s.DF(id)
			for c := s.Postings(id); c.Next(); {
				if s.Live(int(c.Doc)) {
					got = append(got, use{s.Key(int(c.Doc)), c.Freq})
				}
			}
		}
		slices.SortFunc(got, func(a, b use) int { return cmp.Compare(a.key, b.key) })
		if !slices.Equal(got, uses) || df != len(uses) {
			return fmt.Sprintf("%s is in %v, %d documents, want %v", term, got, df, uses)
		}
	}
	for g, docs := range grams {
		df := 0
		for _, s := range x.Segments() {
			n, _ := s.Gram(g, nil)
			df += n
		}
		if df != len(docs) {
			return fmt.Sprintf("gram %s is in %d documents, want %d", g, df, len(docs))
		}
	}
	for key, text := range stored {
		at, ok := x.Find(key)
		if !ok {
			return key + " is missing"
		}
		if got, err := x.Segments()[at.Segment].Stored(at.Doc); err != nil || string(got) != text {
			return fmt.Sprintf("%s has %q, %v, want %q", key, got, err, text)
		}
	}
	return judgeNeighbours(x, entries)
}

func judgeNeighbours(x *Index, entries []Entry) string {
	all := slices.Clone(entries)
	slices.SortFunc(all, func(a, b Entry) int {
		x, y := testDoc(a), testDoc(b)
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Time, y.Time), cmp.Compare(x.Key, y.Key))
	})
	name := func(r Ref, ok bool) string {
		if !ok {
			return ""
		}
		return x.Segments()[r.Segment].Key(r.Doc)
	}
	for i, e := range all {
		before, after, group := "", "", testDoc(e).Group
		if group != "" && i > 0 && testDoc(all[i-1]).Group == group {
			before = all[i-1].Key
		}
		if group != "" && i+1 < len(all) && testDoc(all[i+1]).Group == group {
			after = all[i+1].Key
		}
		at, _ := x.Find(e.Key)
		b, a, hasBefore, hasAfter := x.Beside(at)
		if name(b, hasBefore) != before || name(a, hasAfter) != after {
			return fmt.Sprintf("beside %s are %q and %q, want %q and %q", e.Key, name(b, hasBefore), name(a, hasAfter), before, after)
		}
	}
	return ""
}

func wantRight(t *testing.T, x *Index, entries []Entry) {
	t.Helper()
	if bad := judge(x, entries); bad != "" || x.Err() != nil {
		t.Errorf("%s: %s, %v", x.State().Key, bad, x.Err())
	}
}

func TestBringGoesAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		x := Make(dir, testAnalysis)
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
			var entries []Entry
			for _, key := range slices.Sorted(maps.Keys(have)) {
				entries = append(entries, Entry{key, have[key]})
			}
			to := State{Key: fmt.Sprintf("%d %v", step, entries)}
			limit := Limits{Docs: rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "limit")}
			loads := 0
			y, err := x.Bring(context.Background(), to, entries, limit, func(i int) (segment.Doc, error) {
				loads++
				if at, ok := x.Find(entries[i].Key); ok && x.Segments()[at.Segment].Blob(at.Doc) == entries[i].Blob {
					t.Fatalf("%v is loaded, and was there", entries[i])
				}
				return testDoc(entries[i]), nil
			})
			if limit.Docs > 0 && errors.Is(err, ErrBehind) {
				if loads > 0 {
					t.Fatalf("loads documents and then gives up")
				}
				continue
			}
			if err != nil || y.Unkept() != nil {
				t.Fatalf("bring: %v, %v", err, y.Unkept())
			}
			if n := len(y.Segments()); limit.Docs == 0 && n > maxSegments {
				t.Fatalf("%d segments", n)
			}
			x.Close()
			x = y
			again := Open(dir, testAnalysis)
			for which, i := range map[string]*Index{"brought": x, "read": again} {
				if bad := judge(i, entries); bad != "" || i.Err() != nil || i.State().Key != to.Key {
					t.Fatalf("step %d, %s: %s, %v", step, which, bad, i.Err())
				}
			}
			again.Close()
		}
		x.Close()
	})
}

func TestSameStateCostsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	manifest := filepath.Join(dir, manifestName)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(manifest, old, old); err != nil {
		t.Fatal(err)
	}
	y, err := x.Bring(context.Background(), to, nil, Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	wantRight(t, y, entries)
	if info, err := os.Stat(manifest); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the manifest was written again: %v", err)
	}
	if !slices.Equal(y.State().Notes, to.Notes) {
		t.Errorf("notes %v", y.State().Notes)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	bring(t, Make(dir, testAnalysis), to, entries, Limits{}).Close()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || os.PathSeparator == '/' && info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestLinkedFolderIsNotWrittenTo(t *testing.T) {
	theirs, dir := t.TempDir(), filepath.Join(t.TempDir(), "index")
	if err := os.Symlink(theirs, dir); err != nil {
		t.Skip(err)
	}
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	wantRight(t, x, entries)
	if x.Unkept() == nil {
		t.Error("nobody says that it is not kept")
	}
	if left, err := os.ReadDir(theirs); err != nil || len(left) > 0 {
		t.Errorf("written through the link: %v, %v", left, err)
	}
	if err := Drop(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}

func TestLinkedFileIsNotRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	bring(t, Make(dir, testAnalysis), to, entries, Limits{}).Close()
	if err := errors.Join(os.Rename(filepath.Join(dir, manifestName), filepath.Join(dir, "other")), os.Symlink("other", filepath.Join(dir, manifestName))); err != nil {
		t.Skip(err)
	}
	if x := Open(dir, testAnalysis); len(x.Segments()) > 0 {
		t.Error("it is")
	}
}

func TestDropWinsOverALateWriter(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "index")
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	if err := Drop(dir); err != nil {
		t.Fatal(err)
	}
	fresh := Make(dir, testAnalysis) // somebody begins a new one
	to, entries = testEntries(2)
	y := bring(t, x, to, entries, Limits{})
	wantRight(t, y, entries)
	if y.Unkept() == nil {
		t.Error("nobody says that it is not kept")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the late writer wrote %v, %v", left, err)
	}
	fresh.Close()
	if err := os.Mkdir(dir+droppedInfix+"KILLED", 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Drop(dir); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOtherAnalysisIsBuiltAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	bring(t, Make(dir, testAnalysis), to, entries, Limits{}).Close()
	other := testAnalysis
	other.Version = "test 2"
	x := Open(dir, other)
	if len(x.Segments()) > 0 {
		t.Fatal("it is read")
	}
	loads := 0
	y, err := x.Bring(context.Background(), to, entries, Limits{}, func(i int) (segment.Doc, error) {
		loads++
		return testDoc(entries[i]), nil
	})
	if err != nil || loads != len(entries) {
		t.Fatalf("%d loads, %v", loads, err)
	}
	wantRight(t, y, entries)
}

func TestLimitsHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	x := Make(dir, testAnalysis)
	if _, err := x.Bring(context.Background(), to, entries, Limits{Docs: 10}, nil); !errors.Is(err, ErrBehind) {
		t.Fatalf("%v", err)
	}
	x = bring(t, x, to, entries, Limits{})
	base := x.Segments()[0].part.name
	for i := range 40 { // one at a time, most of them gone again
		entries = append(entries[i%2:], Entry{fmt.Sprintf("x%02d", i), "aa"})
		x = bring(t, x, State{Key: fmt.Sprint(i)}, entries, Limits{Docs: 10})
		wantRight(t, x, entries)
	}
	if x.Segments()[0].part.name != base {
		t.Error("a hook has written the large segment once more")
	}
	x = bring(t, x, State{Key: "end"}, entries, Limits{})
	if n := len(x.Segments()); n > maxSegments || x.Segments()[0].part.name == base {
		t.Errorf("%d segments, and what is gone still there", n)
	}
	wantRight(t, x, entries)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	to, entries = testEntries(90)
	if _, err := x.Bring(ctx, to, entries, Limits{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after its deadline: %v", err)
	}
}

func TestSegmentsThatNobodyNamesGoLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	old := x.Segments()[0].part.name
	long := time.Now().Add(-time.Hour)
	orphan := filepath.Join(dir, segmentName([]byte("orphan")))
	for path, when := range map[string]time.Time{orphan: long, filepath.Join(dir, tempPrefix+"KILLED"): long, filepath.Join(dir, tempPrefix+"BUSY"): time.Now(), filepath.Join(dir, "theirs"): long} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, old), long, long); err != nil {
		t.Fatal(err)
	}
	for n := 50; n < 52; n++ { // everything is other
		to, entries = testEntries(n)
		x = bring(t, x, to, entries, Limits{})
	}
	there := func() (names []string) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, f.Name())
		}
		return names
	}
	names := there()
	if !slices.Contains(names, old) || !slices.Contains(names, tempPrefix+"BUSY") || !slices.Contains(names, "theirs") {
		t.Errorf("too much is gone: %v", names)
	}
	if slices.Contains(names, filepath.Base(orphan)) || slices.Contains(names, tempPrefix+"KILLED") {
		t.Errorf("orphans stay: %v", names)
	}
	if err := os.Chtimes(filepath.Join(dir, old), long, long); err != nil {
		t.Fatal(err)
	}
	to, entries = testEntries(53)
	bring(t, x, to, entries, Limits{})
	if slices.Contains(there(), old) {
		t.Error("an old segment stays")
	}
}

func TestReaderLooksAgainOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	old := x.Segments()[0].part.name
	reader := &Index{analysis: testAnalysis, folder: x.folder.share()}
	to, entries = testEntries(50)
	times := 0
	reader.read(func() {
		if times++; times == 1 { // somebody brings it further, and the segment goes
			x = bring(t, x, to, entries, Limits{})
			if err := os.Remove(filepath.Join(dir, old)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if times != 2 || reader.State().Key != to.Key {
		t.Errorf("looked %d times, has %q", times, reader.State().Key)
	}
	wantRight(t, reader, entries)
	if err := os.Remove(filepath.Join(dir, reader.Segments()[0].part.name)); err != nil {
		t.Fatal(err)
	}
	if x := Open(dir, testAnalysis); len(x.Segments()) > 0 || x.State().Key != "" {
		t.Error("without its segment it is not empty")
	}
	to, entries = testEntries(51)
	bring(t, reader, to, entries, Limits{}) // has the segment open, and puts it back
	x = Open(dir, testAnalysis)
	wantRight(t, x, entries)
}

func TestTornAndSpoiltFilesGiveNoWrongAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := filepath.Join(t.TempDir(), "index")
	to, entries := testEntries(1)
	x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
	to, entries = testEntries(2)
	bring(t, x, to, entries, Limits{Docs: 8}).Close()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	seen, refused := 0, 0
	try := func(path string, spoilt []byte, what string) {
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		x := Open(dir, testAnalysis)
		bad := judge(x, entries)
		switch {
		case len(x.Segments()) == 0:
			refused++
		case x.Err() != nil:
			seen++
			y := bring(t, x, to, entries, Limits{})
			if bad := judge(y, entries); bad != "" || y.Err() != nil {
				t.Errorf("%s, %s: made anew: %s, %v", filepath.Base(path), what, bad, y.Err())
			}
			y.Close()
		case bad != "":
			t.Errorf("%s, %s: %s", filepath.Base(path), what, bad)
		}
		x.Close()
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		keep := map[string][]byte{}
		for _, f := range files {
			keep[f.Name()], _ = os.ReadFile(filepath.Join(dir, f.Name()))
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/150 {
			try(path, whole[:n], fmt.Sprintf("%d of %d bytes", n, len(whole)))
			for name, data := range keep {
				os.WriteFile(filepath.Join(dir, name), data, 0o600)
			}
			flipped := slices.Clone(whole)
			flipped[n] ^= 1 << (n % 8)
			try(path, flipped, fmt.Sprintf("byte %d of %d", n, len(whole)))
			for name, data := range keep {
				os.WriteFile(filepath.Join(dir, name), data, 0o600)
			}
		}
	}
	if seen < 50 || refused < 200 {
		t.Errorf("only %d were noticed when read and %d when opened: that shows little", seen, refused)
	}
}

// Whatever became of the file of a segment, the first process that notices puts a good one in its place, for all after it.
func TestSpoiltFileIsMendedOnDisk(t *testing.T) {
	to, entries := testEntries(1)
	for name, spoil := range map[string]func(path string, data []byte) error{
		"zeroed":     func(path string, data []byte) error { clear(data); return os.WriteFile(path, data, 0o600) },
		"header":     func(path string, data []byte) error { data[60] ^= 1; return os.WriteFile(path, data, 0o600) },
		"page":       func(path string, data []byte) error { data[len(data)-9] ^= 1; return os.WriteFile(path, data, 0o600) },
		"torn":       func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)/2], 0o600) },
		"gone":       func(path string, _ []byte) error { return os.Remove(path) },
		"unreadable": func(path string, _ []byte) error { return os.Chmod(path, 0) },
		"link": func(path string, data []byte) error {
			return errors.Join(os.Rename(path, path+".theirs"), os.Symlink(filepath.Base(path)+".theirs", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
			path := filepath.Join(dir, x.Segments()[0].part.name)
			whole := slices.Clone(x.Segments()[0].Bytes())
			x.Close()
			if err := spoil(path, slices.Clone(whole)); err != nil {
				t.Skip(err)
			}
			for range 2 {
				had := Open(dir, testAnalysis)
				judge(had, entries) // a page is looked at when it is read
				x := bring(t, had, to, entries, Limits{})
				wantRight(t, x, entries)
				if x.Unkept() != nil {
					t.Error(x.Unkept())
				}
				x.Close()
				had.Close()
			}
			if data, err := os.ReadFile(path); err != nil || !slices.Equal(data, whole) {
				t.Errorf("the file is as spoilt as it was: %v", err)
			}
			x = Open(dir, testAnalysis)
			defer x.Close()
			if len(x.Segments()) == 0 || x.State().Key != to.Key {
				t.Error("whoever opens it has the work again")
			}
			wantRight(t, x, entries)
		})
	}
}

// BenchmarkBring is what one more document costs, with the file's writing and the manifest's, and a cold opening.
func BenchmarkBring(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		dir := filepath.Join(b.TempDir(), "index")
		var entries []Entry
		for i := range n {
			entries = append(entries, Entry{fmt.Sprintf("memories/%02x/%016x-about-this.md", i*256/n, i), fmt.Sprintf("%040x", i*7919)})
		}
		a := testAnalysis
		load := func(i int) (segment.Doc, error) {
			e := entries[i]
			d := segment.Doc{Key: e.Key, Blob: e.Blob, Stored: []byte(strings.Repeat(e.Key+" ", 8))}
			for w := range 40 {
				d.Tokens = append(d.Tokens, segment.Token{Term: fmt.Sprintf("w%d", hash(fmt.Sprint(e.Key, w))%30_000), Weight: 1, Word: uint32(w), Gram: true})
			}
			return d, nil
		}
		x, err := Make(dir, a).Bring(b.Context(), State{Key: "0"}, entries, Limits{}, load)
		if err != nil {
			b.Fatal(err)
		}
		x.Close()
		step := 0
		b.Run(fmt.Sprintf("one of %d", n), func(b *testing.B) {
			for range b.N {
				step++
				entries = append(entries, Entry{fmt.Sprintf("memories/ff/%016x-added.md", 1<<60+uint64(step)), "aa"})
				x := Open(dir, a)
				y, err := x.Bring(b.Context(), State{Key: fmt.Sprint(step)}, entries, Limits{Docs: 64}, load)
				if err != nil || y.Unkept() != nil {
					b.Fatal(err, y.Unkept())
				}
				x.Close()
				y.Close()
			}
		})
		b.Run(fmt.Sprintf("open %d", n), func(b *testing.B) {
			for range b.N {
				Open(dir, a).Close()
			}
		})
	}
}
