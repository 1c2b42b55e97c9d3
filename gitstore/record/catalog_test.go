package record

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// told holds a view's answers about statements and ids.
type told struct {
	Same    []Memory
	Retired []string
	Found   []Memory
	Alike   [][]Memory
}

func ask(t *testing.T, b *Book, texts []string) (out told) {
	t.Helper()
	err := b.View(context.Background(), func(v *View) error {
		for _, text := range texts {
			m, _ := v.Same(text)
			gone, ok := v.Retired(text)
			if !ok {
				gone = Memory{}
			}
			found, _ := v.Find(fact(text).ID)
			out.Same, out.Retired, out.Found = append(out.Same, m), append(out.Retired, gone.ID), append(out.Found, found)
			out.Alike = append(out.Alike, v.Alike(text, 0.5))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// statements are made of few words, so that many say nearly the same; some have no word at all.
func statements(r *rand.Rand, n int) (out []string) {
	words := strings.Fields("the export of widgets uses never planner queue 18 20 not replica cache before after main release 缓存 不 が")
	for range n {
		if len(out) > 3 && r.Intn(3) > 0 { // another one's, with a word more, less, or elsewhere
			of := strings.Fields(out[r.Intn(len(out))])
			i, j := r.Intn(len(of)), r.Intn(len(of))
			switch r.Intn(4) {
			case 0:
				of[i], of[j] = of[j], of[i]
			case 1:
				of = append(of, words[r.Intn(len(words))])
			case 2:
				if len(of) > 1 {
					of = append(of[:i:i], of[i+1:]...)
				}
			case 3:
				of[i] = strings.ToUpper(of[i]) + " "
			}
			out = append(out, strings.Join(of, " "))
			continue
		}
		var of []string
		for range 1 + r.Intn(24) {
			of = append(of, words[r.Intn(len(words))]+strings.Repeat("x", r.Intn(3)*r.Intn(2)))
		}
		if r.Intn(12) == 0 {
			of = []string{strings.Repeat("?", 1+r.Intn(3))}
		}
		out = append(out, strings.Join(of, " "))
	}
	return out
}

// A view gives the same answers with another process's catalog as without one.
func TestCatalogSaysWhatGitSays(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for seed := range int64(4) {
		r := rand.New(rand.NewSource(seed))
		b, _, dir := newBook(t)
		texts := statements(r, 66)
		keep := func(texts []string) {
			t.Helper()
			err := b.Update(context.Background(), func(tx *Tx) error {
				for _, text := range texts {
					m := fact(text)
					m.Private = r.Intn(4) == 0
					if tx.written[m.ID] {
						continue
					}
					old := m
					switch r.Intn(6) {
					case 0:
						m = m.Retire("no more")
					case 1:
						m.Text = texts[r.Intn(len(texts))] // edited
					}
					if err := tx.PutMemory(m, &old); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		keep(texts[:50])
		ask(t, b, texts[:1]) // writes the catalog
		for from := 50; from+3 <= 65; from += 3 {
			// Some statements exist already.
			keep(append(texts[from:from+3:from+3], texts[r.Intn(50)], texts[r.Intn(50)]))
			got := ask(t, b, texts)
			bare := *b
			bare.cache = filepath.Join(dir, "none", "cache")
			if diff := cmp.Diff(ask(t, &bare, texts), got); diff != "" {
				t.Fatalf("seed %d, %d statements: -git +catalog\n%s", seed, from+3, diff)
			}
		}
	}
}

// A damaged catalog gives way to git, and two files of one id stay distinct.
func TestSpoiltCatalogGivesWay(t *testing.T) {
	b, r, dir := newBook(t)
	var all []Memory
	for i := range 2 * cacheLag {
		all = append(all, fact(fmt.Sprintf("part%d of the export waits for the queue", i)))
	}
	put(t, b, all...)
	texts(t, b)
	said := []string{all[3].Text, all[20].Text + ".", "nobody has said that so far"}
	want := ask(t, b, said)
	cache := filepath.Join(dir, "cache")
	whole, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	for at := range len(whole) {
		if at%97 != 0 && at > 40 {
			continue
		}
		bad := append([]byte(nil), whole...)
		bad[at] ^= 4
		if err := os.WriteFile(cache, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, b, said); cmp.Diff(want, got) != "" {
			t.Errorf("byte %d: %s", at, cmp.Diff(want, got))
		}
	}
	for _, short := range []int{0, 20, 40, len(whole) / 3, len(whole) - 1} {
		if err := os.WriteFile(cache, whole[:short], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, b, said); cmp.Diff(want, got) != "" {
			t.Errorf("%d bytes: %s", short, cmp.Diff(want, got))
		}
	}

	if err := os.WriteFile(cache, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Run("worktree", "add", "-q", "../wt", "reverie/memory")
	wt := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "wt"))
	twin := all[3]
	twin.Text, twin.Slug = "another text altogether", "a-twin"
	wt.Write(twin.Path(), string(twin.Format()))
	wt.Commit("two of one id")
	said = append(said, twin.Text)
	bare := *b
	bare.cache = ""
	want = ask(t, &bare, said)
	for _, when := range []string{"since the catalog", "in the catalog"} {
		if diff := cmp.Diff(want, ask(t, b, said)); diff != "" {
			t.Errorf("two of one id %s: %s", when, diff)
		}
		if err := os.Remove(cache); err != nil {
			t.Fatal(err)
		}
		texts(t, b)
	}
}
