package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	row "github.com/reverie-memory/reverie/bench/figure"
)

// Processor time that a hook may take.
const (
	endBudget   = 5 * time.Millisecond  // at the end of a turn
	startBudget = 10 * time.Millisecond // at the start of a session
	callBudget  = 5 * time.Millisecond  // before a call that a guard matches
	missBudget  = 500 * time.Microsecond
)

// guards measures an agent's waiting time before a call of a tool, with so many guards among 1,000
// memories. A miss is compared with the start of the program.
func (b *bench) guards(hello string) {
	for _, n := range []int{0, 10, 500} {
		dir := b.store(fmt.Sprintf("guards-%d", n), 1000)
		var lines bytes.Buffer
		for i := range n {
			line, _ := json.Marshal(map[string]any{"text": fmt.Sprintf("Ask Ada before tool%d runs in the north", i), "kind": "constraint",
				"extra": []map[string]string{{"key": "guard", "value": fmt.Sprintf("['Bash(tool%d *)']", i)}}})
			lines.Write(append(line, '\n'))
		}
		b.once(dir, lines.Bytes(), b.bin, "-q", "import", "--accept", "-")
		call := func(command string) figure {
			i := 0
			return b.fed(dir, func() []byte {
				i++
				line, _ := json.Marshal(map[string]any{"session_id": fmt.Sprintf("guarded-%s-%d", command[:2], i), "cwd": dir, "hook_event_name": "PreToolUse",
					"tool_name": "Bash", "tool_input": map[string]string{"command": command}, "tool_use_id": "t"})
				return line
			}, b.bin, "hook", "claude")
		}
		bare, start := b.measure(b.dir, nil, hello), b.measure(dir, nil, b.bin, "version")
		name := fmt.Sprintf("%d guards", n)
		miss := call("echo no guard is about this | tail -3")
		b.within("hook before a call that no guard matches, cpu over start-up, with "+name, miss.cpu.Over(start.cpu), bare.cpu, missBudget)
		if n > 0 {
			b.within("hook before a call that a guard matches, cpu, with "+name+", beside hello", call("cd web && tool7 --all").cpu, bare.cpu, callBudget)
		}
	}
}

// hooks measures an agent's waiting time: for the hooks at the end of a turn and at the start of a
// session. It uses repositories without memories, with some, with many, and with many old sessions.
// hello is a program that shows the speed of the machine.
func (b *bench) hooks(large, hello string) {
	version := b.measure(large, nil, "git", "--version")
	file := b.write("session.jsonl", string(transcript(20<<10)))
	var ends, starts []row.Timing
	for _, s := range []struct {
		name               string
		memories, sessions int
	}{{"nothing", 0, 0}, {"1,000 memories", 1000, 0}, {"the large store", -1, 0}, {"1,000 old sessions", 100, 1000}} {
		dir := large
		if s.memories >= 0 {
			dir = b.store(fmt.Sprintf("hooks-%d-%d", s.memories, s.sessions), s.memories)
		}
		if s.sessions > 0 {
			b.once(dir, oldSessions(s.sessions), b.bin, "-q", "ingest", "-")
		}
		end, bare := b.hook(dir, file, "Stop"), b.measure(b.dir, nil, hello)
		start := b.hook(dir, file, "SessionStart")
		ends, starts = append(ends, end.cpu), append(starts, start.cpu)
		b.within("hook at the end of a turn, cpu, with "+s.name+", beside hello", end.cpu, bare.cpu, endBudget)
		b.within("hook at the start of a session, cpu, with "+s.name+", beside hello", start.cpu, bare.cpu, startBudget)
		b.ratio("hook at the start of a session, wall, against git --version", start.wall, version.wall, 10)
	}
	b.ratio("hook at the end of a turn, cpu, dearest against cheapest", slices.MaxFunc(ends, byTime), slices.MinFunc(ends, byTime), 1.5)
	b.ratio("hook at the start of a session, cpu, dearest against cheapest", slices.MaxFunc(starts, byTime), slices.MinFunc(starts, byTime), 1.5)
	if rss := peak(large, payload(large, file, "SessionStart", 0), b.bin, "hook", "claude"); rss > 0 {
		b.line("hook at the start of a session, memory", float64(rss)/1e6, "MB", "", "≤ 64 MB", rss <= 64e6)
	}
}

// hook measures one event of Claude Code, each time of another session, after the worker's end. The
// first run finds no prepared block.
func (b *bench) hook(dir, transcript, event string) figure {
	defer b.idle(dir)
	i := 0
	return b.fed(dir, func() []byte {
		b.idle(dir)
		i++
		return payload(dir, transcript, event, i%5)
	}, b.bin, "hook", "claude")
}

// payload returns an event of session i as Claude Code sends it to its hooks.
func payload(dir, transcript, event string, i int) []byte {
	line, _ := json.Marshal(map[string]any{"session_id": sessionID(i), "transcript_path": transcript, "cwd": dir,
		"hook_event_name": event, "source": "startup", "stop_hook_active": false, "last_assistant_message": "done", "prompt": lesson(i)})
	return line
}

// oldSessions returns a file of sessions in the generic form, one per line.
func oldSessions(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		line, _ := json.Marshal(map[string]any{"agent": "claude", "started_at": at, "ended_at": at,
			"metadata": map[string]string{"opencode_session_id": fmt.Sprintf("old-%d", i)},
			"messages": []map[string]any{{"index": 0, "role": "user", "content": fmt.Sprintf("look at part%d of the code", i), "timestamp": at}}})
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}
