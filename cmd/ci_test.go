package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/rogpeppe/go-internal/testscript"
)

// steps FILE DIR writes the commands of a CI file to DIR/1.sh, DIR/2.sh and so on, as its forge
// gives them to a shell.
func stepsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steps FILE DIR")
	}
	blocks := shellBlocks(ts.ReadFile(args[0]))
	if len(blocks) == 0 {
		ts.Fatalf("no commands in %s", args[0])
	}
	dir := ts.MkAbs(args[1])
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.MkdirAll(dir, 0o755))
	for i, b := range blocks {
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.sh", i+1)), []byte(b), 0o644))
	}
}

// shellBlocks reads the literal blocks of YAML that are commands: those after "run: |" and "- |".
func shellBlocks(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	depth := func(l string) int { return len(l) - len(strings.TrimLeft(l, " ")) }
	for i := 0; i < len(lines); i++ {
		if begin := strings.TrimSpace(lines[i]); begin != "run: |" && begin != "- run: |" && begin != "- |" {
			continue
		}
		outer, block, inner := depth(lines[i]), "", -1
		for i+1 < len(lines) && (lines[i+1] == "" || depth(lines[i+1]) > outer) {
			i++
			if inner < 0 {
				inner = depth(lines[i])
			}
			block += lines[i][min(inner, len(lines[i])):] + "\n"
		}
		out = append(out, strings.TrimRight(block, "\n")+"\n")
	}
	return out
}

func TestShellBlocks(t *testing.T) {
	got := shellBlocks("a:\n  - name: x\n    run: |\n      one\n        two\n\n      three\n    env: y\n  - |\n    four\n")
	if want := "one\n  two\n\nthree\n|four\n"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestCICommandsHoldNoTextOfThePullRequest(t *testing.T) {
	for _, f := range ci.Files {
		text, err := f.Render("refs/heads/team/memory", "v1.2.3", true)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range shellBlocks(text) {
			if strings.Contains(block, "${{") {
				t.Errorf("%s: the forge would paste text of the pull request into the commands:\n%s", f.Path, block)
			}
		}
	}
}
