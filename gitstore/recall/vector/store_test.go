package vector

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"pgregory.net/rapid"
)

var testSpace = Space{Name: "letters", Digest: "0123456789abcdef0123456789abcdef", Dim: 64}

// letters returns a toy model: a text's vector counts its pairs of letters, hashed to dim numbers.
// Texts with many common pairs are alike.
func letters(dim int) Embed {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			out[i] = make([]float32, dim)
			text = strings.ToLower(text)
			for j := range len(text) - 1 {
				h := fnv.New32a()
				h.Write([]byte(text[j : j+2]))
				out[i][h.Sum32()%uint32(dim)]++
			}
		}
		return out, ctx.Err()
	}
}

// vectorsOf returns the vectors of memories, and the folder they are kept in.
func vectorsOf(t testing.TB, dir string, s Space, all []record.Memory) *Store {
	t.Helper()
	v, err := Make(t.Context(), dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, left, err := v.Fill(t.Context(), letters(s.Dim), all, len(all)*2, time.Time{}); err != nil || left > 0 {
		t.Fatalf("%d left: %v", left, err)
	}
	return v
}

func memories(texts ...string) (all []record.Memory) {
	for _, text := range texts {
		all = append(all, record.New(record.Memory{Kind: record.Fact, Text: text}))
	}
	return all
}

// among accepts only these memories.
func among(all []record.Memory) func(id string) (record.Memory, bool) {
	return func(id string) (m record.Memory, ok bool) {
		i := slices.IndexFunc(all, func(m record.Memory) bool { return m.ID == id })
		if i < 0 {
			return m, false
		}
		return all[i], true
	}
}

// having counts the memories that have a vector.
func having(v *Store, all []record.Memory) (n int) {
	for _, m := range all {
		if v.Has(m) {
			n++
		}
	}
	return n
}

func sentences(n int) []record.Memory {
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("Statement %d is about %s.", i, []string{"tests", "lint", "deploys", "the database", "releases"}[i%5]))
	}
	return memories(texts...)
}

func TestNearestFindsWhatIsAlike(t *testing.T) {
	all := memories("Commit messages are in English.", "The database runs in a container.", "Deployments happen on Mondays.")
	v := vectorsOf(t, t.TempDir(), testSpace, all)
	again := Read(v.dir, testSpace)
	query, _ := letters(64)(t.Context(), []string{"deployments on a monday"})
	for _, v := range []*Store{v, again} {
		hits := v.Nearest(query[0], 1, among(all))
		if len(hits) != 1 || hits[0].Memory.ID != all[2].ID || having(v, all) != 3 {
			t.Errorf("%+v, %d known", hits, having(v, all))
		}
	}
	if hits := again.Nearest(query[0][:32], 1, among(all)); len(hits) > 0 {
		t.Errorf("a query of another dimension finds %v", hits)
	}
	for name, v := range map[string]*Store{"nil": nil, "closed": again} {
		v.Close()
		if hits := v.Nearest(query[0], 1, among(all)); len(hits)+v.Len()+having(v, all) > 0 || !v.Empty() {
			t.Errorf("%s: no vectors find %v", name, hits)
		}
	}
	again.Close()
	if info, err := os.Stat(v.path()); err != nil || os.PathSeparator == '/' && info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// A contested memory counts by its most similar text.
func TestNearestLooksAtEveryText(t *testing.T) {
	all := memories("Commit messages are in English.", "The database runs in a container.")
	all[0].Variants = []record.Variant{{Text: "Deployments happen on Mondays."}}
	v := vectorsOf(t, t.TempDir(), testSpace, all)
	query, _ := letters(64)(t.Context(), []string{"Deployments happen on Mondays."})
	if hits := v.Nearest(query[0], 1, among(all)); len(hits) != 1 || hits[0].Memory.ID != all[0].ID || hits[0].Likeness < 0.999 {
		t.Errorf("%+v", hits)
	}
}

// Likeness approximates the cosine of the original vectors.
func TestLikenessIsTheCosine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(2, 400).Draw(t, "dim")
		number := rapid.Float32Range(-1, 1)
		a := rapid.SliceOfN(number, dim, dim).Draw(t, "a")
		b := rapid.SliceOfN(number, dim, dim).Draw(t, "b")
		var ab, aa, bb float64
		for i := range a {
			ab += float64(a[i]) * float64(b[i])
			aa += float64(a[i]) * float64(a[i])
			bb += float64(b[i]) * float64(b[i])
		}
		x, y := quantise(a), quantise(b)
		if aa == 0 || bb == 0 {
			if likeness(x, y) != 0 {
				t.Fatal("a vector without direction is like something")
			}
			return
		}
		// Each number is off by half a step, a 254th of the greatest: |error| ≤ √dim/254 ·
		// greatest/length, for both.
		off := 0.0
		for _, v := range []struct {
			x      []float32
			length float64
		}{{a, math.Sqrt(aa)}, {b, math.Sqrt(bb)}} {
			greatest := 0.0
			for _, f := range v.x {
				greatest = max(greatest, math.Abs(float64(f)))
			}
			off += 2 * math.Sqrt(float64(dim)) / 254 * greatest / v.length
		}
		want := ab / math.Sqrt(aa) / math.Sqrt(bb)
		if got := likeness(x, y); math.Abs(got-want) > off+1e-6 {
			t.Fatalf("likeness %v, cosine %v, %v off at most", got, want, off)
		}
	})
}

func TestVectorsWithoutDirectionAreKeptAsNone(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range [][]float32{{0, 0}, {nan, 1}, {inf, 1}, {1, -inf}} {
		if r := quantise(x); r.scale != 0 || r.numbers[0]|r.numbers[1] != 0 {
			t.Errorf("%v: %v", x, r)
		}
	}
	all := memories("one", "two")
	v, err := Make(t.Context(), t.TempDir(), testSpace)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	zero := func(ctx context.Context, texts []string) ([][]float32, error) {
		asked++
		return [][]float32{make([]float32, 64), make([]float32, 64)}, nil
	}
	for range 2 {
		if _, left, err := v.Fill(t.Context(), zero, all, 10, time.Time{}); err != nil || left != 0 {
			t.Errorf("%d left: %v", left, err)
		}
	}
	query, _ := letters(64)(t.Context(), []string{"one"})
	if hits := v.Nearest(query[0], 0, among(all)); asked != 1 || len(hits)+having(v, all) > 0 || Read(v.dir, testSpace).Len() != 0 {
		t.Errorf("asked %d times, %v", asked, hits)
	}
}

// The file, byte by byte, for a second reader of the format.
func TestFileFormat(t *testing.T) {
	v := Read(t.TempDir(), Space{Name: "m", Digest: "d", Dim: 2})
	if err := v.write([16]byte{1, 2, 3}, map[key]value{{9}: {0.5, []byte{1, 0xff}}, {7, 7: 1, 8: 2}: {0, []byte{0, 0}}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(v.path())
	if err != nil {
		t.Fatal(err)
	}
	head := "reverie vectors 2\n" + "\x02\x00\x00\x00" + "\x01\x02\x03" + strings.Repeat("\x00", 13) + "\x01\x00m" + "\x01\x00d"
	little := func(n uint32) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) }
	sum := crc32.ChecksumIEEE([]byte(head))
	want := head + little(sum)
	for _, body := range []string{
		"\x07" + strings.Repeat("\x00", 6) + "\x01\x02" + strings.Repeat("\x00", 31) + "\x00\x00\x00\x00" + "\x00\x00",
		"\x09" + strings.Repeat("\x00", 39) + "\x00\x00\x00\x3f" + "\x01\xff",
	} {
		want += body + little(crc32.Update(sum, crc32.IEEETable, []byte(body)))
	}
	if string(got) != want {
		t.Errorf("%s\nnot\n%s", hex.Dump(got), hex.Dump([]byte(want)))
	}
}

// A damaged file yields only rows that were written, and filling repairs it.
func TestDamagedFileGivesNoWrongVector(t *testing.T) {
	dir := t.TempDir()
	all := sentences(6)
	v := vectorsOf(t, dir, testSpace, all)
	good, err := os.ReadFile(v.path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v.path(), append(slices.Clone(good), 'x'), 0o600); err != nil {
		// All rows are valid.
		t.Fatal(err)
	}
	vectorsOf(t, dir, testSpace, all)
	if again, err := os.ReadFile(v.path()); err != nil || !slices.Equal(again, good) {
		t.Errorf("%d bytes after filling, want %d: %v", len(again), len(good), err)
	}
	written := v.content.all()
	query, _ := letters(64)(t.Context(), []string{"statement about releases"})
	other := vectorsOf(t, t.TempDir(), testSpace, all[:3]) // with another birth
	foreign, err := os.ReadFile(other.path())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := slices.Clone(good)
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			switch at := rapid.IntRange(0, len(data)).Draw(t, "at"); rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				data = data[:at]
			case 1:
				if at < len(data) {
					data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
				}
			case 2:
				data = slices.Insert(data, at, rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "bytes")...)
			case 3:
				// This block never reached the disk.
				clear(data[at:min(len(data), at+rapid.IntRange(1, 300).Draw(t, "n"))])
			case 4:
				copy(data[at:], foreign[min(at, len(foreign)):])
			}
		}
		if err := os.WriteFile(v.path(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		read := Read(dir, testSpace)
		for k, x := range read.content.all() {
			if diff := cmp.Diff(written[k], x, cmp.AllowUnexported(value{})); diff != "" {
				t.Fatalf("a row that nobody wrote: %s", diff)
			}
		}
		for _, m := range all {
			if read.Has(m) && written[read.space.keys(&m)[0]].scale == 0 {
				t.Fatal("a vector that nobody wrote")
			}
		}
		for _, n := range read.Nearest(query[0], 2, among(all)) {
			if want := likeness(quantise(query[0]), written[read.space.keys(&n.Memory)[0]]); n.Likeness != want {
				t.Fatalf("likeness %v, want %v", n.Likeness, want)
			}
		}
		read.Close()
		again, err := Make(context.Background(), dir, testSpace)
		if err != nil {
			t.Fatal(err)
		}
		if _, left, err := again.Fill(context.Background(), letters(64), all, 100, time.Time{}); err != nil || left > 0 {
			t.Fatalf("%d left: %v", left, err)
		}
		if again = Read(dir, testSpace); again.Len() != len(all) || !again.content.whole {
			t.Fatalf("%d of %d after filling", again.Len(), len(all))
		}
	})
}

// Checksums protect every bit of a file, and every length.
func TestEveryBitIsGuarded(t *testing.T) {
	v := vectorsOf(t, t.TempDir(), Space{Name: "m", Digest: "d", Dim: 4}, sentences(2))
	data, err := os.ReadFile(v.path())
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if c := v.space.parse(data); len(c.all()) == 2 {
				t.Fatalf("byte %d, bit %d: nobody noticed", i, bit)
			}
			data[i] ^= 1 << bit
		}
	}
	for n := range data {
		if c := v.space.parse(data[:n]); len(c.all()) == 2 {
			t.Fatalf("%d bytes give two rows", n)
		}
	}
}

func TestFillIsBounded(t *testing.T) {
	all := sentences(100)
	v, err := Make(t.Context(), t.TempDir(), testSpace)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		most = max(most, len(texts))
		return letters(64)(ctx, texts)
	}
	done, left, err := v.Fill(t.Context(), embed, all, 50, time.Time{})
	if done != 50 || left != 50 || err != nil || most > batch {
		t.Errorf("%d done, %d left, %v, batches of %d", done, left, err, most)
	}
	if done, left, err = v.Fill(t.Context(), embed, all, 50, time.Now().Add(-time.Hour)); done != 0 || left != 50 || err != nil {
		t.Errorf("after the deadline: %d done, %d left, %v", done, left, err)
	}
	if done, left, err = v.Fill(t.Context(), embed, all, 500, time.Now().Add(time.Hour)); done != 50 || left != 0 || err != nil {
		t.Errorf("%d done, %d left, %v", done, left, err)
	}
	if n := Read(v.dir, testSpace).Len(); n != 100 {
		t.Errorf("%d are kept", n)
	}
}

// Finished work is stored if the rest fails, is cancelled, or takes too long.
func TestFillKeepsWhatWasDone(t *testing.T) {
	all := sentences(100)
	down := errors.New("connection refused")
	for name, test := range map[string]struct {
		then func(ctx context.Context, cancel func()) error
		want error
	}{
		"fails":        {func(context.Context, func()) error { return down }, down},
		"is cancelled": {func(ctx context.Context, cancel func()) error { cancel(); return ctx.Err() }, context.Canceled},
		"is too late":  {func(ctx context.Context, _ func()) error { <-ctx.Done(); return ctx.Err() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v, err := Make(ctx, t.TempDir(), testSpace)
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			deadline := time.Time{}
			if name == "is too late" {
				deadline = time.Now().Add(time.Second)
			}
			done, left, err := v.Fill(ctx, func(ctx context.Context, texts []string) ([][]float32, error) {
				if calls++; calls > 1 {
					return nil, test.then(ctx, cancel)
				}
				return letters(64)(ctx, texts)
			}, all, 100, deadline)
			if done != batch || left != 100-batch || !errors.Is(err, test.want) || test.want == nil && err != nil {
				t.Errorf("%d done, %d left, %v", done, left, err)
			}
			if n := Read(v.dir, testSpace).Len(); n != batch {
				t.Errorf("%d are kept", n)
			}
			if calls > 4 {
				t.Errorf("a model that does not answer was asked %d times", calls)
			}
		})
	}
}

// A text that the model refuses does not cost the others their vectors.
func TestFillPassesOverWhatIsRefused(t *testing.T) {
	all := sentences(40)
	v, err := Make(t.Context(), t.TempDir(), testSpace)
	if err != nil {
		t.Fatal(err)
	}
	done, left, err := v.Fill(t.Context(), func(ctx context.Context, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if strings.Contains(text, "Statement 7 ") {
				return nil, errors.New("too long")
			}
		}
		return letters(64)(ctx, texts)
	}, all, 100, time.Time{})
	if done != 39 || left != 1 || err != nil {
		t.Errorf("%d done, %d left, %v", done, left, err)
	}
}

// After ErrStop the model is not asked for each text alone, and finished work stays.
func TestFillStops(t *testing.T) {
	v, err := Make(t.Context(), t.TempDir(), testSpace)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	done, left, err := v.Fill(t.Context(), func(ctx context.Context, texts []string) ([][]float32, error) {
		if asked++; asked == 2 {
			return nil, fmt.Errorf("%w: somebody waits", ErrStop)
		}
		return letters(64)(ctx, texts)
	}, sentences(40), 100, time.Time{})
	if done != batch || left != 40-batch || !errors.Is(err, ErrStop) || asked != 2 {
		t.Errorf("%d done, %d left, asked %d times: %v", done, left, asked, err)
	}
}

func TestFillBelievesNoOddAnswer(t *testing.T) {
	for name, answer := range map[string][][]float32{"none": nil, "too many": make([][]float32, 7), "short": {make([]float32, 63)}, "empty": {{}}} {
		v, err := Make(t.Context(), t.TempDir(), testSpace)
		if err != nil {
			t.Fatal(err)
		}
		done, left, err := v.Fill(t.Context(), func(context.Context, []string) ([][]float32, error) { return answer, nil }, memories("one"), 9, time.Time{})
		if done != 0 || left != 1 || err == nil {
			t.Errorf("%s: %d done, %d left, %v", name, done, left, err)
		}
	}
}

func TestVectorsOfGoneMemoriesGo(t *testing.T) {
	all := sentences(10)
	dir := t.TempDir()
	vectorsOf(t, dir, testSpace, all)
	vectorsOf(t, dir, testSpace, all[:4])
	if n := Read(dir, testSpace).Len(); n != 4 {
		t.Errorf("%d are kept, want 4", n)
	}
}

// Another model under the same name, or another dimension, is another file; the vectors never mix.
func TestDriftIsAnotherFile(t *testing.T) {
	all := sentences(3)
	dir := t.TempDir()
	query, _ := letters(64)(t.Context(), []string{"tests"})
	vectorsOf(t, dir, testSpace, all)
	for _, s := range []Space{{"letters", "other", 64}, {"others", testSpace.Digest, 64}, {"letters", testSpace.Digest, 32}} {
		if hits := Read(dir, s).Nearest(query[0], 0, among(all)); len(hits)+having(Read(dir, s), all) > 0 {
			t.Errorf("%v: vectors of another space", s)
		}
	}
	// A file under another space's name is invalid.
	data, err := os.ReadFile(filepath.Join(dir, testSpace.file()))
	if err != nil {
		t.Fatal(err)
	}
	drifted := Space{"letters", "other", 64}
	if err := os.WriteFile(filepath.Join(dir, drifted.file()), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := Read(dir, drifted).Len(); n != 0 {
		t.Errorf("%d vectors of another model are believed", n)
	}
}

func TestOldSpacesAreSwept(t *testing.T) {
	all := sentences(2)
	for name, test := range map[string]struct {
		days []int // since each of the spaces was written
		want []int
	}{
		"few":      {[]int{1, 29}, []int{0, 1}},
		"old":      {[]int{31, 1, 400}, []int{1}},
		"too many": {[]int{5, 4, 3, 2, 1}, []int{2, 3, 4}},
	} {
		dir := t.TempDir()
		space := func(n int) Space { return Space{"m", fmt.Sprint(n), 8} }
		for n, days := range test.days {
			data, _ := space(n).header([birthSize]byte{1})
			path := filepath.Join(dir, space(n).file())
			at := time.Now().AddDate(0, 0, -days)
			if err := errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		unfinished := filepath.Join(dir, "new-123")
		if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		v := vectorsOf(t, dir, Space{"m", "now", 8}, all)
		var kept []int
		for n := range test.days {
			if _, err := os.Lstat(filepath.Join(dir, space(n).file())); err == nil {
				kept = append(kept, n)
			}
		}
		if diff := cmp.Diff(test.want, kept); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if _, err := os.Lstat(unfinished); err == nil || Read(dir, v.space).Len() != 2 {
			t.Errorf("%s: %v, and %d vectors", name, err, Read(dir, v.space).Len())
		}
	}
}

func TestVectorsAreBounded(t *testing.T) {
	for dim, want := range map[int]int{1: 100_000, 384: 100_000, 1024: 100_000, MaxDim: 32_387} {
		if got := (Space{"m", "d", dim}).capacity(); got > want || got < want-10 {
			t.Errorf("%d numbers: %d vectors, want %d", dim, got, want)
		}
	}
	if _, err := Make(t.Context(), t.TempDir(), Space{"m", "d", MaxDim + 1}); err == nil {
		t.Error("no error for vectors that are too long")
	}
	all := sentences(20)
	v, err := Make(t.Context(), t.TempDir(), testSpace)
	if err != nil {
		t.Fatal(err)
	}
	v.room = 12
	if done, left, err := v.Fill(t.Context(), letters(64), all, 100, time.Time{}); done != 12 || left != 0 || err != nil {
		t.Errorf("%d done, %d left, %v", done, left, err)
	}
	other := vectorsOf(t, v.dir, testSpace, all) // has more room
	v.content = content{birth: other.content.birth}
	if _, _, err := v.Fill(t.Context(), letters(64), all, 0, time.Time{}); err != nil {
		t.Error(err)
	}
	if read := Read(v.dir, testSpace); read.Len() != 12 || having(read, all[:12]) != 12 {
		t.Errorf("%d are kept, %d of the first 12", read.Len(), having(read, all[:12]))
	}
}

// Rows that another process added stay, even for unknown memories.
func TestFillKeepsWhatOthersAdded(t *testing.T) {
	all := sentences(10)
	v := vectorsOf(t, t.TempDir(), testSpace, all[:2])
	vectorsOf(t, v.dir, testSpace, all)
	if done, left, err := v.Fill(t.Context(), letters(64), all[:3], 9, time.Time{}); done != 1 || left != 0 || err != nil {
		t.Errorf("%d done, %d left, %v", done, left, err)
	}
	if n := Read(v.dir, testSpace).Len(); n != 10 {
		t.Errorf("%d are kept, want 10", n)
	}
}

// By hand: a query along the first axis has cosines 1, 0.8 and −1 with (1, 0), (4, 3) and (−1, 0),
// and 0 with (0, 1).
func TestNearestIsTheCosineAndPassesOverWhatPointsAway(t *testing.T) {
	all := memories("same", "near", "away", "across")
	s := Space{"axes", "d", 2}
	v, err := Make(t.Context(), t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	axes := map[string][]float32{"same": {1, 0}, "near": {4, 3}, "away": {-1, 0}, "across": {0, 1}}
	_, _, err = v.Fill(t.Context(), func(_ context.Context, texts []string) (out [][]float32, err error) {
		for _, text := range texts {
			out = append(out, axes[text])
		}
		return out, nil
	}, all, 9, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	hits := v.Nearest([]float32{7, 0}, 0, among(all))
	if len(hits) != 2 || having(v, all) != 4 || hits[0].Memory.Text != "same" || math.Abs(hits[0].Likeness-1) > 1e-6 || math.Abs(hits[1].Likeness-0.8) > 0.005 {
		t.Errorf("%+v, %d known", hits, having(v, all))
	}
}

// A writer that began before a drop restores none of the vectors, whenever it writes.
func TestDroppedVectorsStayDropped(t *testing.T) {
	dir := t.TempDir()
	all := sentences(40)
	before := vectorsOf(t, dir, testSpace, all[:20])
	read := Read(dir, testSpace)
	dropped := false
	done, _, err := before.Fill(t.Context(), func(ctx context.Context, texts []string) ([][]float32, error) {
		if !dropped {
			if err := Drop(t.Context(), dir); err != nil {
				t.Error(err)
			}
			dropped = true
		}
		return letters(64)(ctx, texts)
	}, all, 100, time.Time{})
	if done != 0 || !errors.Is(err, ErrDropped) {
		t.Errorf("%d done, %v", done, err)
	}
	for _, v := range []*Store{before, read} { // again, and after another writer's new start
		if _, _, err := v.Fill(t.Context(), letters(64), all, 100, time.Time{}); !errors.Is(err, ErrDropped) {
			t.Errorf("%v", err)
		}
		if n := Read(dir, testSpace).Len(); n != 0 {
			t.Errorf("%d came back", n)
		}
		if _, err := Make(t.Context(), dir, testSpace); err != nil {
			t.Error(err)
		}
	}
	if err := Drop(t.Context(), filepath.Join(dir, "nowhere")); err != nil {
		t.Error(err)
	}
}

// A folder or a file that is a link, a FIFO or similar is not ours.
func TestLinksAreNotFollowed(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	all := sentences(3)
	v := vectorsOf(t, elsewhere, testSpace, all)
	link := filepath.Join(dir, "vectors")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skip(err)
	}
	if n := Read(link, testSpace).Len(); n != 0 {
		t.Errorf("%d through a link", n)
	}
	if err := Drop(t.Context(), link); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(v.path()); err != nil {
		t.Errorf("through a link: %v", err)
	}
	if err := os.Symlink(v.path(), filepath.Join(dir, testSpace.file())); err != nil {
		t.Fatal(err)
	}
	if n := Read(dir, testSpace).Len(); n != 0 {
		t.Errorf("%d through a link", n)
	}
}

// TestMain also runs the processes that TestProcessesFillTogether starts.
func TestMain(m *testing.M) {
	if dir := os.Getenv("VECTOR_TEST_FILL"); dir != "" {
		fillProcess(dir)
		return
	}
	os.Exit(m.Run())
}

// fillProcess fills a folder with the vectors of its half of the memories, and some of the other's,
// eight at a time.
func fillProcess(dir string) {
	all := sentences(200)
	if os.Getenv("VECTOR_TEST_HALF") == "2" {
		slices.Reverse(all)
	}
	for left := 1; left > 0; {
		v, err := Make(context.Background(), dir, testSpace)
		if err == nil {
			_, left, err = v.Fill(context.Background(), letters(64), all, 8, time.Time{})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// Two processes fill one file while others read it. In the end every vector is there; no reader
// sees a wrong one, or fewer than before.
func TestProcessesFillTogether(t *testing.T) {
	dir := t.TempDir()
	all := sentences(200)
	want := vectorsOf(t, t.TempDir(), testSpace, all).content.all()
	var fill sync.WaitGroup
	for _, half := range []string{"1", "2"} {
		fill.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "VECTOR_TEST_FILL="+dir, "VECTOR_TEST_HALF="+half)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	ended := make(chan struct{})
	go func() { fill.Wait(); close(ended) }()
	last := 0
	for reading := true; reading; {
		select {
		case <-ended:
			reading = false
		default:
		}
		v := Read(dir, testSpace)
		if v.Len() < last {
			t.Errorf("%d vectors after %d", v.Len(), last)
		}
		last = v.Len()
		for k, r := range v.content.all() {
			if r.scale != want[k].scale || !slices.Equal(r.numbers, want[k].numbers) {
				t.Fatal("a row that nobody wrote")
			}
		}
		v.Close()
	}
	if last != len(all) {
		t.Errorf("%d vectors in the end, want %d", last, len(all))
	}
}

func TestModelsReadWhatTheyWereTrainedWith(t *testing.T) {
	m := memories("One.")[0]
	m.Body = strings.Repeat("ü", maxEmbedded)
	for name, want := range map[string][2]string{
		"all-minilm":                    {"One.", "q"},
		"nomic-embed-text:latest":       {"search_document: One.", "search_query: q"},
		"hf.co/x/Nomic-Embed-Text-v1.5": {"search_document: One.", "search_query: q"},
		"embeddinggemma:300m":           {"title: none | text: One.", "task: search result | query: q"},
	} {
		s := Space{name, "d", 8}
		text, _, _ := strings.Cut(texts(s, m)[0], "\n")
		if diff := cmp.Diff(want, [2]string{text, s.Query("q")}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	s := Space{"m", "d", 8}
	if text := texts(s, m)[0]; len(text) > len("One.\n\n")+maxEmbedded || !strings.HasSuffix(text, "ü") {
		t.Errorf("%d bytes", len(text))
	}
}

func texts(s Space, m record.Memory) (out []string) {
	s.eachText(&m, func(_ key, t []byte) { out = append(out, string(t)) })
	return out
}

func FuzzParse(f *testing.F) {
	s := Space{"m", "d", 4}
	v := vectorsOf(f, f.TempDir(), s, sentences(2))
	data, err := os.ReadFile(v.path())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range s.parse(data).all() {
			if len(r.numbers) != 4 {
				t.Errorf("%v", r)
			}
		}
	})
}
