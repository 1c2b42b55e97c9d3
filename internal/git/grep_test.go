package git_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestGrep(t *testing.T) {
	r := testrepo.New(t)
	ctx := t.Context()
	r.Write("a.go", "SaveOrder(SaveOrder, a.b)\nstore.SaveOrder\n")
	r.Write("d:r/b.go", "SaveOrders, xSaveOrder, LoadOrder\n")
	r.Write("README.MD", "SaveOrder\n")
	r.Write("many/1", "often")
	r.Write("many/2", "often")
	r.Write("many/3", "often")
	r.Write("data.bin", "\x00SaveOrder")
	r.Commit("code")
	r.Run("config", "color.ui", "always")
	r.Run("config", "grep.lineNumber", "true")
	r.Run("config", "grep.column", "true")
	g := open(t, r)
	found, err := g.Grep(ctx, "main", []string{"SaveOrder", "LoadOrder", "often", "a.b", "a.c", "-l"}, 1)
	want := map[string][]string{"SaveOrder": {"a.go"}, "LoadOrder": {"d:r/b.go"}, "often": {"many/1", "many/2"}, "a.b": {"a.go"}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if found, err := g.Grep(ctx, "main", []string{"aveOrder"}, 3); err != nil || found != nil {
		t.Errorf("%v %v", found, err)
	}
	if _, err := g.Grep(ctx, "no-such", []string{"often"}, 3); err == nil {
		t.Error("a commit that is not there has no answer")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := g.Grep(ended, "main", []string{"often"}, 3); err == nil {
		t.Error("what had no time has no answer")
	}
}
