package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// undecided is a repository in whose inbox three operations wait: two new statements, and one that
// is to be forgotten.
func undecided(t *testing.T) (dir string) {
	t.Helper()
	dir = fresh(t)
	id := strings.TrimSpace(must(t, dir, "-q", "remember", "-k", "fact", "The server listens on port 8080"))
	lines := filepath.Join(t.TempDir(), "lines.jsonl")
	write(t, lines, `{"text":"提交信息使用英文，并且每次提交只包含一个主题；不要把格式化和功能修改混在一起。","kind":"convention"}
{"text":"Releases get a 🚀 in the changelog, families 👨‍👩‍👧 and flags 🇯🇵 stay as they are, \u001b[31mred\u001b[m and \u202eodd\u202c are shown","kind":"note"}
`)
	must(t, dir, "import", lines)
	agent := exec.Command(binary, "mcp")
	agent.Dir = dir
	agent.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forget","arguments":{"id":"` + id + `","reason":"the port is 9090 now"}}}
`)
	if out, err := agent.CombinedOutput(); err != nil || strings.Contains(string(out), `"isError":true`) {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// A person goes through the inbox on a real terminal: what is selected is shown, decided once, and
// stays decided; the screen before comes back.
func TestUI(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := undecided(t)
	editor := filepath.Join(t.TempDir(), "editor")
	write(t, editor, "#!/bin/sh\nsed -i 's/Releases/All releases/' \"$1\"\n")
	if err := os.Chmod(editor, 0o755); err != nil {
		t.Fatal(err)
	}
	x := startTmux(t, screen{80, 24, []string{"NO_COLOR=1", "GIT_EDITOR=" + editor}}, dir, []string{"ui"})
	press := x.press
	press("", "[inbox (3)]", "1/3", "y accept")
	press("j", "> forget: The server", "the port is 9090 now")
	press("d", "· diff", "takes out of force")
	press("d", "reason")
	press("y", "[inbox (2)]", "> remember: Releases")
	press("g", "1/2", "> remember: 提交信息")
	press("j", "2/2", "<U+001B>[31mred")
	press("e", "  All releases") // in what is known of it: a key decides about what is in sight alone
	// a key that comes while the list is read again behind the editor decides nothing
	for press("n"); strings.Contains(x.wait("[inbox (1)]", "look at it first"), "look at it first"); press("n") {
		press("j")
		x.gone("look at it first")
	}
	press("u", "[inbox (2)]", "undone: reject: all releases")
	press("G", "> remember: All releases", "  All releases")
	press("n", "[inbox (1)]")
	press("w", "· why", "nobody reviewed it")
	x.call("resize-window", "-x", "30", "-y", "8")
	press("", "[inbox (1)]", "> remember: 提交")
	press("q", endMark+"0")
	if shown := x.wait(endMark); strings.Contains(shown, "inbox") {
		t.Errorf("the screen before does not come back:\n%s", shown)
	}
	if list := must(t, dir, "list"); list != "" {
		t.Errorf("known is\n%s", list)
	}
	if left := must(t, dir, "review"); !strings.Contains(left, "提交信息") || strings.Contains(left, "eleases") {
		t.Errorf("what waits is\n%s", left)
	}
}

// An agent, or a user without a terminal, is told which command to use instead.
func TestUIWantsAPersonsTerminal(t *testing.T) {
	dir := undecided(t)
	if a := reverie(t, dir, "ui"); a.code != 129 || !strings.Contains(a.err, "reverie review") {
		t.Errorf("%s", a)
	}
	x := startTmux(t, screen{80, 24, []string{"CLAUDECODE=1"}}, dir, []string{"ui"})
	if shown := x.wait(endMark); !strings.Contains(shown, endMark+"12") || !strings.Contains(shown, "a person decides this") {
		t.Errorf("%s", shown)
	}
}

// forLoop makes a repository with a memory, and outside of it a plan and the script of an agent.
func forLoop(t *testing.T, planned, script string) (dir, plan, agent string) {
	t.Helper()
	dir = fresh(t)
	must(t, dir, "init")
	outside := t.TempDir()
	plan, agent = filepath.Join(outside, "plan.md"), filepath.Join(outside, "agent.sh")
	write(t, plan, planned)
	write(t, agent, script)
	return dir, plan, agent
}

// A loop is watched while it runs, and ended by a person who is asked first; what it has made
// stays.
func TestUIWatchesLoops(t *testing.T) {
	dir, plan, agent := forLoop(t, "# Write a file\n\nWrite it.\n\n```verify\ntest -f second\n```\n", "echo iteration $REVERIE_ITERATION began\nif [ $REVERIE_ITERATION = 1 ]; then echo 1 >first; exit; fi\necho 2 >half\nwhile :; do echo at work; sleep 0.2; done\n")
	must(t, dir, "loop", "start", plan, "--name", "writing", "--detach", "--audit", `cat >/dev/null; echo '{"findings":[{"file":"first","line":1,"severity":"warning","text":"Nobody reads the first file."}]}'`, "--", "sh", agent)
	x := startTmux(t, screen{80, 24, []string{"NO_COLOR=1"}}, dir, []string{"ui"})
	press := x.press
	press("", "loops (1)")
	press("Tab Tab", "[loops (1)]", "> writing  coding  iteration 2/15  1 finding open", "phase      coding for", "  at work")
	press("f", "· findings", "Nobody reads the first file.")
	press("o", "· output", "iteration 1 began")
	press("o", "title")
	press("c", "End this loop? Its work stays. [y,n]")
	press("n", "c cancel")
	press("c y", "stopped: cancelled")
	press("q", endMark+"0")
	if files := git(t, dir, "ls-tree", "--name-only", "reverie/loop/writing"); files != "first\nhalf" {
		t.Errorf("the branch has %q", files)
	}
}

// An agent's output is visible while it works. The view follows its end through 10,000 lines, a
// line of 1 MB and a resize, and stays in place after the reader scrolls back.
func TestUIShowsWhatRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir, plan, agent := forLoop(t, "# Watch\n\n```verify\ntest -f made\n```\n", `n=0
cat >/dev/null
while [ $n -lt 10000 ]; do n=$((n + 1)); echo "line $n of many"; done
head -c 1000000 /dev/zero | tr '\0' x
echo
printf '%s\n' '{"type":"text","part":{"type":"text","text":"提交信息 🚀 🇯🇵 是英文"}}' '{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"go test"}}}}'
n=0
for step in one two three; do
	until [ -e "$0.$step" ]; do sleep 0.1; done
	echo "key AKIA""IOSFODNN7EXAMPLX"
	echo "this is step $step"
done
until [ -e "$0.end" ]; do sleep 0.1; done
echo made >made
`)
	must(t, dir, "loop", "start", plan, "--name", "watch", "--detach", "--min-audits", "0", "--", "sh", agent)
	x := startTmux(t, screen{80, 24, []string{"NO_COLOR=1"}}, dir, []string{"ui"})
	press := x.press
	release := func(step string) { write(t, agent+"."+step, "") }
	press("", "loops (1)")
	press("Tab Tab", "phase      coding for", "  $ go test", "c cancel · f findings")
	if shown := press("o", "· output", "提交信息 🚀 JP 是英文", "$ go test"); !strings.Contains(shown, "[… a line of 1000000 bytes]") || strings.Contains(shown, `"type"`) {
		t.Errorf("shown is\n%s", shown)
	}
	release("one")
	if shown := press("", "this is step one"); strings.Contains(shown, "EXAMPLX") || !strings.Contains(shown, "key [redacted") {
		t.Errorf("shown is\n%s", shown)
	}
	x.call("resize-window", "-x", "40", "-y", "10")
	release("two")
	narrow := press("", "this is step two")
	x.call("resize-window", "-x", "80", "-y", "24")
	if wide := "tab inbox"; strings.Contains(narrow, wide) {
		t.Errorf("40 columns show %q:\n%s", wide, narrow)
	} else {
		press("", wide) // the program has heard of the new size: it now turns pages of 24 lines
	}
	press("b", "line 10000 of many")
	release("three")
	for !strings.Contains(must(t, dir, "loop", "status", "watch", "--json"), "this is step three") {
	}
	if shown := press("", "line 10000 of many"); strings.Contains(shown, "this is step") {
		t.Errorf("who has turned back is taken to the end:\n%s", shown)
	}
	press("NPage NPage", "this is step three")
	release("end")
	press("", "> watch  done", "[exit code 0]")
	press("c", "there is nothing to cancel")
	press("q", endMark+"0")
	// waits for the loop's process and for what it learned, which write into the folder
	must(t, dir, "uninstall", "--yes")
}

// On a terminal the screen follows a loop that starts: a person may leave it, and the loop goes on;
// at the loop's end the screen closes, and the exit code is the loop's.
func TestLoopStartIsFollowed(t *testing.T) {
	dir, plan, agent := forLoop(t, "# Follow\n\n```verify\ntest -f made\n```\n", "cat >/dev/null\necho at work\nuntil [ -e \"$0.end\" ]; do sleep 0.1; done\necho made >made\n")
	start := func(name string, flags ...string) []string {
		return append([]string{"loop", "start", plan, "--name", name, "--min-audits", "0"}, append(flags, "--", "sh", agent)...)
	}
	x := startTmux(t, screen{80, 24, []string{"NO_COLOR=1"}}, dir, start("left"))
	x.press("", "[loops (1)]", "> left  coding", "  at work")
	if shown := x.press("q", endMark+"0"); !strings.Contains(shown, "continues in the background") {
		t.Errorf("shown is\n%s", shown)
	}
	y := startTmux(t, screen{80, 24, []string{"NO_COLOR=1"}}, dir, start("seen", "--base", "HEAD"))
	y.press("", "[loops (1)]", "> seen  coding", "  at work")
	write(t, agent+".end", "")
	if shown := y.wait(endMark); !strings.Contains(shown, "loop seen is done") || !strings.Contains(shown, endMark+"0") || strings.Contains(shown, "[loops") {
		t.Errorf("shown is\n%s", shown)
	}
	must(t, dir, "loop", "status", "left", "--watch")
	for _, name := range []string{"left", "seen"} {
		if files := git(t, dir, "ls-tree", "--name-only", "reverie/loop/"+name); files != "made" {
			t.Errorf("the branch of %s has %q", name, files)
		}
	}
	write(t, agent, "exit 1\n")
	z := startTmux(t, screen{80, 24, []string{"NO_COLOR=1"}}, dir, start("bad", "--max-errors", "1"))
	if shown := z.wait(endMark); !strings.Contains(shown, endMark+"2") {
		t.Errorf("shown is\n%s", shown)
	}
	must(t, dir, "uninstall", "--yes") // waits for the loops' processes
}

// A person searches all memories, marks some and decides on them together, with keys or the mouse,
// on a wide and on a narrow terminal. Kinds have colours, unless NO_COLOR is set.
func TestUISearchesAndMarks(t *testing.T) {
	for _, test := range []struct {
		screen
		top    string // the first line of the list, from 1
		beside bool
	}{
		{screen{120, 24, nil}, "3", true},
		{screen{80, 24, []string{"NO_COLOR=1"}}, "2", false},
	} {
		dir := undecided(t)
		time.Sleep(1100 * time.Millisecond) // the list has the newest first, by seconds
		must(t, dir, "remember", "-k", "constraint", "Never push to the release branch")
		time.Sleep(1100 * time.Millisecond)
		must(t, dir, "remember", "-k", "decision", "Orders live in Postgres because refunds need transactions")
		x := startTmux(t, test.screen, dir, []string{"ui"})
		press := x.press
		mouse := func(button, column, row, end string) {
			x.call("send-keys", "-l", "\x1b[<"+button+";"+column+";"+row+end)
		}
		press("", "[inbox (3)]", "memories (3)")
		press("Tab", "[memories (3)]", "> decision Orders live", "author:")
		if shown := x.call("capture-pane", "-p", "-e"); strings.Contains(shown, "\x1b[31m") == (len(test.env) > 0) {
			t.Errorf("%d columns, %q: a constraint is red, or is not:\n%q", test.columns, test.env, shown)
		}
		shown := press("/ r e f u n d Enter", "[memories (1)]", "/refund", "Orders live in Postgres")
		if beside := strings.Contains(strings.Split(shown, "\n")[2], "│"); beside != test.beside {
			t.Errorf("%d columns: side by side is %v:\n%s", test.columns, beside, shown)
		}
		press("h", "· history", "added decision")
		press("h Escape", "[memories (3)]")
		mouse("0", "4", test.top, "M") // the left button
		press("", "> decision")
		mouse("65", "4", test.top, "M") // the wheel, down
		press("", "> constraint")
		mouse("2", "4", test.top, "M") // the right button
		press("", ">*decision", "1 marked")
		press("f", "forget 1 marked? [y,n]")
		press("y", "retired: Orders live", "[memories (2)]")
		press("u", "undone: forget", "[memories (3)]")
		mouse("0", "3", "1", "M") // the name of the first tab
		press("", "[inbox (3)]")
		press("a", "3 marked")
		press("y", "accept 3 marked? [y,n]")
		press("y", "[inbox (0)]", "latest changes", "retired fact")
		press("u", "[inbox (3)]", "undone: ") // all that was accepted together
		press("q", endMark+"0")
		if list := must(t, dir, "list"); !strings.Contains(list, "8080") || !strings.Contains(list, "Postgres") {
			t.Errorf("after undo, known is\n%s", list)
		}
	}
}
