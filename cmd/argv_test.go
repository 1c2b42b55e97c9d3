package cmd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/cmd/argv"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	cases := []struct{ in, want []string }{
		{[]string{"list", "--json"}, []string{"--json", "list"}},
		{[]string{"-C", "x", "list"}, []string{"-C", "x", "list"}},
		{[]string{"list", "-C", "x"}, []string{"-C", "x", "list"}},
		{[]string{"show", "3f9a", "--at", "~3"}, []string{"show", "--at", "~3", "--", "3f9a"}},
		{[]string{"remember", "text", "-k=fact", "-p", "a/**", "-q"}, []string{"-q", "remember", "-k=fact", "-p", "a/**", "--", "text"}},
		{[]string{"remember", "--", "--not a flag"}, []string{"remember", "--", "--not a flag"}},
		{[]string{"remember", "-"}, []string{"remember", "--", "-"}},
		{[]string{"ingest", "-", "--format", "jsonl"}, []string{"ingest", "--format", "jsonl", "--", "-"}},
		{[]string{"list", "--nosuch"}, []string{"list", "--nosuch"}},
		{[]string{"nosuch", "x"}, []string{"nosuch", "x"}},
		{[]string{"help", "learn"}, []string{"help", "--", "learn"}},
		{[]string{"recall", "-bash: foo: command not found"}, []string{"recall", "--", "-bash: foo: command not found"}},
		{[]string{"recall", "-n", "3", "--- FAIL: TestX (0.00s)", "-q"}, []string{"-q", "recall", "-n", "3", "--", "--- FAIL: TestX (0.00s)"}},
		{[]string{"recall", "--file=a b", "x"}, []string{"recall", "--file=a b", "--", "x"}},
		{[]string{"recall", "x", "-tag:old"}, []string{"recall", "--", "x", "-tag:old"}},
		{[]string{"list", "-tag:old", "-n", "3"}, []string{"list", "-n", "3", "--", "-tag:old"}},
		{[]string{"recall", "-frobnicate"}, []string{"recall", "-frobnicate"}},
		{[]string{"list", "-bash: foo"}, []string{"list", "-bash: foo"}},
		{[]string{"loop", "start", "p.md", "--max", "1", "--json", "--", "works", "--max"}, []string{"--json", "loop", "start", "--max", "1", "--", "p.md", "--", "works", "--max"}},
		{[]string{"loop", "--max", "1", "start", "p.md"}, []string{"loop", "start", "--max", "1", "--", "p.md"}},
		{[]string{"loop", "status", "status"}, []string{"loop", "status", "--", "status"}},
		{[]string{"loop", "nosuch", "start"}, []string{"loop", "--", "nosuch", "start"}},
		{[]string{"sandbox", "exec", "--", "ls", "-l"}, []string{"sandbox", "exec", "--", "--", "ls", "-l"}},
		{[]string{"show", "x", "-h", "--at", "y"}, []string{"show", "--help"}},
		{[]string{"sandbox", "exec", "--", "ls", "--help"}, []string{"sandbox", "exec", "--", "--", "ls", "--help"}},
		{[]string{"guard", "test", "git", "-C", "x", "push", "--force", "--json"}, []string{"guard", "--", "test", "git", "-C", "x", "push", "--force", "--json"}},
		{[]string{"guard", "test", "--", "git", "push", "--", "--help"}, []string{"guard", "--", "test", "git", "push", "--", "--help"}},
		{[]string{"--json", "guard", "test", "--edit", "a", "-q"}, []string{"--json", "guard", "--edit", "--", "test", "a", "-q"}},
		{[]string{"guard", "off", "-q"}, []string{"-q", "guard", "--", "off"}},
		{[]string{"--json", "--help", "nosuch", "x"}, []string{"--json", "help", "nosuch"}},
		{nil, nil},
	}
	for _, c := range cases {
		got := argv.Order(newApp(&Env{}), append([]string{"reverie"}, c.in...))
		if diff := cmp.Diff(append([]string{"reverie"}, c.want...), got); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
}
