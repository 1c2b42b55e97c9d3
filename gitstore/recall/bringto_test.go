package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// documentsOf returns the keys of an index, with the texts of their memories.
func documentsOf(t *testing.T, x *Index) map[string]string {
	t.Helper()
	all := map[string]string{}
	for k, s := range x.Segments() {
		for doc := range s.Len() {
			if !s.May(doc) {
				continue
			}
			m, err := x.Memory(Ref{k, doc})
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := all[s.Key(doc)]; twice {
				t.Fatalf("%s is there twice", s.Key(doc))
			}
			all[s.Key(doc)] = fmt.Sprintf("%s %v", m.Text, m.Private)
		}
	}
	return all
}

// newBook returns an empty book in a repository, with the folder of its state.
func newBook(t *testing.T) (*testrepo.Repo, *record.Book, string) {
	t.Helper()
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	book := record.Open(record.Stores{
		Memory:  gitstore.Open(repo, "refs/heads/reverie/memory"),
		Journal: gitstore.Open(repo, "refs/reverie/journal"),
		Inbox:   gitstore.Open(repo, "refs/reverie/inbox"),
	}, dir, nil)
	if err := book.Create(t.Context(), map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	return r, book, dir
}

// lacquered returns some memories of the branch.
func lacquered(t *testing.T, book *record.Book, n int) (all []record.Memory) {
	t.Helper()
	for i := range n {
		all = append(all, record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Widget%d needs lacquer", i),
			Source: record.Source{Time: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), By: "human", How: record.Written}}))
	}
	err := book.Update(t.Context(), func(tx *record.Tx) error {
		for _, m := range all {
			tx.Write(record.Branch, m.Path(), m.Format())
		}
		tx.Describe(gitstore.Commit{Subject: "test: add"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An index that was made while git had lost memories is not kept: when they are back, it finds
// them.
func TestDamageIsNotKept(t *testing.T) {
	r, book, dir := newBook(t)
	all := lacquered(t, book, 6)
	index := filepath.Join(dir, "cache")
	search := func() (found int, kept bool, damage error) {
		if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil { // which has it still
			t.Fatal(err)
		}
		damage = book.View(t.Context(), func(v *record.View) error {
			had := Open(index)
			defer had.Close()
			x, err := had.BringTo(t.Context(), v, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			found = len(x.Rank(Request{Text: "lacquer", N: 9, Apart: true}))
			return nil
		})
		x := Open(index)
		defer x.Close()
		return found, x.catalog.Key != "", damage
	}
	back := r.Lose(r.Run("rev-parse", "refs/heads/reverie/memory:"+all[2].Path()))
	if found, kept, damage := search(); found != len(all)-1 || kept || damage == nil {
		t.Errorf("without one object %d of %d are found, the index is kept: %v; the view says %v", found, len(all), kept, damage)
	}
	back()
	if found, kept, damage := search(); found != len(all) || !kept || damage != nil {
		t.Errorf("when it is back %d of %d are found, the index is kept: %v; the view says %v", found, len(all), kept, damage)
	}
}

// A merged history with a purge record removes the purged text from the file at once.
func TestPurgedTextLeavesTheFile(t *testing.T) {
	for name, how := range map[string]func(m record.Memory, blob string) record.Purge{
		"memory":  func(m record.Memory, _ string) record.Purge { return record.Purge{Memories: []string{m.ID}} },
		"content": func(_ record.Memory, blob string) record.Purge { return record.Purge{Blobs: []string{blob}} },
	} {
		t.Run(name, func(t *testing.T) {
			r, book, dir := newBook(t)
			all := lacquered(t, book, 30)
			index := filepath.Join(dir, "cache")
			bring := func(limit Limits) (found int, err error) {
				err = book.View(t.Context(), func(v *record.View) error {
					had := Open(index)
					defer had.Close()
					x, err := had.BringTo(t.Context(), v, limit)
					if err != nil {
						return err
					}
					defer x.Close()
					found = len(x.Rank(Request{Text: "lacquer", N: 50, Apart: true}))
					return x.Unkept()
				})
				return found, err
			}
			holds := func() bool {
				data, err := os.ReadFile(index)
				return err != nil || bytes.Contains(data, []byte(all[7].Text))
			}
			if found, err := bring(Limits{}); found != len(all) || err != nil || !holds() {
				t.Fatalf("%d are found, %v", found, err)
			}
			purge := how(all[7], r.Run("rev-parse", "refs/heads/reverie/memory:"+all[7].Path()))
			err := book.Update(t.Context(), func(tx *record.Tx) error {
				tx.Drop(record.Branch, all[7].Path())
				for _, p := range record.NewPurges(purge) {
					data, err := p.Format()
					if err != nil {
						return err
					}
					tx.Write(record.Branch, p.Path(), data)
				}
				tx.Describe(gitstore.Commit{Subject: "test: purge"})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bring(Limits{Docs: 5}); !errors.Is(err, ErrBehind) {
				t.Errorf("who may not write it again says %v", err)
			}
			if found, err := bring(Limits{}); found != len(all)-1 || err != nil || holds() {
				t.Errorf("%d are found, %v, the text is still there: %v", found, err, holds())
			}
		})
	}
}

// After any changes to the branch and the journal, an updated index equals a fresh one. That
// includes an id in both or twice in one, an unreadable file, and a memory that moves between the
// two.
func TestIndexFollowsTheView(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	_, book, dir := newBook(t)
	chance := rand.New(rand.NewPCG(3, 9))
	stores := []record.Where{record.Branch, record.Journal}
	there := map[string]bool{} // where + path
	var ids []record.Memory
	for i := range 12 {
		ids = append(ids, record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Widget%d needs lacquer", i),
			Source: record.Source{Time: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), By: "human", How: record.Written}}))
	}
	index := filepath.Join(dir, "cache")
	applied := 0
	for step := range 160 {
		if step%40 == 0 { // from the beginning: nothing is spoilt
			err := book.Update(t.Context(), func(tx *record.Tx) error {
				for key := range there {
					at := record.Branch
					if key[0] != '0' {
						at = record.Journal
					}
					tx.Drop(at, key[1:])
				}
				clear(there)
				tx.Describe(gitstore.Commit{Subject: "test: empty"})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		err := book.Update(t.Context(), func(tx *record.Tx) error {
			touched := map[string]bool{}
			for range 1 + chance.IntN(4) {
				of := chance.IntN(len(ids))
				m, at := ids[of], stores[of%2]
				if chance.IntN(10) == 0 { // a file on both sides: one of them counts
					at = stores[1-of%2]
				}
				path := m.Path()
				if step%40 > 30 && chance.IntN(5) == 0 {
					path = path[:len(path)-len(".md")] + "-again.md" // a second file with the id
				}
				key := fmt.Sprint(int(at)) + path
				if touched[key] {
					continue
				}
				touched[key] = true
				switch chance.IntN(8) {
				case 0, 1:
					if there[key] {
						tx.Drop(at, path)
						delete(there, key)
					}
					continue
				case 2:
					m.Status, m.Body = record.Retired, "It is over."
				case 3:
					if step%40 > 20 {
						tx.Write(at, path, []byte("no memory\n"))
						there[key] = true
						continue
					}
				}
				m.Text += fmt.Sprintf(" in step %d", step)
				tx.Write(at, path, m.Format())
				there[key] = true
			}
			tx.Describe(gitstore.Commit{Subject: "test: change"})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if chance.IntN(3) == 0 {
			continue // several commits at once
		}
		err = book.View(context.Background(), func(v *record.View) error {
			had := Open(index)
			defer had.Close()
			if _, err := follow(t.Context(), had.change(), v, v, Limits{}); err == nil {
				applied++
			}
			got, err := had.BringTo(t.Context(), v, Limits{})
			if err != nil {
				return err
			}
			defer got.Close()
			want, err := Open("").BringTo(t.Context(), v, Limits{})
			if err != nil {
				return err
			}
			if diff := cmp.Diff(documentsOf(t, want), documentsOf(t, got)); diff != "" {
				t.Fatalf("step %d: %s", step, diff)
			}
			if diff := cmp.Diff(want.catalog.State, got.catalog.State); diff != "" {
				t.Fatalf("step %d: %s", step, diff)
			}
			return got.Unkept()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if applied < 10 {
		t.Errorf("%d steps were taken in by what changed alone", applied)
	}
}
