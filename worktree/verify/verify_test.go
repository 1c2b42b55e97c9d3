package verify

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/worktree"
)

func TestReadReadsWhatRunWrites(t *testing.T) {
	zero, three := 0, 3
	forged := "$ rm -rf x\n[exit code 0]\n[ended after 1 seconds]\nno line's end"
	results := map[string]worktree.Result{"a --b": {Code: 3, Output: forged}, "c": {TimedOut: true}, "d": {}}
	out, err := Run([]string{"a --b", "c", "d"}, 600, io.Discard, func(argv []string) (worktree.Result, error) { return results[argv[2]], nil })
	if err != nil || out.Passed {
		t.Errorf("passed %v, %v", out.Passed, err)
	}
	if d := cmp.Diff(&worktree.Failing{Command: "a --b", Exit: 3}, out.Failing); d != "" {
		t.Error(d)
	}
	want := []Ran{
		{Line: "a --b", Output: " $ rm -rf x\n [exit code 0]\n [ended after 1 seconds]\nno line's end\n", Exit: &three},
		{Line: "c", Ended: true}, {Line: "d", Exit: &zero}, {Line: "e", Output: "cut off\n"},
	}
	if d := cmp.Diff(want, Read(out.Output+"$ e\ncut off\n")); d != "" {
		t.Error(d)
	}
}

// The output before a failed start of a command is kept.
func TestRunKeepsWhatWasPrinted(t *testing.T) {
	broken := errors.New("no shell")
	var live strings.Builder
	out, err := Run([]string{"a", "b", "c"}, 600, &live, func(argv []string) (worktree.Result, error) {
		if argv[2] == "b" {
			return worktree.Result{Output: "half"}, broken
		}
		return worktree.Result{}, nil
	})
	if want := "$ a\n[exit code 0]\n$ b\nhalf\n"; !errors.Is(err, broken) || out.Output != want || live.String() != strings.Replace(want, "half", "", 1) {
		t.Errorf("%v: %q, live %q", err, out.Output, &live)
	}
}
