package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/hooks"
)

// Copilot CLI may write its transcript, or the end of it, after its last hook. A resumed session
// already holds an earlier end.
func TestLocateWaitsForTheWholeTranscript(t *testing.T) {
	home := t.TempDir()
	t.Setenv("COPILOT_HOME", home)
	now := time.Now().UTC()
	line := func(kind string, at time.Time) string {
		return `{"type":"` + kind + `","timestamp":"` + at.Format("2006-01-02T15:04:05.000Z07:00") + `"}` + "\n"
	}
	once := line("session.start", now) + line("session.shutdown", now.Add(time.Millisecond))
	for name, stages := range map[string][]string{
		"new":     {line("session.start", now), once},
		"resumed": {once, once + line("session.resume", now.Add(time.Second)), once + line("session.shutdown", now.Add(2*time.Second))},
	} {
		want := filepath.Join(home, "session-state", name, "events.jsonl")
		late := make(chan error, 1)
		go func() {
			time.Sleep(100 * time.Millisecond)
			err := os.MkdirAll(filepath.Dir(want), 0o700)
			for _, text := range stages {
				if err == nil {
					err = os.WriteFile(want, []byte(text), 0o600)
				}
				time.Sleep(100 * time.Millisecond)
			}
			late <- err
		}()
		prompted := now
		if name == "resumed" {
			prompted = now.Add(time.Second)
		}
		events := []hooks.Event{
			{Agent: "copilot", Session: name, Kind: hooks.Prompt, Time: prompted},
			{Agent: "copilot", Session: name, Kind: hooks.End, Time: time.Now()},
			{Agent: "copilot", Session: name, Kind: hooks.End, Time: time.Now()},
		}
		locate(context.Background(), events)
		got, err := os.ReadFile(want)
		if err != nil || string(got) != stages[len(stages)-1] {
			t.Errorf("%s: it did not wait: %q, %v", name, got, err)
		}
		for _, e := range events {
			if e.Transcript != want {
				t.Errorf("%s: the transcript of %s is %q", name, e.Kind, e.Transcript)
			}
		}
		if err := <-late; err != nil {
			t.Fatal(err)
		}
	}
}

// Qwen Code may write its last words after the hook that tells them.
func TestLocateWaitsForTheLastWords(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s1.jsonl")
	now := time.Now().UTC().Truncate(time.Millisecond)
	said := func(at time.Time) string {
		return `{"type":"assistant","timestamp":"` + at.Format(time.RFC3339Nano) + `","message":{"parts":[{"text":"Say \"<hello>\"."}]}}` + "\n"
	}
	begun := said(now.Add(-time.Minute)) + `{"type":"user"}` + "\n"
	whole := begun + said(now)
	if err := os.WriteFile(name, []byte(begun), 0o600); err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		late <- os.WriteFile(name, []byte(whole), 0o600)
	}()
	locate(context.Background(), []hooks.Event{{Agent: "qwen", Session: "s1", Kind: hooks.Prompt, Time: now, Transcript: name},
		{Agent: "qwen", Session: "s1", Kind: hooks.Stop, Time: time.Now(), Transcript: name,
			Payload: []byte(`{"last_assistant_message":"Say \"<hello>\"."}`)}})
	if got, err := os.ReadFile(name); err != nil || string(got) != whole {
		t.Errorf("it did not wait: %q, %v", got, err)
	}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
}
