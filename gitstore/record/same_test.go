package record

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Between two memories with the same statement, the one in force counts, in any order of ids.
func TestSamePrefersWhatIsInForce(t *testing.T) {
	for _, first := range []string{"0", "f"} {
		b, _, _ := newBook(t)
		twin, live := fact("Deploys go through the green queue"), fact("Deploys go through the green queue")
		twin.ID, live.ID = first+twin.ID[1:], "8"+live.ID[1:]
		put(t, b, live)
		retire(t, b, twin)
		err := b.View(context.Background(), func(v *View) error {
			if m, ok := v.Same("deploys go through the green queue."); !ok || m.ID != live.ID {
				t.Errorf("same as %s %s, want %s", m.ID, m.Status, live.ID)
			}
			if m, ok := v.Retired(live.Text); ok {
				t.Errorf("%s counts as retired, though %s is in force", m.ID, live.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Putting an existing memory again keeps every field and its source. A retired one stays retired
// under every id.
func TestPutAnewChangesNothing(t *testing.T) {
	b, _, _ := newBook(t)
	m := fact("Deploys go through the green queue")
	m.Kind, m.Tags, m.Paths = Decision, []string{"audit"}, []string{"deploy/**"}
	put(t, b, m)
	bare := fact(m.Text)
	bare.Source.By = "import/jsonl"
	put(t, b, bare)
	old := fact("Deploys go through the blue queue")
	old.Text = "Deploys go through the red queue" // edited since
	retire(t, b, old)
	err := b.View(context.Background(), func(v *View) error {
		held, err := v.Find(m.ID)
		if diff := cmp.Diff(m, held); diff != "" {
			t.Errorf("put anew: -before +after\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Update(context.Background(), func(tx *Tx) error { return tx.PutMemory(fact("Deploys go through the red queue"), nil) })
	if !errors.Is(err, ErrRetired) {
		t.Errorf("put what was retired as %s: %v", old.ID, err)
	}
}

// retire writes a memory as one that was retired.
func retire(t *testing.T, b *Book, m Memory) {
	t.Helper()
	err := b.Update(context.Background(), func(tx *Tx) error {
		gone := m.Retire("we have no queues")
		return tx.PutMemory(gone, &m)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAlikeOrdersByWordsInCommon(t *testing.T) {
	b, _, _ := newBook(t)
	for _, text := range []string{"Deploys go through the red queue", "Deploys go through the green queue at night", "Deploys go by hand", "Tests run in parallel"} {
		put(t, b, fact(text))
	}
	// In common with its five words: 5 of 7, 4 of 6, 2 of 7 and none.
	want := []string{"Deploys go through the green queue at night", "Deploys go through the red queue"}
	var got []string
	err := b.View(context.Background(), func(v *View) error {
		for _, m := range v.Alike("Deploys go through the green queue", 0.5) {
			got = append(got, m.Text)
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// An order that is turned around is another rule, and a list may be an order.
func TestSwappedWordsAreAnotherStatement(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Run `make gen` before `make lint`.", "Run `make lint` before `make gen`.", true},
		{"Prefer composition over inheritance.", "Prefer inheritance over composition.", true},
		{"Run eslint and prettier in web/.", "Run prettier and eslint in web/.", true},
		{"Reviewers are Ada, Bob.", "Reviewers are Bob, Ada.", true},
		{"Run `make gen` before `make lint`.", "run make gen before make lint", false},
		{"Run `make gen` before `make lint`.", "Run `make gen` before `make vet`.", true},
	} {
		if got := !Print(c.a).Same(Print(c.b)); got != c.want {
			t.Errorf("%q, %q: %t", c.a, c.b, got)
		}
	}
}

// A purge takes near copies, and no rule that says something else.
func TestNearStatements(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Run the database before the integration tests of the whole API with docker compose up -d db", "Run the database before all integration tests of the whole API with docker compose up -d db", true},
		{"Use pnpm, not npm.", "Use npm, not pnpm.", false},
		{"Keep all logs of the API servers for 100 days in the archive of the team.", "Keep all logs of the API servers for 10 days in the archive of the team.", false},
		{"Support Python 3.11.", "Support Python 3.1.", false},
	} {
		if got := Print(c.a).Near(Print(c.b)); got != c.want {
			t.Errorf("%q, %q: %t", c.a, c.b, got)
		}
	}
}
