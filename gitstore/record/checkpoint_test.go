package record

import (
	"context"
	"testing"
	"time"
)

// A checkpoint is open until it is settled: by a finished session after it, or, if all was done but
// to commit, by the next commit.
func TestOpenCheckpoint(t *testing.T) {
	const head = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		reason, commit string
		want           bool
	}{
		{Asked, "fff", true}, {Compaction, "fff", true}, {Unfinished, "fff", true}, {Finished, head[:12], false},
		{Uncommitted, head[:12], true}, {Uncommitted, "fffffffffff0", false}, {Uncommitted, "", true},
	} {
		if got := (Checkpoint{Reason: c.reason, Commit: c.commit}).Open(head); got != c.want {
			t.Errorf("%s at %q: %v", c.reason, c.commit, got)
		}
	}
}

func TestLatestCheckpoint(t *testing.T) {
	at := func(branch string, n, minute int) Checkpoint {
		return Checkpoint{Client: "claude", Session: "s", N: n, Branch: branch, Time: born.Add(time.Duration(minute) * time.Minute)}
	}
	all := []Checkpoint{at("a", 1, 5), at("b", 2, 9), at("a", 4, 7), at("a", 3, 7)}
	if got, found := Latest(all, "a"); !found || got.N != 4 {
		t.Errorf("%v %v, want the later number", got, found)
	}
	if _, found := Latest(all, ""); found {
		t.Error("one without a branch")
	}
}

// Checkpoints of other months are not read.
func TestCheckpointsBetween(t *testing.T) {
	b, _, _ := newBook(t)
	for i, month := range []time.Month{1, 2, 3, 12} {
		c := Checkpoint{Client: "claude", Session: "s", N: i + 1, Time: time.Date(2026, month, 28, 23, 59, 0, 0, time.UTC)}
		if err := b.Update(context.Background(), func(tx *Tx) error { return tx.PutCheckpoint(Journal, c) }); err != nil {
			t.Fatal(err)
		}
	}
	err := b.View(context.Background(), func(v *View) error {
		got, err := v.Journal().CheckpointsBetween(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		if len(got) != 2 || got[0].N != 2 || got[1].N != 3 {
			t.Errorf("%v", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
