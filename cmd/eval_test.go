package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/eval"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A scripted model finds one wanted statement and one unwanted, and once gives no answer.
func TestEvalMeasuresReadersBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	key := "sk-ant-api03-" + strings.Repeat("aB3dE6gH", 11) + "-xYz12AA"
	for name, text := range map[string]string{
		"labels.jsonl": `{"session": "a.jsonl", "want": [{"class": "fact", "about": ["9090"], "accept": "It listens on 9090."}], "allow": [{"about": ["tabs"]}]}` + "\n" +
			`{"session": "b.jsonl", "want": [{"class": "fix", "about": ["compose"], "accept": "Start compose."}]}`,
		"a.jsonl": `{"agent": "aider", "started_at": "2026-11-01T10:00:00Z", "messages": [{"index": 0, "role": "user", "content": "the key is ` + key + `"}]}`,
		"b.jsonl": `{"agent": "aider", "started_at": "2026-11-02T10:00:00Z", "messages": [{"index": 0, "role": "user", "content": "hello"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := ""
	model := func(_ context.Context, _ transcript.Session, events []transcript.Event) (record.Reflection, error) {
		seen += events[0].Text + "\n"
		if events[0].Text == "hello" {
			return record.Reflection{Candidates: []record.Candidate{{Text: "Run docker\nnow", Detector: "fix"}}}, errors.New("cut off")
		}
		return record.Reflection{Candidates: []record.Candidate{
			{Text: "Port 9090 it is", Detector: "model"}, {Text: "Tabs", Detector: "model"}, {Text: "Weak", Weak: true}, {Text: "Be nice", Detector: "model"},
		}}, nil
	}
	var out, errs bytes.Buffer
	env := &Env{Terminal: term.Terminal{Out: &out, Err: &errs, Width: 80, Verbose: true}, Dir: "."}
	if err := runEval(context.Background(), env, dir, []eval.Subject{{Name: "detectors", Read: eval.ByDetectors}, {Name: "tiny:1b", Read: model}}); err != nil {
		t.Fatal(err)
	}
	want := `name      sessions unread  found  right  wrong missed precision recall
detectors        2      0      0      0      0      2         -  0.000
tiny:1b          2      1      4      1      2      1     0.333  0.500
detectors  recall     fact         0 of 1: 0.00 (0.00 to 0.79)
detectors  recall     fix          0 of 1: 0.00 (0.00 to 0.79)
tiny:1b  recall     fact         1 of 1: 1.00 (0.21 to 1.00)
tiny:1b  recall     fix          0 of 1: 0.00 (0.00 to 0.79)
tiny:1b  precision  fix          0 of 1: 0.00 (0.00 to 0.79)
tiny:1b  precision  model        1 of 2: 0.50 (0.09 to 0.91)
tiny:1b  precision  waiting      1 of 3: 0.33 (0.06 to 0.79)
detectors  missed  a.jsonl  fact: It listens on 9090.
detectors  missed  b.jsonl  fix: Start compose.
tiny:1b    wrong   a.jsonl  model: Be nice
tiny:1b    wrong   b.jsonl  fix: Run docker now
tiny:1b    missed  b.jsonl  fix: Start compose.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if got := errs.String(); got != "reverie: tiny:1b did not read 1 of 2 sessions; the first: b.jsonl: cut off\n" {
		t.Error(got)
	}
	if strings.Contains(seen, key) || !strings.Contains(seen, "the key is ") {
		t.Errorf("a model was shown a secret: %s", seen)
	}
}

func TestEvalReadsWithAModel(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"labels.jsonl": `{"session": "a.jsonl", "want": [{"class": "fact", "about": ["9090"], "accept": "It listens on 9090."}]}` + "\n" +
			`{"session": "b.jsonl", "want": [{"class": "rule", "about": ["pnpm"]}]}`,
		"a.jsonl": `{"agent": "aider", "started_at": "2026-11-01T10:00:00Z", "messages": [{"index": 0, "role": "user", "content": "why does curl fail?"}, ` +
			`{"index": 1, "role": "user", "content": "the staging proxy takes port 8080, so the test server has 9090"}]}`,
		"b.jsonl": `{"agent": "aider", "started_at": "2026-11-02T10:00:00Z", "messages": [{"index": 0, "role": "user", "content": "Always use pnpm in web/, never npm: CI rejects its lock file."}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := &prompts.Model{Name: "m", Context: 8192, Ask: func(_ context.Context, r prompts.Rendered) (prompts.Answer, error) {
		if !strings.Contains(r.User, "port 8080") {
			return prompts.Answer{}, errors.New("gone")
		}
		return prompts.Answer{Text: []byte(`{"candidates": [{"why": "a person says so", "kind": "fact", "text": "The test server listens on port 9090, the staging proxy has 8080.", ` +
			`"body": "", "proof":"person", "paths": [], "evidence": [{"event": 1, "quote": "the test server has 9090"}]}]}`)}, nil
	}}
	var out, errs bytes.Buffer
	env := &Env{Terminal: term.Terminal{Out: &out, Err: &errs, Width: 80}, Dir: "."}
	if err := runEval(context.Background(), env, dir, []eval.Subject{{Name: "detectors", Read: eval.ByDetectors}, {Name: "m", Read: eval.ByModel(model, prompts.Set{}), Model: true}}); err != nil {
		t.Fatal(err)
	}
	want := `name          sessions unread  found  right  wrong missed precision recall
detectors            2      0      1      1      0      1     1.000  0.500
m                    2      1      1      1      0      1     1.000  0.500
detectors + m        2      1      2      2      0      0     1.000  1.000
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(errs.String(), "m did not read 1 of 2 sessions; the first: b.jsonl: ") {
		t.Error(errs.String())
	}
	silent := &prompts.Model{Name: "silent", Context: 8192, Ask: func(context.Context, prompts.Rendered) (prompts.Answer, error) {
		return prompts.Answer{}, errors.New("gone")
	}}
	err := runEval(context.Background(), env, dir, []eval.Subject{{Name: "silent", Read: eval.ByModel(silent, prompts.Set{}), Model: true}})
	if err == nil || !strings.Contains(err.Error(), "silent read nothing") {
		t.Errorf("a model that never answers: %v", err)
	}
}

// An agent's own diagnosis is a finding of the detectors, although a model said it.
func TestEvalCountsAModelsFindingsOnly(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"labels.jsonl": `{"session": "a.jsonl", "want": [{"class": "fact", "about": ["9090"]}]}`,
		"a.jsonl":      `{"agent": "aider", "started_at": "2026-11-01T10:00:00Z", "messages": [{"index": 0, "role": "user", "content": "hello"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	both := func(context.Context, transcript.Session, []transcript.Event) (record.Reflection, error) {
		return record.Reflection{Candidates: []record.Candidate{
			{Text: "The cause is port 9090.", How: record.Model, Detector: "diagnosis"}, {Text: "It listens.", How: record.Model, Detector: "model"},
		}}, nil
	}
	var out, errs bytes.Buffer
	env := &Env{Terminal: term.Terminal{Out: &out, Err: &errs, Width: 80}, Dir: "."}
	if err := runEval(context.Background(), env, dir, []eval.Subject{{Name: "m", Read: both, Model: true}}); err != nil {
		t.Fatal(err)
	}
	want := `name          sessions unread  found  right  wrong missed precision recall
m                    1      0      1      0      1      1     0.000  0.000
detectors + m        1      0      2      1      1      0     0.500  1.000
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestEvalStopsWhenItIsTold(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	asked := 0
	model := func(ctx context.Context, _ transcript.Session, _ []transcript.Event) (record.Reflection, error) {
		asked++
		stop()
		return record.Reflection{}, ctx.Err()
	}
	var out, errs bytes.Buffer
	env := &Env{Terminal: term.Terminal{Out: &out, Err: &errs, Width: 80}, Dir: "."}
	err := runEval(ctx, env, "../reflect/testdata/labelled", []eval.Subject{{Name: "m", Read: model}})
	if !errors.Is(err, context.Canceled) || asked != 1 || out.Len() > 0 {
		t.Errorf("%v, asked %d times, %s", err, asked, &out)
	}
}
