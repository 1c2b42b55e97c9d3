package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"
)

var words = []string{"export", "import", "latency", "widget", "billing", "invoice", "customer", "schema", "migration", "retry", "timeout", "queue",
	"worker", "cache", "token", "session", "index", "query", "planner", "replica", "deploy", "staging", "release", "branch", "commit", "review",
	"linter", "format", "module", "package", "client", "server", "handler", "router", "template", "render", "layout", "button", "dialog", "locale"}

// sentence returns n words in an order that depends on the seed alone.
func sentence(r *rand.Rand, n int) string {
	var b bytes.Buffer
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// statements returns n lines for import, about 600 bytes each as a file.
func statements(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range n {
		line, _ := json.Marshal(map[string]any{
			"text": fmt.Sprintf("The %s of part%d uses %s", sentence(r, 2), i, sentence(r, 4)),
			"body": sentence(r, 45), "kind": "fact", "paths": []string{fmt.Sprintf("src/part%d/**", i)}, "tags": []string{words[i%len(words)]},
		})
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func sessionID(i int) string { return fmt.Sprintf("5f0c1e2a-0000-4000-8000-%012d", i) }

// lesson returns the prompt of session i: an instruction to keep.
func lesson(i int) string {
	r := rand.New(rand.NewPCG(5, uint64(i)))
	return fmt.Sprintf("From now on, always keep the %s of part%d in the %s, and never in the %s.", sentence(r, 2), i, sentence(r, 2), sentence(r, 2))
}

// turn returns a transcript of session i, one turn of about 20 KB in which an agent edits a file.
// It ends with the line that Claude Code writes before its Stop hooks run.
func turn(dir, edited string, i int) string {
	b := bytes.NewBuffer(transcript(20 << 10))
	for _, v := range []map[string]any{
		{"type": "user", "uuid": "u", "message": map[string]any{"role": "user", "content": lesson(i)}},
		{"type": "assistant", "uuid": "a", "message": map[string]any{"id": "m", "role": "assistant", "content": []any{
			map[string]any{"type": "tool_use", "id": "toolu_edit", "name": "Edit", "input": map[string]any{"file_path": edited, "old_string": "a", "new_string": "b"}}}}},
		{"type": "user", "uuid": "r", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_edit", "content": "edited"}}}},
		{"type": "progress", "uuid": "p", "data": map[string]any{"type": "hook_progress", "hookEvent": "Stop", "command": "entire hooks claude-code stop"}},
	} {
		record(b, v, time.Now())
	}
	return strings.NewReplacer(sessionID(1), sessionID(i), "/src/demo", dir).Replace(b.String())
}

// record adds a line to a transcript of Claude Code.
func record(b *bytes.Buffer, v map[string]any, at time.Time) {
	v["sessionId"], v["timestamp"], v["cwd"] = sessionID(1), at.UTC().Format("2006-01-02T15:04:05.000Z"), "/src/demo"
	line, _ := json.Marshal(v)
	b.Write(append(line, '\n'))
}

// transcript returns a Claude Code transcript of about size bytes: prompts, commands, long outputs.
func transcript(size int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	record := func(v map[string]any) { record(&b, v, time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)) }
	for i := 0; b.Len() < size; i++ {
		call := fmt.Sprintf("toolu_%06d", i)
		record(map[string]any{"type": "user", "uuid": fmt.Sprintf("u%06d", i), "message": map[string]any{"role": "user", "content": "please look at " + sentence(r, 8)}})
		record(map[string]any{"type": "assistant", "uuid": fmt.Sprintf("a%06d", i), "message": map[string]any{"id": "m" + call, "role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": sentence(r, 20)}, map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": map[string]any{"command": "grep -rn " + words[i%len(words)] + " src"}}}}})
		record(map[string]any{"type": "user", "uuid": fmt.Sprintf("r%06d", i), "message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": call, "content": sentence(r, 400)}}}})
	}
	return b.Bytes()
}

// peak runs a command and returns its peak memory in bytes, or 0 if unknown. It asks the kernel
// while the command runs, because the value of wait includes the parent's memory at the start.
func peak(dir string, stdin []byte, name string, args ...string) int64 {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	if err := cmd.Start(); err != nil {
		return 0
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	most := int64(0)
	for {
		most = max(most, highWater(cmd.Process.Pid))
		select {
		case err := <-done:
			if err != nil {
				return 0
			}
			return most
		case <-time.After(time.Millisecond / 2):
		}
	}
}

// highWater returns the peak memory of a running process so far, in bytes, by Linux's account.
func highWater(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib int64
	fmt.Sscan(rest, &kib)
	return kib * 1024
}
