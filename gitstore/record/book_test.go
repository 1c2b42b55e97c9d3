package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// newBook returns a Book in a new repository, with its store created.
func newBook(t testing.TB) (*Book, *testrepo.Repo, string) {
	t.Helper()
	r := testrepo.New(t)
	repo, err := git.Find(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	b := Open(Stores{
		Memory:  gitstore.Open(repo, "refs/heads/reverie/memory"),
		Journal: gitstore.Open(repo, "refs/reverie/journal"),
		Inbox:   gitstore.Open(repo, "refs/reverie/inbox"),
	}, dir, nil)
	if err := b.Create(context.Background(), map[string]string{"README.md": "# Memory\n", "reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	return b, r, dir
}

func put(t testing.TB, b *Book, memories ...Memory) {
	t.Helper()
	err := b.Update(context.Background(), func(tx *Tx) error {
		for _, m := range memories {
			if err := tx.PutMemory(m, nil); err != nil {
				return err
			}
		}
		tx.Describe(gitstore.Commit{Subject: fmt.Sprintf("remember: %d", len(memories))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func texts(t testing.TB, b *Book) []string {
	t.Helper()
	var out []string
	err := b.View(context.Background(), func(v *View) error {
		for _, m := range v.Memories() {
			out = append(out, m.Text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fact(text string) Memory {
	return New(Memory{Kind: Fact, Text: text, Source: Source{Time: born, By: "human", How: Written}})
}

// A view equals git's content, regardless of the cache.
func TestCacheIsNeverTrusted(t *testing.T) {
	b, r, dir := newBook(t)
	var all []Memory
	words := []string{"two", "three"}
	for i := range 2 * cacheLag {
		all = append(all, fact(fmt.Sprint("fact ", i)))
		words = append(words, fmt.Sprint("fact ", i))
	}
	put(t, b, append(all, fact("one"), fact("two"))...)
	want := texts(t, b)
	cache := filepath.Join(dir, "cache")
	whole, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	spoil := map[string]func() error{
		"gone":     func() error { return nil },
		"empty":    func() error { return os.WriteFile(cache, nil, 0o600) },
		"torn":     func() error { return os.WriteFile(cache, whole[:len(whole)/2], 0o600) },
		"foreign":  func() error { return os.WriteFile(cache, []byte("something else altogether"), 0o600) },
		"newer":    func() error { return os.WriteFile(cache, append([]byte("reverie cache 9\n"), whole[16:]...), 0o600) },
		"a folder": func() error { os.Remove(cache); return os.MkdirAll(filepath.Join(cache, "x"), 0o700) },
		"unrelated": func() error {
			f := catalog.Open(cache)
			defer f.Close()
			c, err := f.Read().Change(nil).Commit(t.Context(), catalog.State{Trees: [2]string{"0123456789012345678901234567890123456789"}}, 0)
			return errors.Join(err, c.Unkept())
		},
	}
	for i := range whole {
		if i%397 == 0 {
			spoil[fmt.Sprintf("bit %d", i)] = func() error {
				bad := append([]byte(nil), whole...)
				bad[i] ^= 4
				return os.WriteFile(cache, bad, 0o600)
			}
		}
	}
	for name, do := range spoil {
		os.RemoveAll(cache)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, texts(t, b)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Edited by plain git.
	os.RemoveAll(cache)
	texts(t, b)
	r.Run("worktree", "add", "-q", "../wt", "reverie/memory")
	wt := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "wt"))
	three := fact("three")
	wt.Write(three.Path(), string(three.Format()))
	wt.Run("rm", "-q", fact("one").Path())
	wt.Commit("by hand")
	if diff := cmp.Diff(sortedTexts(words...), texts(t, b)); diff != "" {
		t.Error(diff)
	}
}

func sortedTexts(words ...string) []string {
	var out []string
	for len(words) > 0 {
		least := 0
		for i := range words {
			if fact(words[i]).ID < fact(words[least]).ID {
				least = i
			}
		}
		out = append(out, words[least])
		words = append(words[:least:least], words[least+1:]...)
	}
	return out
}

// The state folder may have come as a link to a folder of the user's.
func TestCacheIsNotWrittenThroughALink(t *testing.T) {
	b, _, dir := newBook(t)
	var all []Memory
	for i := range 2 * cacheLag {
		all = append(all, fact(fmt.Sprint("fact ", i)))
	}
	put(t, b, all...)
	documents := t.TempDir()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(documents, dir); err != nil {
		t.Fatal(err)
	}
	if n := len(texts(t, b)); n != len(all) {
		t.Errorf("%d memories are read", n)
	}
	if there, err := os.ReadDir(documents); len(there) != 0 || err != nil {
		t.Errorf("there are %v, %v", there, err)
	}
}

// The catalog preserves every field, of readable and of damaged files, and distinguishes files of
// one id.
func TestCatalogKeepsEveryField(t *testing.T) {
	m := pnpm()
	m.Status, m.Variants = Contested, []Variant{{"b", "why b"}, {"c", ""}}
	m.Topic, m.Branch, m.Supersedes, m.Anchors = "topic", "feature/x", []string{"0123456789abcdef"}, []string{`a.go@1234 "x"`}
	m.Expires, m.Ref, m.Extra = born.AddDate(1, 0, 0), "mem0:17", []Field{{"mood", "'good'"}}
	gone := fact("gone")
	gone.Status = Retired
	spoilt := func(path string) entry {
		return entry{flags: isBad, file: &parsed{path: path, blob: "b2", bad: &FormatError{Path: path, Line: 3, Field: "kind", Reason: "no"}}}
	}
	want := [2]shelf{
		{tree: "aa", entries: []entry{packed("b1", m.Path(), m), packed("b4", m.Path()+"x", m), packed("b3", gone.Path(), gone), spoilt("memories/zz/x.md")}},
		{tree: "bb", entries: []entry{spoilt("memories/00/x.md"), packed("b1", m.Path(), m)}},
	}
	for i := range want {
		slices.SortFunc(want[i].entries, func(a, b entry) int { return strings.Compare(a.path(), b.path()) })
	}
	f := catalog.Open(filepath.Join(t.TempDir(), "cache"))
	defer f.Close()
	keep(f.Read(), &source{}, want)
	c := f.Read()
	defer c.Close()
	got := cached(c, &source{})
	for i := range got {
		if got[i].tree != want[i].tree || len(got[i].entries) != len(want[i].entries) {
			t.Fatalf("%+v", got[i])
		}
		for j := range got[i].entries {
			g, w := &got[i].entries[j], &want[i].entries[j]
			a, ok := g.memory()
			b, ok2 := w.memory()
			if diff := cmp.Diff(b, a); diff != "" || ok != ok2 {
				t.Error(diff, ok, ok2)
			}
			if g.is(isRetired) != w.is(isRetired) || g.is(isBad) != w.is(isBad) || g.mark() != w.mark() {
				t.Errorf("%s: flags %b, want %b", g.path(), g.flags, w.flags)
			}
			if diff := cmp.Diff(w.get(), g.get(), cmp.AllowUnexported(parsed{}, Fingerprint{}), cmpopts.IgnoreFields(parsed{}, "body")); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func packed(blob gitstore.ID, path string, m Memory) entry {
	e := entry{file: &parsed{path: path, blob: blob}}
	e.pack(m)
	return e
}

func FuzzUnpack(f *testing.F) {
	f.Add(string(Pack(pnpm())))
	f.Fuzz(func(t *testing.T, data string) { // must not panic, nor take memory out of proportion
		if m, ok := Unpack(data); ok {
			if again, ok := Unpack(string(Pack(m))); !ok || cmp.Diff(m, again) != "" {
				t.Errorf("%v, %s", ok, cmp.Diff(m, again))
			}
		}
	})
}

// A memory is the same in the catalog and in git, whichever pages of the catalog are damaged.
func TestMarkHidesNothing(t *testing.T) {
	words := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z never use pnpm 18 20 日本語 한국어")
	r := rand.New(rand.NewPCG(1, 2))
	some := func() string {
		var out []string
		for range r.IntN(30) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	same := 0
	for range 20000 {
		a := some()
		b := a
		for range r.IntN(3) {
			b = strings.Replace(b, words[r.IntN(len(words))], words[r.IntN(len(words))], 1)
		}
		p, q := Print(a), Print(b)
		for _, share := range []float64{1, 0.5} {
			if p.Alike(q) >= share && !mayShare(p.mark(), q.mark(), share) {
				t.Fatalf("%q and %q are %v alike", a, b, p.Alike(q))
			}
		}
		if p.Same(q) {
			same++
		}
	}
	if same < 100 {
		t.Errorf("only %d say the same: that shows little", same)
	}
}

func TestSpoiltFileHidesNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	b, r, _ := newBook(t)
	put(t, b, fact("one"), fact("two"))
	r.Run("worktree", "add", "-q", "../wt", "reverie/memory")
	wt := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "wt"))
	wt.Write(fact("one").Path(), "spoilt")
	wt.Write("memories/zz/not-a-memory.txt", "x")
	huge := fact("huge").Path()
	wt.Write(huge, strings.Repeat("x", 65<<20))
	wt.Commit("spoil")
	err := b.View(context.Background(), func(v *View) error {
		if len(v.Memories()) != 1 || v.Memories()[0].Text != "two" {
			t.Errorf("memories %v", v.Memories())
		}
		var bad []string
		for _, e := range v.Bad() {
			bad = append(bad, e.Path)
		}
		want := []string{fact("one").Path(), huge, "memories/zz/not-a-memory.txt"}
		slices.Sort(want)
		if diff := cmp.Diff(want, bad); diff != "" {
			t.Error(diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPutRefusesAnothersPath(t *testing.T) {
	b, _, _ := newBook(t)
	m := fact("one")
	put(t, b, m)
	m.Body = "another body"
	err := b.Update(context.Background(), func(tx *Tx) error { return tx.PutMemory(m, nil) })
	if !errors.Is(err, ErrTaken) {
		t.Errorf("error %v, want ErrTaken", err)
	}
}

func TestFindByPrefix(t *testing.T) {
	b, _, _ := newBook(t)
	var many []Memory
	for i := range 40 {
		many = append(many, fact(fmt.Sprintf("fact number %d", i)))
	}
	put(t, b, many...)
	err := b.View(context.Background(), func(v *View) error {
		for _, m := range many {
			if got, err := v.Find(strings.ToUpper(m.ID[:12])); err != nil || got.ID != m.ID {
				t.Errorf("find %s: %v, %v", m.ID[:12], got.ID, err)
			}
		}
		for _, prefix := range []string{"", "zz", "../../evil", "0000000000000000"} {
			if _, err := v.Find(prefix); !errors.Is(err, ErrNoMemory) {
				t.Errorf("find %q: %v, want ErrNoMemory", prefix, err)
			}
		}
		ambiguous := 0
		for _, c := range "0123456789abcdef" {
			if _, err := v.Find(string(c)); errors.Is(err, ErrAmbiguous) {
				ambiguous++
			}
		}
		if ambiguous == 0 {
			t.Error("40 ids and no digit begins two of them")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The next accept completes one that was interrupted after the branch.
func TestAcceptIsFinishedAfterAnInterruption(t *testing.T) {
	b, _, _ := newBook(t)
	op := NewOperation(Operation{Op: Add, How: Said, Memory: fact("one")})
	if err := b.Update(context.Background(), func(tx *Tx) error { return tx.PutOperation(op) }); err != nil {
		t.Fatal(err)
	}
	put(t, b, fact("one")) // the branch's half
	if err := b.Update(context.Background(), func(tx *Tx) error { return tx.Accept(op) }); err != nil {
		t.Fatal(err)
	}
	err := b.View(context.Background(), func(v *View) error {
		ops, err := v.Inbox().Operations()
		if len(ops) != 0 || len(v.Memories()) != 1 {
			t.Errorf("%d operations, %d memories", len(ops), len(v.Memories()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Private memories go to the journal and never to the branch; a view shows both.
func TestPrivateStaysInTheJournal(t *testing.T) {
	b, r, _ := newBook(t)
	taste := fact("I like tabs")
	taste.Private = true
	put(t, b, taste, fact("Everybody's"))
	if diff := cmp.Diff(sortedTexts("I like tabs", "Everybody's"), texts(t, b)); diff != "" {
		t.Error(diff)
	}
	if out := r.Run("ls-tree", "-r", "--name-only", "reverie/memory"); strings.Contains(out, taste.ID) {
		t.Errorf("the branch has it:\n%s", out)
	}
	if out := r.Run("ls-tree", "-r", "--name-only", "refs/reverie/journal"); !strings.Contains(out, taste.Path()) {
		t.Errorf("the journal has it not:\n%s", out)
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	r := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born, Events: 3,
		Candidates: []Candidate{{Kind: Fact, Text: "x", How: Said, Detector: "said", Evidence: []Evidence{{Event: 1, Quote: "q", Time: born}}}}}
	read := r // by a model, in addition to the detectors
	read.Model, read.Digest, read.Prompt = "qwen2.5-coder:7b", strings.Repeat("0d", 32), strings.Repeat("cd", 32)
	d := NewDream(Dream{Time: born, Reflections: []string{r.ID()}, Operations: []string{"0123456789abcdef"}, Notes: "- nothing"}, "tree")
	c := Checkpoint{Client: "claude", Session: "s-1", N: 1, Reason: "asked", Time: born, Text: "## Intent"}
	rej := Rejection{ID: "0123456789abcdef", Text: "x", Reason: "no", Time: born}
	op := NewOperation(Operation{Op: Add, How: Seen, Memory: fact("one"), Sightings: []Sighting{{Reflection: r.ID(), Client: "claude", Session: "s-1", How: Seen}}})
	b, _, _ := newBook(t)
	err := b.Update(context.Background(), func(tx *Tx) error {
		tx.PutDream(d)
		return errors.Join(tx.PutCheckpoint(Journal, c), tx.PutCheckpoint(Branch, c), tx.PutReflection(Journal, r), tx.PutReflection(Branch, r), tx.PutReflection(Journal, read), tx.PutOperation(op), tx.Reject(rej))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.View(context.Background(), func(v *View) error {
		reflections, err1 := v.Journal().Reflections()
		dreams, err2 := v.Journal().Dreams()
		ops, err3 := v.Inbox().Operations()
		rejections, err4 := v.Inbox().Rejections()
		evidence, err6 := v.Branch().Reflections()
		checkpoints, err5 := v.Journal().Checkpoints("claude/s-1")
		shared, err7 := v.Branch().Checkpoints("")
		for _, pair := range [][2]any{{[]Reflection{r, read}, reflections}, {[]Reflection{r}, evidence}, {[]Dream{d}, dreams}, {[]Operation{op}, ops}, {[]Rejection{rej}, rejections}, {[]Checkpoint{c}, checkpoints}, {[]Checkpoint{c}, shared}} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Error(diff)
			}
		}
		other := read
		other.Prompt = strings.Repeat("ce", 32)
		for _, has := range []struct {
			r    Reflection
			want bool
		}{{r, true}, {read, true}, {other, false}} {
			if got := v.Journal().Has(has.r); got != has.want {
				t.Errorf("has %s: %v", has.r.ID(), got)
			}
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, err7)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A checkpoint is immutable: another text under its name is not written. A session whose id extends
// another's has none of its checkpoints.
func TestCheckpointNeverChanges(t *testing.T) {
	b, _, _ := newBook(t)
	c := Checkpoint{Client: "claude", Session: "s-1", N: 2, Reason: "asked", Time: born, Text: "first"}
	for _, text := range []string{"first", "second"} {
		c.Text = text
		if err := b.Update(context.Background(), func(tx *Tx) error { return tx.PutCheckpoint(Journal, c) }); err != nil {
			t.Fatal(err)
		}
	}
	other := Checkpoint{Client: "claude", Session: "s", N: 1, Reason: "stop", Time: born, Text: "other"}
	bad := Checkpoint{Client: "claude", Session: "a/b", N: 1, Time: born}
	err := b.Update(context.Background(), func(tx *Tx) error {
		if err := tx.PutCheckpoint(Journal, bad); err == nil {
			t.Error("a name that is none was written")
		}
		return tx.PutCheckpoint(Journal, other)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.View(context.Background(), func(v *View) error {
		for session, want := range map[string]string{"claude/s-1": "first", "claude/s": "other", "claude/s-2": ""} {
			got := ""
			all, err := v.Journal().Checkpoints(session)
			if err != nil {
				return err
			}
			for _, c := range all {
				got += c.Text
			}
			if got != want {
				t.Errorf("%s: %q, want %q", session, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A file of the branch with the id of a private memory does not hide it, and is named. The same
// file on both sides, left by an interrupted move, is one memory of the branch.
func TestPrivateMemoryIsNotHidden(t *testing.T) {
	b, _, _ := newBook(t)
	own := fact("Never deploy on a Friday")
	own.Private = true
	put(t, b, own)
	strange := fact("Deploy on Fridays")
	strange.ID = own.ID
	for _, c := range []struct {
		text    []byte
		want    string
		private bool
		bad     int
	}{
		{strange.Format(), own.Text, true, 1},
		{own.Format(), own.Text, false, 0},
	} {
		update(t, b, func(tx *Tx) error { tx.Write(Branch, own.Path(), c.text); return nil })
		if err := b.View(t.Context(), func(v *View) error {
			all := v.Memories()
			if len(all) != 1 || all[0].Text != c.want || all[0].Private != c.private || len(v.Bad()) != c.bad {
				t.Errorf("%+v, bad %v; want %q, private %v, %d bad", all, v.Bad(), c.want, c.private, c.bad)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := b.View(t.Context(), func(v *View) error {
			if m, err := v.Find(own.ID); err != nil || m.Text != c.want {
				t.Errorf("%v, %v", m, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
