package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/hooks"
)

// Copilot CLI may write its transcript, or the end of it, after its last hook.
func TestLocateWaitsForTheWholeTranscript(t *testing.T) {
	home := t.TempDir()
	t.Setenv("COPILOT_HOME", home)
	want := filepath.Join(home, "session-state", "s1", "events.jsonl")
	const begun, whole = `{"type":"session.start"}` + "\n", `{"type":"session.start"}` + "\n" + `{"type":"session.shutdown"}` + "\n"
	late := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		err := os.MkdirAll(filepath.Dir(want), 0o700)
		for _, text := range []string{begun, whole} {
			if err == nil {
				err = os.WriteFile(want, []byte(text), 0o600)
			}
			time.Sleep(100 * time.Millisecond)
		}
		late <- err
	}()
	events := []hooks.Event{
		{Agent: "copilot", Session: "s1", Kind: hooks.Prompt, Time: time.Now()},
		{Agent: "copilot", Session: "s1", Kind: hooks.End, Time: time.Now()},
	}
	locate(context.Background(), events)
	got, err := os.ReadFile(want)
	if err != nil || string(got) != whole {
		t.Errorf("it did not wait: %q, %v", got, err)
	}
	for _, e := range events {
		if e.Transcript != want {
			t.Errorf("the transcript of %s is %q", e.Kind, e.Transcript)
		}
	}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
}

// Qwen Code may write its last words after the hook that tells them.
func TestLocateWaitsForTheLastWords(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s1.jsonl")
	const begun, whole = `{"type":"user"}` + "\n", `{"type":"user"}` + "\n" + `{"type":"assistant","message":{"parts":[{"text":"Say \"<hello>\"."}]}}` + "\n"
	if err := os.WriteFile(name, []byte(begun), 0o600); err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		late <- os.WriteFile(name, []byte(whole), 0o600)
	}()
	locate(context.Background(), []hooks.Event{{Agent: "qwen", Session: "s1", Kind: hooks.Stop, Time: time.Now(), Transcript: name,
		Payload: []byte(`{"last_assistant_message":"Say \"<hello>\"."}`)}})
	if got, err := os.ReadFile(name); err != nil || string(got) != whole {
		t.Errorf("it did not wait: %q, %v", got, err)
	}
	if err := <-late; err != nil {
		t.Fatal(err)
	}
}
