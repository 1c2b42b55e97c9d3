package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/redact"
)

func event(session string, n int) Event {
	return Event{Agent: "claude", Kind: Prompt, Name: "UserPromptSubmit", Session: session, Prompt: fmt.Sprint("prompt ", n), Time: time.Date(2026, 1, 2, 0, 0, n, 0, time.UTC)}
}

func take(t *testing.T, s Spool) []*Waiting {
	t.Helper()
	all, err := s.Take()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSessionsOfOneFolderDoNotMix(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	for n := range 6 {
		if err := s.Append(event(fmt.Sprint("s", n%2), n)); err != nil {
			t.Fatal(err)
		}
	}
	all := take(t, s)
	now := time.Now()
	if due := s.Due(now, time.Minute); len(all) != 2 || due != 2 {
		t.Fatalf("%d sessions wait, %d of them are due; want 2 and 2", len(all), due)
	}
	for _, w := range all {
		if err := w.Folded(true, false); err != nil {
			t.Fatal(err)
		}
	}
	if due, later := s.Due(now, time.Minute), s.Due(now.Add(time.Hour), time.Minute); due != 0 || later != 2 {
		t.Fatalf("%d are due after they were folded and %d once they were left; want 0 and 2", due, later)
	}
	for _, w := range all {
		if len(w.Events) != 3 {
			t.Errorf("%s has %d events, want 3", w.Last.Key(), len(w.Events))
		}
		for _, e := range w.Events {
			if e.Session != w.Last.Session {
				t.Errorf("an event of %s is in %s", e.Session, w.Last.Session)
			}
		}
	}
}

// An agent with our hooks in its settings and in a plugin delivers each event twice, in any order.
func TestSecondDeliveryIsRefused(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	first := event("s", 1)
	first.Payload = json.RawMessage(`{"session_id":"s","time":"noon"}`)
	plugin, late, other := first, first, first
	plugin.Plugin, plugin.Time = true, first.Time.Add(1234567*time.Nanosecond)
	late.Time = plugin.Time.Add(together + time.Millisecond)
	other.Plugin, other.Time, other.Payload = true, late.Time, json.RawMessage(`{"session_id":"s","time":"dusk"}`)
	for i, c := range []struct {
		event    Event
		repeated bool
	}{{first, false}, {plugin, true}, {first, false}, {other, false}, {plugin, false}, {first, true}, {late, false}} {
		if err := s.Append(c.event); errors.Is(err, ErrRepeated) != c.repeated || !c.repeated && err != nil {
			t.Errorf("event %d: %v, want repeated %v", i, err, c.repeated)
		}
	}
	if w := take(t, s)[0]; len(w.Events) != 5 || w.Bad != 0 {
		t.Errorf("%d events and %d bad lines, want 5 and 0", len(w.Events), w.Bad)
	}
}

func TestSecretsDoNotReachTheSpool(t *testing.T) {
	const secret = "hunter2-Zq8vP3xK9mL1"
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool"), Scanner: redact.New(secret)}
	e := event("s", 1)
	e.Prompt, e.Payload = "the password is "+secret, json.RawMessage(`{"session_id":"s","prompt":"the password is `+secret+`"}`)
	if err := s.Append(e); err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(transcript, []byte(`{"text":"`+secret+`"}`+"\nnot json "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.Transcript = transcript
	if err := s.Append(e); err != nil {
		t.Fatal(err)
	}
	if _, err := take(t, s)[0].Copy(context.Background(), s.Scanner); err != nil {
		t.Fatal(err)
	}
	files := 0
	filepath.WalkDir(s.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s holds the secret:\n%s", path, text)
		}
		if info, _ := d.Info(); info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		return err
	})
	if files != 3 {
		t.Errorf("%d files in the spool, want events, copy and state", files)
	}
}

// A killed process leaves a line without an end. The next event is whole all the same.
func TestTornLineTakesNoOtherWithIt(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	if err := s.Append(event("s", 1)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.folder(event("s", 1)), eventsFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"agent":"claude","kind":"pro`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if w := take(t, s)[0]; len(w.Events) != 1 || w.Bad != 0 {
		t.Fatalf("before the next event: %d events and %d bad lines, want 1 and 0", len(w.Events), w.Bad)
	}
	if err := take(t, s)[0].Folded(false, false); err != nil {
		t.Fatal(err)
	}
	if due := s.Due(time.Now(), time.Minute); due != 0 {
		t.Fatalf("half a line has a worker started for ever")
	}
	if err := s.Append(event("s", 2)); err != nil {
		t.Fatal(err)
	}
	if due := s.Due(time.Now(), time.Minute); due != 1 {
		t.Fatalf("the event after half a line is not due")
	}
	if w := take(t, s)[0]; len(w.Events) != 2 || w.Bad != 1 || w.Last.Prompt != "prompt 2" {
		t.Fatalf("after it: %d events, %d bad lines, last %q", len(w.Events), w.Bad, w.Last.Prompt)
	}
}

// A hook killed at the first event of a session leaves a folder that a worker can remove.
func TestFolderWithoutAnEventCanGo(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	if err := s.Append(event("s", 1)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.folder(event("s", 1)), eventsFile)
	if err := os.WriteFile(path, []byte(`{"agent":"cl`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := take(t, s)[0]
	if removed, err := w.Remove(); len(w.Events) != 0 || !removed || err != nil {
		t.Fatalf("%d events, removed %v, %v", len(w.Events), removed, err)
	}
}

// A compaction remains due until Noted.
func TestCompactionIsOwedUntilNoted(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	e := event("s", 1)
	e.Kind = Compacting
	for range 2 {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		w := take(t, s)[0]
		if err := w.Folded(true, false); err != nil {
			t.Fatal(err)
		}
		owed, ok := take(t, s)[0].Compaction()
		if due := s.Due(time.Now(), time.Hour); !ok || due != 1 {
			t.Fatalf("owed %v, due %d; want true and 1", ok, due)
		}
		if err := w.Noted(owed); err != nil {
			t.Fatal(err)
		}
		if due := s.Due(time.Now(), time.Hour); due != 0 {
			t.Fatalf("%d due after it was noted", due)
		}
		e.Time = e.Time.Add(time.Second)
	}
}

// Events arrive while a worker takes and removes others: each is taken once or waits.
func TestNoEventIsLostBesideAWorker(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	const writers, each = 4, 100
	seen := map[string]int{}
	collect := func() {
		for _, w := range take(t, s) {
			removed, err := w.Remove()
			if err != nil {
				t.Error(err)
			}
			if !removed {
				continue
			}
			for _, e := range w.Events {
				seen[e.Prompt]++
			}
		}
	}
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			for n := range each {
				if err := s.Append(event("s", writer*each+n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		collect()
	}
	collect()
	for n := range writers * each {
		if got := seen[fmt.Sprint("prompt ", n)]; got != 1 {
			t.Errorf("prompt %d was taken %d times", n, got)
		}
	}
}

func TestCopyGoesOnWhereItEnded(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	transcript := filepath.Join(t.TempDir(), "t.jsonl")
	e := event("s", 1)
	e.Transcript = transcript
	if err := s.Append(e); err != nil {
		t.Fatal(err)
	}
	step := func(text, want string, grown int64) {
		t.Helper()
		if err := os.WriteFile(transcript, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		copies, err := take(t, s)[0].Copy(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, total := "", int64(0)
		for _, c := range copies {
			data, err := os.ReadFile(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			got, total = got+string(data), total+c.Grown
		}
		if got != want || total != grown {
			t.Fatalf("the copy holds %q after %d new bytes, want %q after %d", got, total, want, grown)
		}
	}
	step("", "", 0)
	step(`{"a":1}`+"\n"+`{"b":`, "{\"a\":1}\n", 8)
	step(`{"a":1}`+"\n"+`{"b":2}`+"\n", "{\"a\":1}\n{\"b\":2}\n", 8)
	step(`{"a":1}`+"\n"+`{"b":2}`+"\n", "{\"a\":1}\n{\"b\":2}\n", 0)
	all := "{\"a\":1}\n{\"b\":2}\n{\"x\":1}\n{\"y\":2}\n"
	step(`{"x":1}`+"\n"+`{"b":2}`+"\n"+`{"y":2}`+"\n", all, 24) // rewritten: new records are appended
	step(`{"x":1}`+"\n", all, 8)                                // shortened: nothing goes
	step(`{"x":1}`+"\n"+`{"z":3}`+"\n", all+"{\"z\":3}\n", 8)
	step("{\n  \"doc\": 1\n}\n", "{\n  \"doc\": 1\n}\n", 15) // a single document is replaced
	if err := os.Remove(transcript); err != nil {
		t.Fatal(err)
	}
	copies, err := take(t, s)[0].Copy(context.Background(), nil)
	if err != nil || len(copies) != 1 {
		t.Fatalf("after the agent deleted its transcript: %d copies, %v; want the one there was", len(copies), err)
	}
}

// A key that begins in one event, or in copied text, is removed from another process's addition.
func TestKeyOverEventsDoesNotReachTheSpool(t *testing.T) {
	const line = "q7ZkT2mWx9RbLf4HsVc8Zd1Ny6Kj3Pg5Ua0EoXtIwQ7rMzBhCvF2SlDqGeYp4Kx9"
	dir, file := filepath.Join(t.TempDir(), "spool"), filepath.Join(t.TempDir(), "t.jsonl")
	records := ""
	for i, text := range []string{"-----BEGIN RSA PRIV" + "ATE KEY-----\n", "and more:", "  12→" + line + "\n  13→" + line[:40]} {
		e := event("s", i+1)
		e.Transcript, e.Prompt = file, text
		if err := (Spool{Dir: dir}).Append(e); err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(text)
		records += `{"text":` + string(quoted) + "}\n"
		if err := os.WriteFile(file, []byte(records), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := take(t, Spool{Dir: dir})[0].Copy(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	for _, f := range kept {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(text), line[:12]) || !strings.Contains(string(text), "and more:") {
			t.Errorf("%s holds %s, error %v", filepath.Base(f), text, err)
		}
	}
	if len(kept) != 2 {
		t.Errorf("files %v", kept)
	}
}

// A secret across the limit is redacted before the text is cut.
func TestSecretAtTheBoundIsTakenOut(t *testing.T) {
	const secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	for _, before := range []int{maxField - 20, maxField - 4, maxField - 39} {
		e := event(fmt.Sprint("s", before), 1)
		e.Prompt = strings.Repeat("x", before-1) + " " + secret
		e.Payload = json.RawMessage(`{"big":"` + strings.Repeat("y ", maxPayload) + `"}`)
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(s.folder(e), eventsFile))
		if err != nil || strings.Contains(string(text), secret[:8]) || len(text) > maxPayload {
			t.Errorf("cut at %d: %v, %d bytes kept, with a part of the secret", before, err, len(text))
		}
	}
}

// A call keeps its id, its command and its file beside any long text or list.
func TestLongCallIsShortened(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	long := strings.Repeat("\a passed ", maxPayload/4)
	many := make([]map[string]string, maxPayload/16)
	for i := range many {
		many[i] = map[string]string{"old_string": "a", "new_string": "b"}
	}
	for name, c := range map[string]struct {
		payload map[string]any
		want    []string
	}{
		"error":   {map[string]any{"tool_name": "Shell", "tool_use_id": "t1", "tool_input": map[string]any{"command": "npm test"}, "error_message": long + "timed out"}, []string{"npm test", "t1", "timed out"}},
		"input":   {map[string]any{"tool_name": "Shell", "tool_use_id": "t1", "tool_input": map[string]any{"command": "cat file" + long}, "tool_output": `{"exitCode":2}`}, []string{"cat file", "t1", `\"exitCode\":2`}},
		"edit":    {map[string]any{"file_path": "/p/a.go", "generation_id": "g", "edits": []map[string]string{{"old_string": "a = 1", "new_string": "b = 2" + long}}}, []string{"/p/a.go", `"g"`, "a = 1", "b = 2"}},
		"edits":   {map[string]any{"file_path": "/p/a.go", "edits": many}, []string{"/p/a.go", "old_string"}},
		"no call": {map[string]any{"prompt": long}, nil},
	} {
		e := event(name, 1)
		var err error
		if e.Payload, err = json.Marshal(c.payload); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		w, err := s.TakeOne(e)
		if err != nil {
			t.Fatal(err)
		}
		got := string(w.Events[0].Payload)
		if len(got) > maxPayload || c.want == nil && got != "" {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is gone from %d bytes", name, want, len(got))
			}
		}
	}
}

// A call with a long output keeps its command, its exit code and the end of the output.
func TestLongOutputKeepsItsEnd(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), "spool")}
	for name, output := range map[string]string{
		"object": `{"exitCode":1,"stdout":"` + strings.Repeat("passed ", maxPayload/4) + `the last test failed"}`,
		"text":   strings.Repeat("passed ", maxPayload/4) + "the last test failed",
	} {
		payload, err := json.Marshal(map[string]any{"tool_name": "Shell", "tool_input": map[string]string{"command": "npm test"}, "tool_output": output, "tool_use_id": "t1"})
		if err != nil {
			t.Fatal(err)
		}
		e := event(name, 1)
		e.Payload = payload
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		w, err := s.TakeOne(e)
		if err != nil {
			t.Fatal(err)
		}
		got := string(w.Events[0].Payload)
		for _, want := range []string{"npm test", "the last test failed", `"t1"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is gone from %d bytes", name, want, len(got))
			}
		}
		if name == "object" && !strings.Contains(got, `\"exitCode\":1`) || len(got) > maxPayload {
			t.Errorf("%s: no exit code, or %d bytes", name, len(got))
		}
	}
}

func TestDecode(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	long := strings.Repeat("x", maxRead)
	for _, c := range []struct {
		agent, name, payload string
		want                 string // session kind parent subagent prompt source, or the error
	}{
		{"claude", "", `{"session_id":"a","hook_event_name":"SessionStart","source":"startup"}`, "a start    startup"},
		{"claude", "", `{"session_id":"a","hook_event_name":"SessionStart","source":"compact"}`, "a compacted    compact"},
		{"claude", "", `{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, "a prompt   hi "},
		{"claude", "", `{"session_id":"a","hook_event_name":"SubagentStop","agent_id":"x","agent_transcript_path":"/t"}`, "a subagent-stop  x  "},
		{"claude", "", `{"session_id":"a","hook_event_name":"Notification"}`, "an event that is not asked for: \"Notification\" of Claude Code"},
		{"claude", "", "\ufeff" + `{"session_id":"a","hook_event_name":"Stop","cwd":7}`, "a stop    "},
		{"codex", "", `{"type":"agent-turn-complete","thread-id":"t","cwd":"/x"}`, "t stop    "},
		{"gemini", "", `{"session_id":"a","hook_event_name":"BeforeAgent","prompt":"hi"}`, "a prompt   hi "},
		{"copilot", "", `{"session_id":"a","hook_event_name":"SessionStart","source":"new"}`, "a start    new"},
		{"qwen", "", `{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":""}`, "an event that is not asked for: \"UserPromptSubmit\" without a prompt"},
		{"opencode", "session.idle", `{"session_id":"c","parent_id":"p"}`, "c stop p   "},
		{"cursor", "", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"beforeSubmitPrompt","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","prompt":"hi","attachments":[]}`, "s prompt   hi "},
		{"cursor", "", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"sessionEnd","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","session_id":"s","reason":"user_close"}`, "s end    user_close"},
		{"cursor", "", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"afterAgentThought","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","text":"hm"}`, "an event that is not asked for: \"afterAgentThought\" of Cursor"},
		{"generic", "prompt", `{"session_id":"g","prompt":"do","unknown":[1,{"prompt":"no"}]}`, "g prompt   do "},
		{"generic", "", `{"session_id":"g","event":"end","prompt":"not typed now"}`, "g end    "},
		{"generic", "stop", `{"session_id":"g","big":"` + long + `"}`, "g stop    "},
		{"generic", "stop", `{}`, "not a hook's payload: it names no session"},
		{"generic", "stop", `[]`, "not a hook's payload: not a JSON object"},
		{"generic", "stop", ``, "not a hook's payload: not a JSON object"},
		{"generic", "stop", `{"session_id":"g"`, "not a hook's payload: not a JSON object: EOF"},
	} {
		a, _ := Find(c.agent)
		e, err := a.Decode(c.name, strings.NewReader(c.payload), now)
		got := fmt.Sprintf("%s %s %s %s %s %s", e.Session, e.Kind, e.Parent, e.Subagent, e.Prompt, e.Source)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %.60s: %q, want %q", c.agent, c.payload, got, c.want)
		}
		if c.agent == "cursor" && (e.Transcript != "" || e.Dir != "/p") {
			t.Errorf("%.60s: %+v", c.payload, e)
		}
	}
}

func TestEncodeIsWhatTheAgentReads(t *testing.T) {
	claude, _ := Find("claude")
	opencode, _ := Find("opencode")
	for _, c := range []struct {
		agent Agent
		event Event
		text  string
		note  string
		want  string
	}{
		{claude, Event{Name: "SessionStart"}, "a <b>", "", `{"hookSpecificOutput":{"additionalContext":"a <b>","hookEventName":"SessionStart"}}` + "\n"},
		{claude, Event{Name: "PreCompact"}, "keep", "seen by nobody", "keep\n"},
		{claude, Event{Name: "Stop"}, "no", "no", ""},
		{claude, Event{Name: "SessionStart"}, "", "", ""},
		{claude, Event{Name: "SessionStart"}, "a", "1 given", `{"hookSpecificOutput":{"additionalContext":"a","hookEventName":"SessionStart"},"systemMessage":"1 given"}` + "\n"},
		{claude, Event{Name: "SessionStart"}, "", "1 waits", `{"systemMessage":"1 waits"}` + "\n"},
		{claude, Event{Name: "SessionStart"}, strings.Repeat("ä", claude.Limit+1), "", ""},
		{opencode, Event{Name: "session.created"}, "plain", "no", "plain\n"},
	} {
		if got := string(c.agent.Encode(c.event, Reply{Text: c.text, Notice: c.note})); got != c.want {
			t.Errorf("%s: %q, want %q", c.event.Name, got, c.want)
		}
	}
}
