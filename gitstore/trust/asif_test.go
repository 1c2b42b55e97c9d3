package trust

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// deed is one step of a generated history.
type deed struct {
	who, from int           // of people; from owns the merged branch
	what      string        // write, drop or merge
	to        record.Memory // of the others
}

var people = []string{"ann@example.com", "carol@example.com", "bob@example.org", "mallory@example.org"}

// strange reports whether a member of people is untrusted.
func strange(who int) bool { return strings.HasSuffix(people[who], ".org") }

// world is a clone for each of people.
type world struct {
	t      *testing.T
	clones []clone
}

func newWorld(t *testing.T) *world {
	w := &world{t: t}
	for i, who := range people {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		r := testrepo.Init(t, dir)
		r.Run("config", "user.email", who)
		r.Run("config", "core.logAllRefUpdates", "true")
		repo, err := git.Find(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		state, err := repo.State().Dir()
		if err != nil {
			t.Fatal(err)
		}
		stores := record.Stores{Memory: gitstore.Open(repo, branch), Journal: gitstore.Open(repo, "refs/reverie/journal"), Inbox: gitstore.Open(repo, "refs/reverie/inbox")}
		c := clone{Repo: r, t: t, book: record.Open(stores, state, nil)}
		c.judge = &Judge{State: state, Memory: stores.Memory, Journal: stores.Journal, Keep: derived.Write}
		if i == 0 {
			if err := c.book.Create(t.Context(), map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
				t.Fatal(err)
			}
		} else {
			c.Run("fetch", "-q", w.clones[0].Dir, branch+":"+branch)
		}
		w.clones = append(w.clones, c)
	}
	return w
}

// do does a deed. It returns false if there was nothing to drop.
func (w *world) do(d deed) bool {
	w.t.Helper()
	c := w.clones[d.who]
	if d.what == "merge" {
		c.Run("fetch", "-q", w.clones[d.from].Dir, branch)
		tip := gitstore.ID(c.Run("rev-parse", "FETCH_HEAD"))
		if _, err := c.book.Merge(w.t.Context(), tip, gitstore.Commit{Subject: "merge"}, nil); err != nil {
			w.t.Fatal(err)
		}
		return true
	}
	done := false
	err := c.book.Update(w.t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: d.what})
		done = true
		switch d.what {
		case "write":
			return tx.PutMemory(d.to, &d.to)
		case "drop":
			if _, err := tx.Find(d.to.ID); err != nil {
				done = false
				return nil
			}
			tx.Drop(record.Branch, d.to.Path())
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

// given returns the path and the text form of each memory that agents get in a clone.
func (w *world) given(who int, settings config.Trust) (out []string) {
	w.t.Helper()
	c := w.clones[who]
	c.view(func(v *record.View) error {
		held, err := c.judge.Withheld(context.Background(), v, settings)
		if err != nil {
			return err
		}
		if held != nil && len(held.Doubts) > 0 {
			w.t.Error(held.Doubts)
		}
		for _, m := range held.Given(v).Memories() {
			out = append(out, m.Path()+"\n"+string(m.Format()))
		}
		return nil
	})
	return out
}

// story returns at most n random deeds.
func story(r *rand.Rand, n int) (deeds []deed) {
	var all []record.Memory
	// Each file counts once: if two people remove it, a merge may adopt one history and lose one
	// removal.
	dropped := map[string]bool{}
	text := func() string { return fmt.Sprintf("statement %d", r.IntN(1<<30)) }
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range n {
		d := deed{who: r.IntN(len(people)), what: "write"}
		if d.from = r.IntN(len(people)); r.IntN(3) == 0 && d.from != d.who {
			d.what = "merge"
			deeds = append(deeds, d)
			continue
		}
		if len(all) < 4 || r.IntN(8) == 0 {
			all = append(all, record.New(record.Memory{Kind: record.Constraint, Text: text(), Body: "why", Source: record.Source{Time: at, By: "human", How: record.Written}}))
			d.to = all[len(all)-1]
			deeds = append(deeds, d)
			continue
		}
		d.to = all[r.IntN(len(all))]
		switch r.IntN(10) {
		case 0:
			if dropped[d.to.ID] {
				continue
			}
			d.what, dropped[d.to.ID] = "drop", true
		case 1:
			d.to = d.to.Retire(text())
		case 2:
			d.to.Kind = record.Note
		case 3:
			d.to.Expires = at
		case 4:
			d.to.Branch = "gone"
		case 5:
			d.to.Paths, d.to.Tags = []string{"nowhere/**"}, []string{text()}
		case 6:
			d.to.Status, d.to.Variants = record.Contested, []record.Variant{{Text: text()}}
		case 7:
			d.to.Anchors = []string{`gone.go@0123456789ab "` + text() + `"`}
		case 8:
			d.to.Body = text() + "\n\n" + text()
		default:
			d.to.Text = text()
		}
		deeds = append(deeds, d)
	}
	return deeds
}

// Agents get the same memories as if untrusted people had committed only merges. That holds for any
// edits and any merger, whether the outcome follows the branch or is worked out from scratch.
func TestGivenIsAsIfStrangersHadDoneNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	testrepo.Isolate(t)
	settings := config.Trust{Authors: []string{"*@example.com"}}
	const histories = 12
	changed := 0
	for seed := range histories {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		with, without := newWorld(t), newWorld(t)
		deeds := story(r, 40)
		for i, d := range deeds {
			if done := with.do(d); d.what == "merge" || done && !strange(d.who) {
				without.do(d)
			}
			if i%8 != 7 && i != len(deeds)-1 {
				continue
			}
			for who := range people {
				if strange(who) {
					continue
				}
				want, got := without.given(who, settings), with.given(who, settings)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("history %d, deed %d, for %s (-without +with strangers):\n%s", seed, i, people[who], diff)
				}
				state := with.clones[who].judge.State
				for _, f := range []string{WithheldFile, "authors-memory.json"} {
					if err := os.Rename(filepath.Join(state, f), filepath.Join(state, f+".away")); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(want, with.given(who, settings)); diff != "" {
					t.Fatalf("history %d, deed %d, for %s, anew (-without +with strangers):\n%s", seed, i, people[who], diff)
				}
				for _, f := range []string{WithheldFile, "authors-memory.json"} {
					if err := os.Rename(filepath.Join(state, f+".away"), filepath.Join(state, f)); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				if !slices.Equal(want, with.given(who, config.Trust{Everyone: true})) {
					changed++
				}
			}
		}
	}
	if changed < histories {
		t.Errorf("strangers changed something in %d states only", changed)
	}
}
