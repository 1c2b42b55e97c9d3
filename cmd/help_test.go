package cmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// Every command has an example, and the parser accepts it.
func TestExamplesParse(t *testing.T) {
	used, examples := map[string]bool{}, help.Examples()
	var each func(commands []*cli.Command)
	each = func(commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden {
				continue
			}
			name := help.Name(c)
			used[name] = true
			example := examples[name]
			_, line, found := strings.Cut(example, "reverie ")
			if !found || !strings.HasPrefix(line+" ", strings.Fields(name)[0]+" ") {
				t.Errorf("%s: example %q", name, example)
				continue
			}
			line, _, _ = strings.Cut(line, " <")
			if ran, err := parse(splitWords("reverie " + line)); err != nil || !strings.HasPrefix(ran, name) {
				t.Errorf("%s: example %q runs %q: %v", name, example, ran, err)
			}
			each(c.Subcommands)
		}
	}
	each(newApp(&Env{}).Commands)
	for name := range examples {
		if !used[name] {
			t.Errorf("%s: no such command", name)
		}
	}
}

// Each example of a loop names an auditor or forgoes one. Otherwise the default settings refuse it.
func TestLoopExamplesSettleTheAudit(t *testing.T) {
	shown := 0
	err := filepath.WalkDir("../docs", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		for line := range strings.Lines(string(page)) {
			if !strings.HasPrefix(line, "    reverie loop start ") || strings.Contains(line, "[") {
				continue
			}
			if shown++; !strings.Contains(line, " --audit") && !strings.Contains(line, " --min-audits 0") {
				t.Errorf("%s: %s", path, line)
			}
		}
		return err
	})
	if err != nil || shown < 9 {
		t.Errorf("%d examples: %v", shown, err)
	}
}

// parse parses a command line and returns the command that it would run.
func parse(args []string) (ran string, err error) {
	app := newApp(&Env{})
	var stub func(commands []*cli.Command)
	stub = func(commands []*cli.Command) {
		for _, c := range commands {
			c.Action = func(c *cli.Context) error { ran = help.Name(c.Command); return nil }
			stub(c.Subcommands)
		}
	}
	stub(app.Commands)
	err = app.Run(argv.Order(app, args))
	return ran, err
}

// The short help has the commands of every day, in groups; help --all has every command once.
func TestHelpListsCommands(t *testing.T) {
	dir := t.TempDir()
	short := lines(reverie(t, dir, "help"))
	all := lines(reverie(t, dir, "help", "--all"))
	for _, c := range newApp(&Env{}).Commands {
		inShort, inAll := short[c.Name], all[c.Name]
		daily := false
		for _, group := range help.Everyday {
			daily = daily || c.Category == group
		}
		if want := !c.Hidden; inAll != want || inShort != (want && daily) {
			t.Errorf("%s: in help %v, in help --all %v", c.Name, inShort, inAll)
		}
	}
	if n := len(short); n < 12 || n > 24 {
		t.Errorf("%d lines in the short help", n)
	}
}

// A screen of 80 cells breaks paragraphs once, not again where the source breaks them.
func TestHelpFillsScreen(t *testing.T) {
	var out strings.Builder
	env := &Env{Terminal: term.Terminal{Out: &out, Screen: true, Width: 80}}
	env.fitHelp("loop: run it\n\n" + strings.Repeat(strings.Repeat("word ", 18)+"end\n", 2) + "\n    a  b\n")
	lines := strings.Split(out.String(), "\n")
	for _, line := range lines[2:4] {
		if len(line) < 74 || len(line) > 80 {
			t.Errorf("a line within a paragraph has %d cells: %q", len(line), line)
		}
	}
	if !strings.HasSuffix(out.String(), "end\n\n    a  b\n") {
		t.Errorf("the list lost its line:\n%s", out.String())
	}
}

// docs/commands.md is the help of today. Run go generate ./cmd/help after a change of it.
func TestReferenceIsCurrent(t *testing.T) {
	text, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), reverie(t, t.TempDir(), "help", "--markdown")); diff != "" {
		t.Errorf("docs/commands.md is out of date; run go generate ./cmd/help\n%s", diff)
	}
}

// lines is the set of first words of the indented lines of a help text.
func lines(help string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(help) {
		if words := strings.Fields(line); strings.HasPrefix(line, "    ") && len(words) > 1 {
			found[words[0]] = true
		}
	}
	return found
}

func TestNearest(t *testing.T) {
	var names []string
	for _, c := range newApp(&Env{}).Commands {
		names = append(names, c.Name)
	}
	for word, want := range map[string]string{
		"synk": "sync", "snyc": "sync", "Sync": "sync", "lst": "list", "rember": "remember", "remem": "remember", "forgt": "forget",
		"uninstal": "uninstall", "reveiw": "review", "mrge": "merge", "nosuch": "", "x": "", "": "", "push": "",
	} {
		if got := help.Nearest(names, word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
