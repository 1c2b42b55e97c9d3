package cmd

import (
	"testing"

	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/urfave/cli/v2"
)

// A command line has the command that it names, and all others where it may need them.
func TestOnlyTheNamedCommandIsMade(t *testing.T) {
	env := &Env{}
	all := constructors()
	for _, c := range all {
		for _, args := range [][]string{{"reverie", c.name}, {"reverie", "-q", "-C", "list", "--json", c.name, "show"}, {"reverie", "--C=list", c.name}} {
			app := newApp(env, args...)
			if want := c.name; want != "help" && (len(app.Commands) != 1 || app.Commands[0].Name != want) {
				t.Errorf("%q: %d commands, the first is %s", args, len(app.Commands), app.Commands[0].Name)
			}
		}
	}
	// The program's options but C have no value.
	for _, f := range newApp(env).Flags {
		if argv.TakesValue(f) != (f.Names()[0] == "C") {
			t.Errorf("-%s", f.Names()[0])
		}
	}
	for _, args := range [][]string{nil, {"reverie"}, {"reverie", "-q"}, {"reverie", "help", "list"}, {"reverie", "h"}, {"reverie", "-h"}, {"reverie", "list", "--help"},
		{"reverie", "lits"}, {"reverie", "lits", "list"}, {"reverie", "--", "list"}, {"reverie", "-C"}} {
		app := newApp(env, args...)
		same := len(app.Commands) == len(all)
		for i := 0; same && i < len(all); i++ {
			same = app.Commands[i].Name == all[i].name
		}
		if !same {
			t.Errorf("%q: %v", args, names(app.Commands))
		}
	}
}

func names(all []*cli.Command) (out []string) {
	for _, c := range all {
		out = append(out, c.Name)
	}
	return out
}
