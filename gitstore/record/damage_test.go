package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
)

// seen returns the texts that a reader gets, and the error.
func seen(b *Book) (texts []string, err error) {
	err = b.View(context.Background(), func(v *View) error {
		for _, m := range v.Memories() {
			texts = append(texts, m.Text)
		}
		return nil
	})
	return texts, err
}

// A missing object is named and hides only its own content.
func TestDamageHidesOnlyWhatIsDamaged(t *testing.T) {
	b, r, dir := newBook(t)
	memories := []Memory{fact("the first of three"), fact("the second of them"), fact("and a third one")}
	put(t, b, memories...)
	all, err := seen(b)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for _, at := range []string{memories[1].Path(), filepath.Dir(memories[1].Path())} {
		os.Remove(filepath.Join(dir, "cache"))
		back := r.Lose(r.Run("rev-parse", "reverie/memory:"+filepath.ToSlash(at)))
		got, err := seen(b)
		if !errors.Is(err, gitstore.ErrCorrupt) || !strings.Contains(err.Error(), filepath.ToSlash(at)) {
			t.Errorf("%s is damaged, and the error is %v", at, err)
		}
		if len(got) != 2 || strings.Contains(strings.Join(got, "\n"), memories[1].Text) {
			t.Errorf("%s is damaged: %q", at, got)
		}
		if err := b.Update(context.Background(), func(tx *Tx) error { return tx.PutMemory(fact("more"), nil) }); !errors.Is(err, gitstore.ErrCorrupt) {
			t.Errorf("writing over damage: %v", err)
		}
		back()
	}
	if got, err := seen(b); err != nil || cmp.Diff(all, got) != "" {
		t.Errorf("mended: %q, %v", got, err)
	}
}

// A deleted journal differs from one that never existed. Readers get an error after all remaining
// content, and writers can go on.
func TestDeletedJournalIsTold(t *testing.T) {
	b, r, _ := newBook(t)
	put(t, b, fact("for everybody"))
	private := fact("for myself")
	private.Private = true
	put(t, b, private)
	r.Run("update-ref", "-d", "refs/reverie/journal")
	got, err := seen(b)
	if !errors.Is(err, gitstore.ErrDeleted) || cmp.Diff([]string{"for everybody"}, got) != "" {
		t.Errorf("%q, %v", got, err)
	}
	put(t, b, fact("learned after"))
	if got, _ := seen(b); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
