package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// varying is what differs from run to run in what README shows: object ids and dates.
var varying = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\d\b`)

// TestReadmeShowsWhatCommandsPrint runs the commands that README shows after "$ ", one after
// another in a new repository, and compares what they print.
func TestReadmeShowsWhatCommandsPrint(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", filepath.Join(bin, "reverie"), "./reverie")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	r := testrepo.New(t) // after the build, which wants Go's own caches
	r.Run("commit", "--allow-empty", "-qm", "one")
	if err := os.CopyFS(filepath.Join(r.Dir, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	var command string
	var want []string
	ran := 0
	check := func() {
		if command == "" {
			return
		}
		ran++
		words := splitWords(command)
		run := exec.Command(words[0], words[1:]...)
		if words[0] == "reverie" {
			run.Path = filepath.Join(bin, "reverie")
			run.Err = nil
		}
		run.Dir = r.Dir
		run.Env = append(os.Environ(), "PATH="+path)
		out, err := run.CombinedOutput()
		if err != nil {
			t.Errorf("$ %s: %v", command, err)
		}
		got := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
		for i := range got {
			got[i] = strings.TrimRight(varying.ReplaceAllString(got[i], "#"), " ")
		}
		for i := range want {
			want[i] = strings.TrimRight(varying.ReplaceAllString(want[i], "#"), " ")
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
			t.Errorf("$ %s\n%s\nprints:\n%s", command, diff, out)
		}
	}
	for line := range strings.Lines(string(readme)) {
		line = strings.TrimRight(line, "\n")
		inside, indented := strings.CutPrefix(line, "    ")
		next, isCommand := strings.CutPrefix(inside, "$ ")
		switch {
		case indented && isCommand:
			check()
			command, want = next, nil
		case indented && command != "":
			want = append(want, inside)
		case line != "":
			check()
			command = ""
		}
	}
	check()
	if ran < 8 {
		t.Errorf("README shows %d commands only", ran)
	}
}

// splitWords takes a command line apart at spaces outside single and double quotes.
func splitWords(s string) []string {
	var words []string
	word, quote, any := "", rune(0), false
	for _, c := range s {
		switch {
		case quote == 0 && (c == '"' || c == '\''):
			quote, any = c, true
		case c == quote:
			quote = 0
		case c == ' ' && quote == 0:
			if word != "" || any {
				words = append(words, word)
			}
			word, any = "", false
		default:
			word += string(c)
		}
	}
	if word != "" || any {
		words = append(words, word)
	}
	return words
}
