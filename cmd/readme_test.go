package cmd

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// varying matches the object ids and dates that differ between runs.
var varying = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\d(T[\d:]+Z)?\b`)

// TestReadmeShowsWhatCommandsPrint runs the commands after "$ " in README and in the tutorial, one
// after another in a new repository for each, and compares their output.
func TestReadmeShowsWhatCommandsPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bin := built(t)
	r := newcomer(t)
	for _, page := range []string{"../README.md", "../docs/tutorial.md"} {
		r := r.again(t)
		all := shownIn(t, page)
		for _, c := range all {
			out, err := r.run(bin, c.command)
			if err != nil {
				t.Errorf("%s: $ %s: %v", page, c.command, err)
			}
			if diff := cmp.Diff(unvarying(c.want), unvarying(strings.Split(out, "\n"))); diff != "" {
				t.Errorf("%s: $ %s\n%s\nprints:\n%s", page, c.command, diff, out)
			}
		}
		if len(all) < 6 {
			t.Errorf("%s shows %d commands only", page, len(all))
		}
	}
}

// unvarying returns the lines that are not blank, without what differs between runs.
func unvarying(lines []string) (same []string) {
	for _, line := range lines {
		if line = strings.TrimRight(varying.ReplaceAllString(line, "#"), " "); line != "" {
			same = append(same, line)
		}
	}
	return same
}

// TestReadmeQuotesTheExample looks for each line of the session that README shows in the shipped
// transcript.
func TestReadmeQuotesTheExample(t *testing.T) {
	transcript, err := os.ReadFile("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(readme)) {
		for _, who := range []string{"you     ", "claude  ", "        "} {
			said, found := strings.CutPrefix(line, "    "+who)
			if !found {
				continue
			}
			shown++
			for _, part := range strings.Split(strings.TrimPrefix(strings.TrimSpace(said), "$ "), "  ") {
				if !strings.Contains(string(transcript), part) {
					t.Errorf("%q is not in the transcript", part)
				}
			}
		}
	}
	if shown < 10 {
		t.Errorf("README shows %d lines of the session only", shown)
	}
}

// TestReadmeIsShort holds README to 900 words.
func TestReadmeIsShort(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(readme))); n > 900 {
		t.Errorf("README has %d words, at most 900 are allowed; move some to docs", n)
	}
}

// TestReadmeWorksInAnAgentsShell runs the same commands with each variable that marks an agent's
// shell: none is refused, and none accepts anything.
func TestReadmeWorksInAnAgentsShell(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	bin := built(t)
	r := newcomer(t)
	for _, variable := range agentVariables() {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "1")
			r := r.again(t)
			for _, c := range shownIn(t, "../README.md") {
				c.command = strings.Replace(c.command, "learn -q ", "learn ", 1) // its talk is checked
				out, err := r.run(bin, c.command)
				var ended *exec.ExitError
				if err != nil && !(errors.As(err, &ended) && ended.ExitCode() == exit.Negative) {
					t.Errorf("$ %s: %v\n%s", c.command, err, out)
				}
				if strings.HasPrefix(c.command, "reverie learn ") {
					checkNothingAccepted(t, c.command, out)
				}
			}
			if out, _ := r.run(bin, "reverie -q list"); out != "" {
				t.Errorf("known without a person:\n%s", out)
			}
		})
	}
}

// TestReadmesFirstCommandInAFreshClone runs it as a newcomer does, and as each agent does that
// tries the README.
func TestReadmesFirstCommandInAFreshClone(t *testing.T) {
	if !fullNumbers {
		t.Skip("REVERIE_E2E=1 compiles this commit in a clone of its own")
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^    (go run \./cmd/reverie learn .*)$`).FindSubmatch(readme)
	if first == nil {
		t.Fatal("README has no first command")
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // before the test has a home of its own
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, strings.TrimSpace(string(value)))
	}
	top, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	testrepo.Isolate(t)
	dir := filepath.Join(t.TempDir(), "clone") // always the same, or each would be compiled
	for _, variable := range append([]string{""}, agentVariables()...) {
		t.Run("with "+variable, func(t *testing.T) {
			if variable != "" {
				t.Setenv(variable, "1")
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("git", "clone", "-q", top, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			r := newcomerShell{testrepo.At(t, dir)}
			untouched := func() string {
				index, _ := os.ReadFile(filepath.Join(dir, ".git", "index"))
				config, _ := os.ReadFile(filepath.Join(dir, ".git", "config"))
				return r.Run("status", "--porcelain") + r.Run("rev-parse", "HEAD") + fmt.Sprintf("%x %s", sha256.Sum256(index), config)
			}
			before := untouched()
			out, err := r.run("", string(first[1]))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if variable != "" {
				checkNothingAccepted(t, string(first[1]), out)
			} else if !strings.Contains(out, "\n+ ") {
				t.Errorf("nothing was learned:\n%s", out)
			}
			if diff := cmp.Diff(before, untouched()); diff != "" {
				t.Error(diff)
			}
			r.Run("fsck", "--strict")
			r.Run("log", "reverie/memory")
		})
	}
}

// checkNothingAccepted looks at what learn printed in an agent's shell: all waits, and one line
// says so with the next command.
func checkNothingAccepted(t *testing.T, command, out string) {
	t.Helper()
	if strings.Contains("\n"+out, "\n+ ") || !strings.Contains("\n"+out, "\n? ") {
		t.Errorf("$ %s: all should wait:\n%s", command, out)
	}
	told := regexp.MustCompile(`(?m)^reverie: .*a shell of .* for a person.*reverie review$`)
	if n := len(told.FindAllString(out, -1)); n != 1 {
		t.Errorf("$ %s: %d lines say that it waits for a person:\n%s", command, n, out)
	}
}

// agentVariables are those by which agents are told, as hooks knows them.
func agentVariables() []string { return hooks.Marks(func(string) string { return "1" }) }

// built is a folder with the command, as README has it built.
func built(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", filepath.Join(bin, "reverie"), "./reverie")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// newcomerShell is a repository in which commands are run.
type newcomerShell struct{ *testrepo.Repo }

// newcomer makes a repository with the shipped transcripts. It is called after what is built, which
// wants Go's own caches.
func newcomer(t *testing.T) newcomerShell {
	t.Helper()
	testrepo.Isolate(t)
	return newcomerShell{}.again(t)
}

// again is another such repository.
func (newcomerShell) again(t *testing.T) newcomerShell {
	t.Helper()
	r := testrepo.Init(t, filepath.Join(t.TempDir(), "repo"))
	r.Run("commit", "--allow-empty", "-qm", "one")
	if err := os.CopyFS(filepath.Join(r.Dir, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	return newcomerShell{r}
}

// run runs a command line with the folder bin before the others in PATH.
func (r newcomerShell) run(bin, command string) (string, error) {
	words := splitWords(command)
	run := exec.Command(words[0], words[1:]...)
	if words[0] == "reverie" {
		run.Path = filepath.Join(bin, "reverie")
		run.Err = nil
	}
	run.Dir = r.Dir
	run.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := run.CombinedOutput()
	return string(out), err
}

// shownCommand is a command of a document, and the lines that follow it there.
type shownCommand struct {
	command string
	want    []string
}

// shownIn returns the commands that a document shows after "$ ".
func shownIn(t *testing.T, page string) []shownCommand {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []shownCommand
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		text, indented := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(text, "$ ")
		switch {
		case indented && isCommand:
			all, inside = append(all, shownCommand{command: command}), true
		case indented && inside:
			all[len(all)-1].want = append(all[len(all)-1].want, text)
		case line != "":
			inside = false
		}
	}
	return all
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
