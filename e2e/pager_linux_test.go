package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// long is a repository whose lists are longer than a screen of 10 lines, with one memory that is
// shorter.
func long(t *testing.T) (dir, id string) {
	t.Helper()
	dir = fresh(t)
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "{\"text\":\"Statement %d says that part %c has its own rule\",\"body\":\"A line\"}\n", i, 'a'+i)
	}
	lines := filepath.Join(t.TempDir(), "lines.jsonl")
	write(t, lines, b.String())
	must(t, dir, "import", "--accept", lines)
	return dir, strings.Fields(must(t, dir, "list"))[0]
}

// A pager is what git would start, and only for what is longer than the screen.
func TestPagerIsGitsAndOnlyForLongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir, id := long(t)
	for _, tt := range []struct {
		command string
		env     string
		config  string // core.pager of the user
		paged   bool
	}{
		{"list", "GIT_PAGER=sed s/^/P:/", "", true},
		{"list", "PAGER=sed s/^/P:/", "", true},
		{"list", "PAGER=cat", "sed s/^/P:/", true},
		{"list", "GIT_PAGER=cat", "sed s/^/P:/", false},
		{"list", "GIT_PAGER=", "sed 's/^/P:/' | cat", true},
		{"list", "GIT_PAGER=echo P:$LESS$LV; cat >/dev/null", "", true},
		{"list -n 3", "GIT_PAGER=sed s/^/P:/", "", false},
		{"list --json", "GIT_PAGER=sed s/^/P:/", "", false},
		{"list", "GIT_PAGER=sed s/^/P:/ TERM=dumb", "", false},
		{"list", "GIT_PAGER=sed s/^/P:/ CLAUDECODE=1", "", false},
		{"recall -n 0 statement", "GIT_PAGER=sed s/^/P:/", "", true},
		{"recall -n 2 statement", "GIT_PAGER=sed s/^/P:/", "", false},
		{"show " + id, "GIT_PAGER=sed s/^/P:/", "", true},
		{"render memory-md", "GIT_PAGER=sed s/^/P:/", "", true},
		{"log", "GIT_PAGER=sed s/^/P:/", "", true},
		{"log -p", "GIT_PAGER=sed s/^/P:/", "", true},
		{"diff", "GIT_PAGER=sed s/^/P:/", "", true},
		{"blame --raw " + id, "GIT_PAGER=sed s/^/P:/", "", true},
		{"status", "GIT_PAGER=sed s/^/P:/", "", false},
	} {
		if tt.config != "" {
			git(t, dir, "config", "--global", "core.pager", tt.config)
		}
		pager, more, _ := strings.Cut(tt.env, "/ ")
		if more != "" {
			pager += "/"
		}
		s := screen{80, 10, append([]string{pager}, strings.Fields(more)...)}
		a := s.run(t, dir, "", strings.Fields(tt.command)...)
		if tt.config != "" {
			git(t, dir, "config", "--global", "--unset", "core.pager")
		}
		paged := strings.HasPrefix(a.out, "P:")
		if a.code != 0 || paged != tt.paged {
			t.Errorf("%s, %s %s: paged: %v, want %v; %s", tt.command, tt.env, tt.config, paged, tt.paged, a)
		}
		if strings.Contains(tt.env, "LESS") && a.out != "P:FRX-c\n" {
			t.Errorf("the pager's environment: %s", a)
		}
	}
}

// Messages follow their answer, and a missing or closed pager is no failure.
func TestPagerThatEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir, _ := long(t)
	whole := screen{80, 10, []string{"GIT_PAGER=cat", "NO_COLOR=1"}}.run(t, dir, "", "list").out
	for _, tt := range []struct{ pager, want string }{
		{"head -n 1", whole[:strings.IndexByte(whole, '\n')+1]},
		{"true", ""},
		{"false", ""},
		{"no-such-pager", "reverie: start the pager: exec: \"no-such-pager\": executable file not found in $PATH\n" + whole},
	} {
		a := screen{200, 10, []string{"GIT_PAGER=" + tt.pager, "NO_COLOR=1"}}.run(t, dir, "", "list")
		if a.code != 0 || a.out != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.pager, a, tt.want)
		}
	}
	a := screen{80, 10, []string{"GIT_PAGER=sed s/^/P:/"}}.run(t, dir, "", "list", "-n", "20")
	if lines := strings.Split(strings.TrimSpace(a.out), "\n"); len(lines) != 21 || lines[20] != "reverie: 20 of 30 shown" || !strings.HasPrefix(lines[19], "P:") {
		t.Errorf("%s", a)
	}
	a = screen{80, 10, []string{"GIT_PAGER=sed s/^/P:/"}}.run(t, dir, "", "list", "-n", "2")
	if lines := strings.Split(strings.TrimSpace(a.out), "\n"); len(lines) != 3 || lines[0] != "reverie: 2 of 30 shown" {
		t.Errorf("%s", a)
	}
}

// Ctrl-C is less's own affair: it goes on, and the terminal is not left to two programs.
func TestPagerSurvivesInterrupts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("there is no less")
	}
	dir, _ := long(t)
	for _, command := range []string{"list", "log -p"} {
		x := startTmux(t, screen{80, 10, []string{"GIT_PAGER=less"}}, dir, strings.Fields(command))
		x.wait(":")
		x.call("send-keys", "C-c")
		time.Sleep(3 * time.Second) // longer than a command that is interrupted takes to end
		for end := time.Now().Add(patience); !strings.Contains(x.call("capture-pane", "-p"), "(END)"); time.Sleep(20 * time.Millisecond) {
			// less passes over what is typed while it is interrupted
			if x.call("send-keys", "G"); time.Now().After(end) {
				t.Fatalf("%s: %s", command, x.call("capture-pane", "-p"))
			}
		}
		x.call("send-keys", "q")
		if shown := x.wait(endMark); !strings.Contains(shown, endMark+"0") {
			t.Errorf("%s: %s", command, shown)
		}
	}
}

// Colours are for a person's terminal alone, and what a pipe carries depends on no terminal.
func TestColoursAndPipes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir, id := long(t)
	write(t, filepath.Join(dir, "AGENTS.md"), "")
	for _, command := range []string{"list", "recall statement", "show " + id, "log", "log -p", "diff", "status", "doctor", "config", "why", "render memory-md", "help", "help list"} {
		args := strings.Fields(command)
		plain := reverie(t, dir, args...).out
		for _, setting := range []string{"COLUMNS=20", "COLUMNS=200", "CLICOLOR_FORCE=1", "FORCE_COLOR=1", "TERM=dumb", "TERM=xterm-256color", "GIT_PAGER=false"} {
			name, value, _ := strings.Cut(setting, "=")
			t.Run(command+" "+setting, func(t *testing.T) {
				t.Setenv(name, value)
				if got := reverie(t, dir, args...).out; got != plain || strings.Contains(got, "\x1b") {
					t.Errorf("it changes what a pipe carries: %q, without it %q", got, plain)
				}
			})
		}
		for line := range strings.Lines(plain) {
			if strings.HasSuffix(line, " \n") && !strings.Contains(command, "-p") && command != "diff" {
				t.Errorf("%s: a space at the end of %q", command, line)
			}
		}
		for _, s := range []screen{{80, 1000, []string{"NO_COLOR=1"}}, {80, 1000, []string{"TERM=dumb"}}} {
			if a := s.run(t, dir, "", args...); strings.Contains(a.out, "\x1b") {
				t.Errorf("%s: colours though %v: %s", command, s.env, a)
			}
		}
		if a := (screen{80, 1000, nil}).run(t, dir, "", append(args, "--no-color")...); strings.Contains(a.out, "\x1b") {
			t.Errorf("%s: colours though --no-color: %s", command, a)
		}
		a := screen{80, 1000, []string{"NO_COLOR="}}.run(t, dir, "", args...)
		if colours := strings.Contains(a.out, "\x1b["); colours == (args[0] == "help" || args[0] == "render" || args[0] == "why" || args[0] == "doctor" && !colours) {
			t.Errorf("%s: colours on a terminal: %v", command, colours)
		}
	}
}
