//go:build unix

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/config"
)

// program puts a shell script on PATH as an agent's program, and returns the agent and the folder
// of the user's cache.
func program(t *testing.T, name, script string) (Agent, string) {
	t.Helper()
	dir, cache := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("HOME", cache)
	t.Setenv("XDG_CACHE_HOME", cache)
	a, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if cache, err = filepath.EvalSymlinks(cache); err != nil {
		t.Fatal(err)
	}
	return a, cache
}

// recording notes how it was called. Its answer is in the form of Codex.
const recording = `if [ "$1" = mcp ]; then echo '[{"name":"reverie","enabled":true},{"name":"my-docs"}]'; exit; fi
cd -P . && pwd >>"$LOG.dir"
for a; do printf '%s\n' "$a"; done >"$LOG.args"
env >"$LOG.env"
find . -type f >"$LOG.files"
cat >"$LOG.in"
for f in "$HOME"/reverie/questions/*.md; do cat "$f"; done >"$LOG.task"
echo 'a warning'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"{\"a\": 1}"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":50}}'
`

// An agent has no tools, hooks or servers, keeps no record where it can, and gets its question on
// standard input.
func TestCalls(t *testing.T) {
	for _, name := range config.Agents() {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GIT_DIR", "/somewhere/.git")
			t.Setenv("CLAUDECODE", "1")
			t.Setenv("REVERIE_LOOP", "one")
			t.Setenv("REVERIE_SESSION", "outer")
			t.Setenv("KEPT", "yes")
			log := filepath.Join(t.TempDir(), "log")
			t.Setenv("LOG", log)
			a, cache := program(t, name, recording)
			got, err := a.Ask(t.Context(), "the task", "the question\n")
			if err != nil {
				t.Fatal(err)
			}
			if want := (Answer{[]byte(`{"a": 1}`), 1000, 50}); cmp.Diff(want, got) != "" {
				t.Errorf("answer %+v", got)
			}
			lines := func(of string) []string {
				data, err := os.ReadFile(log + of)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
			}
			place := filepath.Join(cache, "reverie", "questions")
			if diff := cmp.Diff([]string{"the question"}, lines(".in")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"the task"}, lines(".task")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{filepath.Join(place, name)}, lines(".dir")); diff != "" {
				t.Error(diff)
			}
			task := filepath.Join(place, name+".md")
			if diff := cmp.Diff(wantArgs(name, task), lines(".args")); diff != "" {
				t.Errorf("arguments (-want +got)\n%s", diff)
			}
			files := []string{""}
			if name == "gemini" {
				files = []string{"./.gemini/settings.json"}
			}
			if diff := cmp.Diff(files, lines(".files")); diff != "" {
				t.Errorf("its folder (-want +got)\n%s", diff)
			}
			env := lines(".env")
			for _, want := range append(wantEnv(name, task), "REVERIE_HOOK_DEPTH=1", "REVERIE_DISABLE=1", "KEPT=yes") {
				if !slices.Contains(env, want) {
					t.Errorf("the environment lacks %s", want)
				}
			}
			for _, kv := range env {
				if v, _, _ := strings.Cut(kv, "="); slices.Contains([]string{"GIT_DIR", "CLAUDECODE", "REVERIE_LOOP", "REVERIE_SESSION"}, v) {
					t.Errorf("the environment has %s", kv)
				}
			}
			if left, err := filepath.Glob(filepath.Join(place, name) + "*"); err != nil || !slices.Equal(left, []string{filepath.Join(place, name+".lock")}) {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

func wantArgs(name, task string) []string {
	switch name {
	case "claude":
		return []string{"-p", "--output-format", "json", "--safe-mode", "--strict-mcp-config", "--tools", "", "--no-session-persistence", "--system-prompt-file", task}
	case "codex":
		args := []string{"exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "--sandbox", "read-only"}
		for _, set := range strings.Fields(`features.hooks=false features.shell_tool=false features.unified_exec=false features.view_image=false
			features.sleep_tool=false agents.enabled=false features.apps=false features.plugins=false features.goals=false features.image_generation=false
			features.memories=false features.tool_suggest=false features.skill_search=false tools.experimental_request_user_input.enabled=false
			tools.update_plan.enabled=false web_search="disabled" notify=[] skills.include_instructions=false include_permissions_instructions=false
			include_environment_context=false model_instructions_file="` + task + `" mcp_servers.reverie.enabled=false mcp_servers.my-docs.enabled=false`) {
			args = append(args, "-c", set)
		}
		return append(args, "-")
	case "gemini":
		return []string{"--output-format", "json", "--approval-mode", "default", "--extensions", "none"}
	}
	return []string{"run", "--pure", "--format", "json", "--agent", "reverie", "--title", "reverie"}
}

func wantEnv(name, task string) []string {
	switch name {
	case "claude":
		return []string{"DISABLE_AUTOUPDATER=1"}
	case "gemini":
		return []string{"GEMINI_SYSTEM_MD=" + task, "GEMINI_CLI_TRUST_WORKSPACE=true"}
	case "opencode":
		return []string{"OPENCODE_DISABLE_SHARE=1", `OPENCODE_CONFIG_CONTENT={"share": "disabled", "agent": {"reverie": {"mode": "primary", ` +
			`"prompt": "{file:` + task + `}", "tools": {"*": false}, "permission": {"*": "deny"}}}}`}
	}
	return nil
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find("claude"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "claude") {
		t.Error(err)
	}
}

// A program that fails says why, and one that answers something else is no failure here.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string // parts of the error; none: an answer
		answer       string
	}{
		{"claude", `echo '{"type":"result","is_error":true,"result":"Invalid API key"}'; exit 1`, []string{"ask claude", "exit status 1", "Invalid API key"}, ""},
		{"gemini", `echo 'first' >&2; echo 'Please set an Auth method' >&2; exit 41`, []string{"exit status 41", "Please set an Auth method"}, ""},
		{"opencode", `echo '{"type":"error","error":{"name":"X","data":{"message":"no such model"}}}'`, []string{"no such model"}, ""},
		{"claude", `exit 0`, []string{"its output is empty"}, ""},
		{"codex", `echo 'no such command' >&2; exit 2`, []string{"list its servers", "no such command"}, ""},
		{"codex", `[ "$1" = mcp ] && echo '[{"name":"a.b"}]'`, []string{`"a.b" cannot be turned off`}, ""},
		{"claude", `head -c 5000000 /dev/zero | tr '\0' x`, []string{"longer than"}, ""},
		{"claude", `echo '{"type":"result","result":"I would rather not."}'`, nil, "I would rather not."},
	} {
		a, _ := program(t, c.name, c.script)
		got, err := a.Ask(t.Context(), "task", strings.Repeat("question ", 100_000))
		if c.want == nil {
			if err != nil || string(got.Text) != c.answer {
				t.Errorf("%s: %q, %v", c.script, got.Text, err)
			}
			continue
		}
		if !errors.Is(err, ErrFailed) {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.script, err, want)
			}
		}
	}
}

// A program that hangs is killed with its children in time.
func TestHangingProgram(t *testing.T) {
	log := filepath.Join(t.TempDir(), "pids")
	t.Setenv("LOG", log)
	a, cache := program(t, "claude", `sleep 300 & echo $! $$ >"$LOG.new"; mv "$LOG.new" "$LOG"; wait`)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(log); err == nil {
				cancel(nil)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	began := time.Now()
	_, err := a.Ask(ctx, "task", "question")
	if !errors.Is(err, context.Canceled) || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("process %d still runs", pid)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(cache, "reverie", "questions", "claude")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder: %v", err)
	}
}

// alive reports whether a process runs; a zombie, which waits for its parent, does not.
func alive(pid int) bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

// An agent's record of a question names its folder, which must belong to no repository.
func TestFolderInsideARepository(t *testing.T) {
	a, cache := program(t, "claude", `echo '{"type":"result","result":"{}"}'`)
	if err := os.Mkdir(filepath.Join(cache, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(t.Context(), "task", "question"); err == nil || !strings.Contains(err.Error(), "inside the repository "+cache) {
		t.Error(err)
	}
}

// One question at a time is put to an agent.
func TestQuestionsWaitForEachOther(t *testing.T) {
	a, _ := program(t, "claude", `[ -e running ] && exit 9; touch running; sleep 0.05; echo '{"type":"result","result":"{}"}'`)
	results := make(chan error, 4)
	for range cap(results) {
		go func() {
			_, err := a.Ask(t.Context(), "task", "question")
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		out, text, fault string
		asked, said      int
	}{
		{`{"duration_ms":1,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":2,"output_tokens":7},"is_error":false,"result":"` + "```json\\n{\\\"a\\\": []}\\n```" + `","type":"result"}`,
			`{"a": []}`, "", 17, 7},
		{"{\"type\":\"thread.started\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"error\",\"message\":\"x\"}}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n" +
			"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"{}\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":3}}", "{}", "", 9, 3},
		{`{"type":"turn.failed","error":{"message":"no credit"}}`, "", "no credit", 0, 0},
		{"Warning: {odd}\n{\n \"response\": \"So: {\\\"a\\\": 1} there.\",\n \"stats\": {\"models\": {\"m\": {\"tokens\": {\"prompt\": 8, \"candidates\": 4, \"thoughts\": 2}}}}\n}", `{"a": 1}`, "", 8, 6},
		{`{"type":"text","part":{"text":"{\"a\":"}}` + "\n" + `{"type":"text","part":{"text":" 1}"}}` + "\n" + `{"type":"step_finish","part":{"tokens":{"input":5,"output":1,"reasoning":2,"cache":{"read":3,"write":4}}}}`, `{"a": 1}`, "", 12, 3},
		{`{"type":"result","result":["other form"],"error":"text"}`, "", "", 0, 0},
		{"{{{ not\n} json", "", "", 0, 0},
		{`{"type":"result","result":"{\"a\": "}`, `{"a":`, "", 0, 0},
	} {
		r := read([]byte(c.out))
		if string(r.json()) != c.text || r.fault != c.fault || r.asked != c.asked || r.said != c.said {
			t.Errorf("%s: %+v, %s", c.out, r, r.json())
		}
	}
}
