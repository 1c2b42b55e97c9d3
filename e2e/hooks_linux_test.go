package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// payload returns Claude Code's input to a hook.
func payload(dir, session, event string, more map[string]any) string {
	doc := map[string]any{"session_id": session, "cwd": dir, "hook_event_name": event}
	for k, v := range more {
		doc[k] = v
	}
	line, _ := json.Marshal(doc)
	return string(line)
}

// deliver runs a hook with the given standard input.
func deliver(t testing.TB, dir, stdin string, args ...string) answer {
	t.Helper()
	return finish(t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, append([]string{"hook"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		return cmd
	})
}

// atWork returns the ids of the processes that run the command on a repository.
func atWork(t testing.TB, dir string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		at, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if strings.HasPrefix(string(line), binary+"\x00") && at == dir {
			all = append(all, pid)
		}
	}
	return all
}

// gone waits until none of our processes works in a repository.
func gone(t testing.TB, dir string, patience time.Duration) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left := atWork(t, dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(dir, ".git", "reverie", "log"))
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			t.Fatalf("after %s processes %v are left; the log says:\n%s", patience, left, log)
		}
	}
}

// kept returns everything in the state folder that hooks delivered.
func kept(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, sub := range []string{"spool", "sessions"} {
		err := filepath.WalkDir(filepath.Join(dir, ".git", "reverie", sub), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return all.String()
}

// Hooks and workers are killed at any moment. An event that a hook acknowledged is in the spool or
// in a session, the next command resumes unfinished work at once, and no process stays.
func TestKilledHooksAndWorkersLoseNothing(t *testing.T) {
	t.Parallel()
	kills := 24
	if full {
		kills = 500
	}
	random := rand.New(rand.NewPCG(*seed, 7))
	dir := newRepo(t)
	must(t, dir, "init")
	var acknowledged []string
	hooks, workers := 0, 0
	for i := 0; hooks+workers < kills; i++ {
		if i > 20*kills {
			t.Fatalf("only %d hooks and %d workers were met alive", hooks, workers)
		}
		session := fmt.Sprintf("5f0c1e2a-%04d", i/8)
		event := "UserPromptSubmit"
		more := map[string]any{"prompt": fmt.Sprintf("please look at item%dx", i)}
		switch i % 8 {
		case 1, 3, 5:
			event, more = "Stop", map[string]any{"last_assistant_message": fmt.Sprintf("done with item%dx", i)}
		case 7:
			event, more = "SessionEnd", map[string]any{"reason": "exit"}
		}
		cmd := exec.Command(binary, "hook", "claude")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(payload(dir, session, event, more))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var err error
		if i%2 == 0 {
			select {
			case err = <-ended:
			case <-time.After(time.Duration(random.IntN(12000)) * time.Microsecond):
				cmd.Process.Kill()
				if err = <-ended; err != nil {
					hooks++
				}
			}
		} else if err = <-ended; err != nil {
			t.Fatalf("hook: %v", err)
		}
		if err == nil && event != "SessionEnd" {
			acknowledged = append(acknowledged, fmt.Sprintf("item%dx", i))
		}
		if i%2 == 1 {
			time.Sleep(time.Duration(random.IntN(30000)) * time.Microsecond)
			for _, pid := range atWork(t, dir) {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					workers++
				}
			}
		}
		if i%10 == 9 {
			began := time.Now()
			must(t, dir, "status")
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("after %d kills status takes %s", hooks+workers, took)
			}
		}
	}
	t.Logf("%d hooks and %d workers were killed, %d events acknowledged", hooks, workers, len(acknowledged))
	if hooks < kills/8 || workers < kills/8 {
		t.Errorf("%d hooks and %d workers were killed: too few of one", hooks, workers)
	}
	lost := func(when string) {
		t.Helper()
		all := kept(t, dir)
		for _, event := range acknowledged {
			if !strings.Contains(all, event) {
				t.Errorf("%s: %s was acknowledged and is lost", when, event)
			}
		}
	}
	gone(t, dir, 5*time.Second)
	lost("after the last kill")
	must(t, dir, "-q", "remember", "Locks of the killed are free again")
	if a := deliver(t, dir, payload(dir, "the-last", "SessionEnd", nil), "claude"); a.code != 0 {
		t.Errorf("%s", a)
	}
	gone(t, dir, patience)
	lost("after the worker")
	for _, file := range files(t, filepath.Join(dir, ".git", "reverie", "spool")) {
		if strings.Contains(file, ".gone-") {
			t.Errorf("%s is left", file)
		}
	}
	must(t, dir, "check")
	if out, err := tryGit(dir, "fsck", "--strict", "--no-dangling"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
}

// Hooks about calls are killed at any moment, while the memory changes. The others give the
// ruling, the ledger stays readable, and no lock is left.
func TestKilledHooksAboutCallsHoldNothingUp(t *testing.T) {
	t.Parallel()
	kills := 24
	if full {
		kills = 200
	}
	random := rand.New(rand.NewPCG(*seed, 11))
	dir := newRepo(t)
	must(t, dir, "init")
	must(t, dir, "-q", "remember", "-k", "constraint", "--guard", "Bash(npm *)", "--strength", "deny", "Use pnpm, never npm")
	call := func(n int) string {
		return payload(dir, fmt.Sprintf("5f0c1e2a-%04d", n%5), "PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprintf("t%d", n), "tool_input": map[string]any{"command": "npm ci"}})
	}
	answered := 0
	for killed, n := 0, 0; killed < kills; n++ {
		if n > 20*kills {
			t.Fatalf("only %d hooks were met alive", killed)
		}
		if n%7 == 0 { // the table of guards is outdated
			must(t, dir, "-q", "remember", fmt.Sprintf("Fact number %d", n))
		}
		var out strings.Builder
		cmd := exec.Command(binary, "hook", "claude")
		cmd.Dir, cmd.Stdin, cmd.Stdout = dir, strings.NewReader(call(n)), &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(random.IntN(12000)) * time.Microsecond
		if n%3 == 0 {
			after = time.Hour
		}
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if timer.Stop(); err != nil {
			killed++
			continue
		}
		if answered++; !strings.Contains(out.String(), `"permissionDecision":"deny"`) {
			t.Errorf("call %d: %q", n, out.String())
		}
	}
	t.Logf("%d hooks were killed, %d answered", kills, answered)
	a := deliver(t, dir, call(1<<20), "claude")
	if harmless(t, a); !strings.Contains(a.out, `"permissionDecision":"deny"`) {
		t.Errorf("after the last kill: %s", a)
	}
	if got := must(t, dir, "guard"); !strings.Contains(got, "acted") {
		t.Errorf("guard tells of no firing: %s", got)
	}
	if n := strings.Count(must(t, dir, "why", "list"), "tool-call deny"); n < answered+1 {
		t.Errorf("the ledger has %d rulings, and %d were given", n, answered+1)
	}
	gone(t, dir, patience)
	must(t, dir, "check")
}

// harmless fails if a hook harmed the calling agent.
func harmless(t testing.TB, a answer) {
	t.Helper()
	if a.code != 0 {
		t.Errorf("an agent takes this for a refusal: %s", a)
	}
	if a.out != "" && !json.Valid([]byte(a.out)) {
		t.Errorf("no JSON: %s", a)
	}
	if n := strings.Count(strings.TrimRight(a.err, "\n"), "\n"); n > 0 {
		t.Errorf("more than one line: %s", a)
	}
}

// outcome is the result of a hook, after its worker has ended.
type outcome struct {
	answer
	event string
	heard string // on standard error, and in the log
	kept  string
	acted bool // the event was recorded: the agent's time is known
	left  bool // nothing was changed
}

// sign decides by an outcome whether a fault occurred.
type sign func(o outcome) bool

// says is the sign of a reported fault.
func says(text string) sign { return func(o outcome) bool { return strings.Contains(o.heard, text) } }

// keeps is the sign of a fault that loses nothing.
func keeps(text string) sign {
	return func(o outcome) bool { return o.acted && strings.Contains(o.kept, text) }
}

// still reports whether nothing was done.
func still(o outcome) bool { return o.left && o.err == "" && o.out == "" }

// whole reports whether everything was done.
func whole(o outcome) bool {
	gives := o.event == "SessionStart" || o.event == "UserPromptSubmit"
	return o.acted && o.err == "" && (!gives || strings.Contains(o.out, "Use pnpm in web/"))
}

// damaged reports a store whose damage the hook itself met, if it reads one: not at an end.
func damaged(o outcome) bool {
	return o.acted && strings.Contains(o.err, "the store is damaged") || o.event == "SessionEnd" && whole(o)
}

// Despite any breakage, the user's prompt goes through: exit code 0, only JSON, at most one line,
// and soon.
func TestBrokenSurroundingsHarmNoPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	base := newRepo(t)
	must(t, base, "init")
	must(t, base, "-q", "remember", "Use pnpm in web/, never npm")
	if a := deliver(t, base, payload(base, "before", "Stop", nil), "claude"); a.code != 0 {
		t.Fatalf("%s", a)
	}
	gone(t, base, patience)
	state := func(dir string) string { return filepath.Join(dir, ".git", "reverie") }
	asIs := func(*testing.T, string) []string { return nil }
	unprepared := func(dir string) error { // so that a start reads the store
		return errors.Join(os.RemoveAll(filepath.Join(state(dir), "context")), os.RemoveAll(filepath.Join(state(dir), "recent")))
	}
	for _, c := range []struct {
		name  string
		args  []string
		stdin func(dir string) string // nil is a prompt
		spoil func(t *testing.T, dir string) (wrapper []string)
		met   sign // signs of the fault, and of its effect
	}{
		{"no JSON", nil, func(string) string { return "nothing of the kind\n" }, asIs, says("not a JSON object")},
		{"nothing", nil, func(string) string { return "" }, asIs, says("not a JSON object")},
		{"half of it", nil, func(dir string) string { return payload(dir, "s", "UserPromptSubmit", nil)[:40] }, asIs, says("not a JSON object")},
		{"a list", nil, func(string) string { return `[{"session_id":1}]` }, asIs, says("not a JSON object")},
		{"other types", nil, func(string) string { return `{"session_id":7,"cwd":[],"hook_event_name":{},"prompt":null}` }, asIs, says("it names no session")},
		{"deep", nil, func(string) string { return `{"session_id":"s","x":` + strings.Repeat("[", 1<<20) }, asIs, says("exceeded max depth")},
		{"an event that nobody knows", nil, func(dir string) string { return payload(dir, "s", "Yesterday", nil) }, asIs, still},
		{"an agent that nobody knows", []string{"hal"}, nil, asIs, says("no agent is called")},
		{"no agent", []string{}, nil, asIs, says("who calls")},
		{"an event of ours that git has not", []string{"git", "post-everything"}, nil, asIs, still},
		{"64 MB", nil, func(dir string) string {
			text := payload(dir, "s", "UserPromptSubmit", map[string]any{"prompt": strings.Repeat("look at this ", 5<<20)})
			return `{"session_id":"s",` + text[1:] // as the agents write it: first
		}, asIs, keeps(`"session":"s"`)},
		{"64 MB and no end", nil, func(dir string) string { return `{"session_id":"` + strings.Repeat("x", 64<<20) }, asIs, says("it names no session")},
		{"no such folder", nil, func(dir string) string { return payload(filepath.Join(dir, "gone"), "s", "UserPromptSubmit", nil) }, asIs, says("no such file or directory")},
		{"a pipe for a transcript", nil, func(dir string) string {
			return payload(dir, "s", "Stop", map[string]any{"transcript_path": filepath.Join(dir, "pipe")})
		}, func(t *testing.T, dir string) []string {
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			return nil
		}, says("pipe: not a regular file")},
		{"an endless transcript", nil, func(dir string) string {
			return payload(dir, "s", "SessionEnd", map[string]any{"transcript_path": "/dev/zero"})
		}, asIs, says("/dev/zero: not a regular file")},
		{"standard input that stays open", nil, nil, func(t *testing.T, dir string) []string {
			return []string{"sh", "-c", `exec "$@" <>` + fifo(t), "-"}
		}, says("gave up")},
		{"no git", nil, nil, func(t *testing.T, dir string) []string { return []string{"env", "PATH=" + t.TempDir()} }, says("git is not installed")},
		{"no home", nil, nil, func(*testing.T, string) []string { return []string{"env", "-u", "HOME", "-u", "GIT_CONFIG_GLOBAL"} }, whole},
		{"an empty store", nil, nil, func(t *testing.T, dir string) []string {
			return nothing(errors.Join(unprepared(dir), os.RemoveAll(filepath.Join(dir, ".git", "objects")), os.Mkdir(filepath.Join(dir, ".git", "objects"), 0o755)))
		}, damaged},
		{"objects that are cut off", nil, nil, func(t *testing.T, dir string) []string {
			for _, file := range files(t, filepath.Join(dir, ".git", "objects")) {
				if err := errors.Join(os.Chmod(file, 0o644), os.Truncate(file, 7)); err != nil {
					t.Fatal(err)
				}
			}
			return nothing(unprepared(dir))
		}, damaged},
		{"a ref of nothing", nil, nil, func(t *testing.T, dir string) []string {
			write(t, filepath.Join(dir, ".git", "refs", "heads", "reverie", "memory"), strings.Repeat("1", 40)+"\n")
			return nil
		}, damaged},
		{"a state folder full of noise", nil, nil, func(t *testing.T, dir string) []string {
			for _, file := range files(t, state(dir)) {
				if err := os.WriteFile(file, []byte("\x00noise\n{]"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return nil
		}, whole},
		{"folders where files were", nil, nil, func(t *testing.T, dir string) []string {
			for _, file := range files(t, state(dir)) {
				if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			return nil
		}, func(o outcome) bool {
			return strings.Contains(o.err, "file exists") && !o.left || o.acted && strings.Contains(o.err, "is a directory") || whole(o)
		}},
		{"a file where the spool was", nil, nil, func(t *testing.T, dir string) []string {
			return nothing(errors.Join(os.RemoveAll(filepath.Join(state(dir), "spool")), os.WriteFile(filepath.Join(state(dir), "spool"), nil, 0o600)))
		}, says("is not a folder of ours")},
		{"a state folder that is a link", nil, nil, func(t *testing.T, dir string) []string {
			return nothing(errors.Join(os.Rename(state(dir), state(dir)+"x"), os.Symlink(state(dir)+"x", state(dir))))
		}, still},
		{"a clock that was set back", nil, nil, func(t *testing.T, dir string) []string {
			late := time.Now().AddDate(70, 0, 0)
			for _, file := range files(t, state(dir)) {
				if err := os.Chtimes(file, late, late); err != nil {
					t.Fatal(err)
				}
				text := strings.ReplaceAll(read(t, file), `"time":"20`, `"time":"29`)
				if strings.HasSuffix(file, ".jsonl") && os.WriteFile(file, []byte(text), 0o600) != nil {
					t.Fatal("write")
				}
			}
			return nil
		}, whole},
		{"a lock that somebody holds", nil, nil, func(t *testing.T, dir string) []string {
			for _, name := range []string{"lock", "worker.lock"} {
				f, err := os.OpenFile(filepath.Join(state(dir), name), os.O_RDWR|os.O_CREATE, 0o600)
				if err == nil {
					err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
			}
			return nil
		}, whole},
		{"a disk that is full", nil, nil, func(t *testing.T, dir string) []string {
			return mounted(t, dir, `cd "$0/.git/reverie/spool" && mount -t tmpfs -o size=4k,mode=700 none . && echo >../spool/full && cd "$0"`)
		}, says("no space left")},
		{"a disk that is read only", nil, nil, func(t *testing.T, dir string) []string {
			return mounted(t, dir, `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0"`)
		}, says("read-only file system")},
		{"a disk that breaks", nil, nil, func(t *testing.T, dir string) []string { return withFault(t, "fsync,renameat,unlinkat", "error=EIO") }, says("input/output error")},
		{"a disk that is slow", nil, nil, func(t *testing.T, dir string) []string { return withFault(t, "fsync", "delay_enter=5000000") }, says("gave up")},
		{"a limit on files", nil, nil, func(t *testing.T, dir string) []string { return []string{"sh", "-c", `ulimit -f 0; exec "$@"`, "-"} }, says("file too large")},
	} {
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreCompact", "PreToolUse", "SessionEnd"} {
			if c.stdin != nil && event != "UserPromptSubmit" || !full && event == "PreCompact" {
				continue
			}
			t.Run(c.name+"/"+event, func(t *testing.T) {
				t.Parallel()
				dir := copyDir(t, base)
				wrapper := c.spoil(t, dir)
				args := c.args
				if args == nil {
					args = []string{"claude"}
				}
				text := payload(dir, "5f0c1e2a-0001", event, map[string]any{"prompt": "how do I install packages in web/?", "source": "startup",
					"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "cd web && npm ci"}})
				if c.stdin != nil {
					text = c.stdin(dir)
				}
				line := append(append(slices.Clone(wrapper), binary, "hook"), args...)
				lastSeen := func() time.Time {
					info, err := os.Stat(filepath.Join(state(dir), "seen", "claude"))
					if err != nil {
						t.Fatal(err)
					}
					return info.ModTime()
				}
				before, seen := kept(t, dir), lastSeen()
				began := time.Now()
				a := finish(t, func(ctx context.Context) *exec.Cmd {
					cmd := exec.CommandContext(ctx, line[0], line[1:]...)
					cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
					return cmd
				})
				if took := time.Since(began); took > 8*time.Second {
					t.Errorf("the agent waited %s", took)
				}
				if a.err = withoutStrace(a.err); event != "PreCompact" { // which takes plain text
					harmless(t, a)
				} else if a.code != 0 || strings.Count(a.err, "\n") > 1 {
					t.Errorf("%s", a)
				}
				gone(t, dir, patience)
				if event == "PreToolUse" { // it spools nothing, and a fault may take its words
					if strings.Contains(a.out, "permissionDecision\"") {
						t.Errorf("the call is held up: %s", a)
					}
					return
				}
				log, _ := os.ReadFile(filepath.Join(state(dir), "log"))
				o := outcome{answer: a, event: event, heard: a.err + string(log), kept: kept(t, dir), acted: !lastSeen().Equal(seen)}
				if o.left = !o.acted && o.kept == before; !c.met(o) {
					t.Errorf("the fault was not met: %s\n%s", a, log)
				}
			})
		}
	}
}

func nothing(err error) []string {
	if err != nil {
		panic(err)
	}
	return nil
}

// fifo returns a named pipe without a writer.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withFault runs a command with a kernel fault in it and its children.
func withFault(t *testing.T, calls, fault string) []string {
	t.Helper()
	return []string{needStrace(t), "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + fault}
}

func withoutStrace(text string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(l string) bool { return strings.Contains(l, "strace: ") }), "")
}

// mounted runs a command behind its own mounts, which the script makes; $0 is dir.
func mounted(t *testing.T, dir, script string) []string {
	t.Helper()
	line := []string{"unshare", "-m", "sh", "-c", script + ` && exec "$@"`, dir}
	if os.Geteuid() != 0 {
		line = slices.Insert(line, 1, "-r")
	}
	if out, err := exec.Command(line[0], append(line[1:], "true")...).CombinedOutput(); err != nil {
		if full {
			t.Fatalf("REVERIE_E2E needs leave to mount: %v: %s", err, out)
		}
		t.Skipf("no leave to mount: %s", out)
	}
	return line
}

// The program is removed while everything still calls it: git reports nothing, and no agent sees
// the code by which a hook refuses.
func TestMissingProgramHarmsNothing(t *testing.T) {
	t.Parallel()
	dir, home := newRepo(t), t.TempDir()
	program := filepath.Join(t.TempDir(), "reverie")
	if err := os.Link(binary, program); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, "", "init", "-q", "--bare", bare)
	git(t, dir, "remote", "add", "origin", bare)
	settings := filepath.Join(home, ".claude", "settings.json")
	write(t, settings, "{}\n")
	run := func(name string, args ...string) answer {
		t.Helper()
		return finish(t, func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(payload(dir, "s", "UserPromptSubmit", nil))
			cmd.Env = append(os.Environ(), "HOME="+home)
			return cmd
		})
	}
	if a := run(program, "init", "--git-hooks", "--agent", "claude"); a.code != 0 {
		t.Fatalf("%s", a)
	}
	gone(t, dir, patience)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"commit -q --allow-empty -m one", "switch -q -c side", "commit -q --allow-empty -m two", "commit -q --amend --allow-empty -m three",
		"switch -q main", "merge -q --no-ff -m merged side", "push -q origin main"} {
		if a := run("git", strings.Fields(line)...); a.code != 0 || a.out+a.err != "" {
			t.Errorf("%s", a)
		}
	}
	var doc struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal([]byte(read(t, settings)), &doc); err != nil || len(doc.Hooks) < 5 {
		t.Fatalf("%d hooks, %v", len(doc.Hooks), err)
	}
	for event, all := range doc.Hooks {
		if a := run("sh", "-c", all[0].Hooks[0].Command); a.code == 2 || a.out != "" || strings.Count(a.err, "\n") > 1 {
			t.Errorf("%s: %s", event, a)
		}
	}
}
