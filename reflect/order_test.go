package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestOrdersAreWeakAndInPassing(t *testing.T) {
	r := study(t, script{
		user("ok, commit this, push and open a draft PR please"),
		user("why does the build fail? it worked yesterday"),
		user("can you update the changelog?"),
		user("lint fails"),
		user("no mocks in unit tests"),
		user("continue until you either finish, or need me. git commit after each step, immediately following its tests"),
		user("no-one should edit the lock file"),
		user("no, sort the imports"),
		user("Always use pnpm in web/, never npm: CI rejects the lock file."),
	})
	var got []string
	for _, c := range r.Candidates {
		if c.Detector != record.Order {
			continue
		}
		got = append(got, c.Text)
		if !c.Weak || c.How != record.Said || !record.Doubtful(c.Evidence) {
			t.Errorf("%s: %+v", c.Text, c)
		}
	}
	if diff := cmp.Diff([]string{"Commit this.", "Open a draft PR.", "Update the changelog.", "Git commit after each step.", "No-one should edit the lock file.", "Sort the imports."}, got); diff != "" {
		t.Error(diff)
	}
}
