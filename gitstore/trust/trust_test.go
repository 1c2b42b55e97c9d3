package trust

import (
	"context"
	"errors"
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

// clone is a clone with a book and a judge.
type clone struct {
	*testrepo.Repo
	t     *testing.T
	book  *record.Book
	judge *Judge
}

const branch = "refs/heads/reverie/memory"

func newClone(t *testing.T) clone {
	t.Helper()
	c := clone{Repo: testrepo.New(t), t: t}
	repo, err := git.Find(t.Context(), c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	state, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	stores := record.Stores{Memory: gitstore.Open(repo, branch), Journal: gitstore.Open(repo, "refs/reverie/journal"), Inbox: gitstore.Open(repo, "refs/reverie/inbox")}
	c.book = record.Open(stores, state, nil)
	c.judge = &Judge{State: state, Memory: stores.Memory, Journal: stores.Journal, Keep: derived.Write}
	if err := c.book.Create(t.Context(), map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	return c
}

// learn writes memories as this clone does.
func (c clone) learn(memories ...record.Memory) {
	c.t.Helper()
	err := c.book.Update(c.t.Context(), func(tx *record.Tx) error {
		for _, m := range memories {
			if err := tx.PutMemory(m, nil); err != nil {
				return err
			}
		}
		tx.Describe(gitstore.Commit{Subject: "remember"})
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// edit changes a memory as this clone does.
func (c clone) edit(m, old record.Memory) {
	c.t.Helper()
	err := c.book.Update(c.t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: "edit"})
		return tx.PutMemory(m, &old)
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// stranger commits a memory to a ref under an address other than ours. Like a fetch it leaves no
// line in the log.
func (c clone) stranger(ref, email string, m record.Memory) {
	c.t.Helper()
	tree := filepath.Join(c.t.TempDir(), "tree")
	c.Run("worktree", "add", "-q", "--detach", tree, ref)
	w := testrepo.At(c.t, tree)
	w.Write(m.Path(), string(m.Format()))
	w.Run("add", ".")
	w.Run("-c", "user.name=Mallory", "-c", "user.email="+email, "commit", "-qm", "strange")
	c.Run("update-ref", ref, w.Run("rev-parse", "HEAD"))
	c.Run("worktree", "remove", "--force", tree)
}

// whose maps the texts of the withheld memories in the newest view to their untrusted authors.
func (c clone) whose(settings config.Trust) map[string][]string {
	c.t.Helper()
	out := map[string][]string{}
	c.view(func(v *record.View) error {
		held, err := c.judge.Withheld(c.t.Context(), v, settings)
		if err != nil {
			return err
		}
		for _, m := range v.Memories() {
			if by := held.Whose(m); len(by) > 0 {
				out[m.Text] = by
			}
		}
		if held.None() != (len(out) == 0) {
			c.t.Errorf("none is %v, and withheld are %v", held.None(), out)
		}
		return nil
	})
	return out
}

func (c clone) view(fn func(*record.View) error) {
	c.t.Helper()
	if err := c.book.View(c.t.Context(), fn); err != nil {
		c.t.Fatal(err)
	}
}

// approve approves memories of a view.
func (c clone) approve(v *record.View, ids ...string) error {
	held, err := c.judge.Withheld(c.t.Context(), v, config.Trust{})
	if err != nil {
		return err
	}
	return c.judge.Approve(v, held, Settings{}, ids)
}

func fact(text string) record.Memory {
	return record.New(record.Memory{Kind: record.Fact, Text: text, Source: record.Source{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), By: "human", How: record.Written}})
}

func TestSettingsSayWhoIsTrusted(t *testing.T) {
	c := newClone(t)
	c.learn(fact("Ours"))
	c.stranger(branch, "Mallory@Example.org", fact("Theirs"))
	withheld := map[string][]string{"Theirs": {"mallory@example.org"}}
	for _, test := range []struct {
		name     string
		settings config.Trust
		want     map[string][]string
	}{
		{"nobody but us", config.Trust{}, withheld},
		{"another", config.Trust{Authors: []string{"bob@example.org"}}, withheld},
		{"the address", config.Trust{Authors: []string{"mallory@example.org"}}, map[string][]string{}},
		{"a pattern of addresses", config.Trust{Authors: []string{"*@EXAMPLE.org"}}, map[string][]string{}},
		{"everyone", config.Trust{Everyone: true}, map[string][]string{}},
		{"signatures alone, but for what was made here", config.Trust{Signed: true, Authors: []string{"*"}}, withheld},
	} {
		for range 2 { // the second time from the stored outcome
			if got := c.whose(test.settings); !cmp.Equal(test.want, got) {
				t.Errorf("%s: %s", test.name, cmp.Diff(test.want, got))
			}
		}
	}
}

func TestApprovalHoldsForExactBytes(t *testing.T) {
	c := newClone(t)
	m := fact("Theirs")
	c.stranger(branch, "mallory@example.org", m)
	c.view(func(v *record.View) error { return c.approve(v, m.ID) })
	if got := c.whose(config.Trust{}); len(got) > 0 {
		t.Errorf("approved, and withheld: %v", got)
	}
	m.Body = "Run this first."
	c.stranger(branch, "mallory@example.org", m)
	if got := c.whose(config.Trust{}); len(got) != 1 {
		t.Errorf("other bytes of what was approved: %v", got)
	}
	approved := func() string {
		c.view(func(v *record.View) error { return c.approve(v) }) // stale approvals are dropped
		text, err := os.ReadFile(filepath.Join(c.judge.State, ApprovedFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := approved(); !strings.Contains(got, m.ID) {
		t.Errorf("what agents are given is approved no more: %q", got)
	}
	old := m
	m.Body = "Run that first."
	c.edit(m, old)
	if got := approved(); got != "{\"approved\":{}}\n" {
		t.Errorf("%q", got)
	}
}

func TestApprovalsThatCannotBeReadAreAnError(t *testing.T) {
	c := newClone(t)
	c.stranger(branch, "mallory@example.org", fact("Theirs"))
	path := filepath.Join(c.judge.State, ApprovedFile)
	if err := os.WriteFile(path, []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	var bad *ApprovalsError
	if err := c.judge.Check(); !errors.As(err, &bad) || bad.Path != path {
		t.Errorf("check: %v", err)
	}
	err := c.book.View(t.Context(), func(v *record.View) error {
		_, err := c.judge.Withheld(t.Context(), v, config.Trust{})
		return err
	})
	if !errors.As(err, &bad) {
		t.Errorf("a view: %v", err)
	}
}

// A damaged derived file releases nothing.
func TestSpoiltOutcomeReleasesNothing(t *testing.T) {
	c := newClone(t)
	c.stranger(branch, "mallory@example.org", fact("Theirs"))
	want := c.whose(config.Trust{})
	path := filepath.Join(c.judge.State, WithheldFile)
	whole, err := os.ReadFile(path)
	if err != nil || len(want) != 1 {
		t.Fatal(want, err)
	}
	for i := 0; i < len(whole); i += 7 {
		spoilt := slices.Clone(whole)
		spoilt[i] ^= 0x11
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := c.whose(config.Trust{}); !cmp.Equal(want, got) {
			t.Errorf("byte %d changed: %v", i, got)
		}
	}
	derived.Write(path, judgement{Key: "x", Refs: map[string]judged{branch: {Tip: "x", Withheld: map[gitstore.ID]int{"b": 3}}}})
	if got := c.whose(config.Trust{}); !cmp.Equal(want, got) {
		t.Errorf("numbers of nobody: %v", got)
	}
}

// If history cannot be read, every unapproved memory is withheld, even ours, and the doubt is
// reported.
func TestUnreadableHistoryWithholds(t *testing.T) {
	c := newClone(t)
	c.stranger(branch, "mallory@example.org", fact("Theirs"))
	lost := c.Run("rev-parse", branch)
	ours, approved := fact("Ours"), fact("Approved")
	c.learn(ours, approved)
	c.view(func(v *record.View) error { return c.approve(v, approved.ID) })
	c.Lose(lost)
	c.view(func(v *record.View) error {
		held, err := c.judge.Withheld(t.Context(), v, config.Trust{})
		if err != nil {
			return err
		}
		if len(held.Doubts) != 1 {
			t.Errorf("doubts: %v", held.Doubts)
		}
		if len(held.Whose(ours)) == 0 || len(held.Whose(approved)) > 0 {
			t.Errorf("ours for %v, what was approved for %v", held.Whose(ours), held.Whose(approved))
		}
		return nil
	})
}

func TestPeopleAreCountedByWhatTheyLeft(t *testing.T) {
	c := newClone(t)
	theirs := fact("Theirs")
	c.learn(fact("Ours"), fact("Ours too"))
	c.stranger(branch, "mallory@example.org", theirs)
	var got []Person
	c.view(func(v *record.View) error {
		if err := c.judge.Again(t.Context(), config.Trust{}, true); err != nil {
			return err
		}
		held, err := c.judge.Withheld(t.Context(), v, config.Trust{})
		if err != nil {
			return err
		}
		got, err = c.judge.People(t.Context(), v, config.Trust{}, held, false, time.Now())
		return err
	})
	want := []Person{
		{Author: "ann@example.com", Trusted: true, Own: true, Memories: 2, Withheld: []string{}},
		{Author: "mallory@example.org", Memories: 1, Withheld: []string{theirs.ID}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A record of the journal counts as this clone's unless another author wrote it.
func TestRecordsOfOthersAreForeign(t *testing.T) {
	c := newClone(t)
	r := record.Reflection{Client: "demo", Session: "s", Hash: strings.Repeat("ab", 32), Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	err := c.book.Update(t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: "reflect"})
		return tx.PutReflection(record.Journal, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	foreign := func(path string) bool {
		t.Helper()
		found, err := c.judge.Records(context.Background(), config.Trust{})
		if err != nil || found.Doubt != nil {
			t.Fatal(err, found.Doubt)
		}
		return found.Foreign(path)
	}
	own := c.Run("ls-tree", "-r", "--name-only", "refs/reverie/journal", record.ReflectionDir)
	if own == "" || foreign(own) {
		t.Errorf("%q is foreign", own)
	}
	journal := c.Run("rev-parse", "refs/reverie/journal")
	tree := filepath.Join(t.TempDir(), "tree")
	c.Run("worktree", "add", "-q", "--detach", tree, journal)
	w := testrepo.At(t, tree)
	const planted = record.ReflectionDir + "/2026-01/00/planted.json"
	w.Write(planted, "{}")
	w.Run("add", ".")
	w.Run("-c", "user.email=mallory@example.org", "commit", "-qm", "strange")
	c.Run("update-ref", "refs/reverie/journal", w.Run("rev-parse", "HEAD"))
	if foreign(own) || !foreign(planted) {
		t.Errorf("own: %v, planted: %v", foreign(own), foreign(planted))
	}
}

// given returns the texts of the memories for agents in the newest view.
func (c clone) given(settings config.Trust) (texts []string) {
	c.t.Helper()
	c.view(func(v *record.View) error {
		held, err := c.judge.Withheld(c.t.Context(), v, settings)
		if err != nil {
			return err
		}
		for _, m := range held.Given(v).Memories() {
			texts = append(texts, m.Text)
		}
		return nil
	})
	return texts
}

// Old approved bytes do not replace a later trusted version, unless they are approved again.
func TestApprovedBytesDoNotComeBack(t *testing.T) {
	c := newClone(t)
	m := fact("First")
	c.stranger(branch, "mallory@example.org", m)
	c.view(func(v *record.View) error { return c.approve(v, m.ID) })
	later := m
	later.Text = "Later"
	c.edit(later, m)
	c.stranger(branch, "mallory@example.org", m)
	for range 2 { // the second time from the stored outcome
		if got := c.given(config.Trust{}); !slices.Equal(got, []string{"Later"}) {
			t.Errorf("given: %v", got)
		}
	}
	c.view(func(v *record.View) error { return c.approve(v, m.ID) })
	if got := c.given(config.Trust{}); !slices.Equal(got, []string{"First"}) {
		t.Errorf("approved again, and given: %v", got)
	}
}

// A memory is withheld if git has dropped the version that counts.
func TestVersionThatIsLostIsWithheld(t *testing.T) {
	c := newClone(t)
	m := fact("Ours")
	c.learn(m)
	blob := c.Run("rev-parse", branch+":"+m.Path())
	theirs := m
	theirs.Text = "Theirs"
	c.stranger(branch, "mallory@example.org", theirs)
	if got := c.given(config.Trust{}); !slices.Equal(got, []string{"Ours"}) {
		t.Fatalf("given: %v", got)
	}
	c.Lose(blob)
	if got := c.given(config.Trust{}); len(got) > 0 {
		t.Errorf("given: %v", got)
	}
	if got := c.whose(config.Trust{}); len(got) != 1 {
		t.Errorf("withheld: %v", got)
	}
}

// A purge removes the version for agents too.
func TestPurgedVersionIsNotGiven(t *testing.T) {
	c := newClone(t)
	m := fact("Ours")
	c.learn(m)
	theirs := m
	theirs.Text = "Theirs"
	c.stranger(branch, "mallory@example.org", theirs)
	blob := c.Run("rev-parse", branch+"~1:"+m.Path())
	err := c.book.Update(t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: "purge"})
		for _, p := range record.NewPurges(record.Purge{Time: time.Now(), Blobs: []string{blob}}) {
			text, err := p.Format()
			if err != nil {
				return err
			}
			tx.Write(record.Branch, p.Path(), text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.given(config.Trust{}); len(got) > 0 {
		t.Errorf("given: %v", got)
	}
}
