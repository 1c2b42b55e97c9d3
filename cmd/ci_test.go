package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// steps FILE DIR writes the commands of a CI file to DIR/1.sh, DIR/2.sh and so on, as its forge gives them to
// a shell.
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

// TestCIFilesAskForNothing pins what makes it safe to run them for anybody's pull request.
func TestCIFilesAskForNothing(t *testing.T) {
	for _, f := range ciFiles {
		text, err := f.render("refs/heads/team/memory", "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"pull_request_target", "workflow_run", "secrets.", "write", "uses:", "head.ref", "head_ref", "title", "@BRANCH", "@VERSION"} {
			if strings.Contains(afterComment(text), never) {
				t.Errorf("%s: holds %q", f.path, never)
			}
		}
		for _, always := range []string{`"team/memory"`, "cmd/reverie@v1.2.3\n"} {
			if !strings.Contains(text, always) {
				t.Errorf("%s: lacks %q", f.path, always)
			}
		}
		for _, block := range shellBlocks(text) {
			if strings.Contains(block, "${{") {
				t.Errorf("%s: the forge would paste text of the pull request into the commands:\n%s", f.path, block)
			}
		}
		if !strings.HasPrefix(f.text, "# Written by 'reverie init --ci "+f.forge+"'") {
			t.Errorf("%s: would not be known again", f.path)
		}
		if branch, version, ok := writtenByInit(f.path, []byte(text)); !ok || branch != "team/memory" || version != "v1.2.3" {
			t.Errorf("%s: %q %q %v", f.path, branch, version, ok)
		}
		for _, changed := range []string{text + "\n", strings.Replace(text, "status=0", "status=0; exit 0", 1), strings.Replace(text, "reverie-memory/", "evil/", 1), "x" + text} {
			if _, _, ok := writtenByInit(f.path, []byte(changed)); ok {
				t.Errorf("%s: a changed file passes for ours", f.path)
			}
		}
		for _, ref := range []string{"refs/reverie/memory", `refs/heads/a"b`, "refs/heads/a$(b)", "refs/heads/a\nb", "refs/heads/-a"} {
			if _, err := f.render(ref, "devel"); err == nil {
				t.Errorf("%s: %q has no error", f.path, ref)
			}
		}
		if text, _ := f.render("refs/heads/m", "v0.0.0-20260101000000-abcdef123456+dirty"); !strings.Contains(text, "cmd/reverie@latest\n") {
			t.Errorf("%s: installs a version that was never released", f.path)
		}
	}
}

// afterComment is a CI file without the comment it begins with.
func afterComment(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
