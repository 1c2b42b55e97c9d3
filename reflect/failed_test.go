package reflect

import (
	"testing"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestRepairsByTheCodeTeachNothing(t *testing.T) {
	red := run("make test", 1, "error: want 3 pages, got 4")
	mend := edit("/home/dev/project/page.go", "3", "4")
	for _, c := range []struct {
		name             string
		script           script
		repaired, taught bool
	}{
		{"an edit", script{red, mend, run("make test", 0, "ok")}, true, false},
		{"a merge", script{red, run("git merge other", 0, ""), run("make test", 0, "ok")}, true, false},
		{"by itself", script{red, run("make test", 0, "ok")}, true, false},
		{"a look", script{red, run("cat page.go", 0, "x"), run("make test", 0, "ok")}, true, false},
		{"another variable", script{red, run("PAGES=4 make test", 0, "ok")}, true, true},
		{"another folder", script{red, run("cd site && make test", 0, "ok")}, true, true},
		{"another form", script{red, run("make test SITE=all", 0, "ok")}, true, true},
		{"another command before", script{red, run("make pages", 0, "made"), run("make test", 0, "ok")}, true, true},
		{"an edit before it failed again", script{red, mend, red, run("make pages", 0, "made"), run("make test", 0, "ok")}, true, true},
		{"a check taken away", script{red, run("make test --no-verify", 0, "ok")}, true, false},
		{"nothing", script{red, run("make pages", 0, "made")}, false, false},
	} {
		got := Failures(transcript.Session{Client: "claude", ID: "s1", Dir: "/home/dev/project"}, c.script.events())
		if len(got) != 1 || got[0].Repaired != c.repaired || got[0].Taught != c.taught {
			t.Errorf("%s: %+v, want repaired %t, taught %t", c.name, got, c.repaired, c.taught)
		}
	}
}
