// Package demo plays recorded sessions in a repository of its own, through the hooks of the running
// program. Begin with Play. It neither reads nor writes the user's files: the processes that it
// starts have their own home folder.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/examples"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Options of a demo.
type Options struct {
	Keep   bool // leaves the folder
	Report func(Note)
}

// Note is a scene of the demo. cmd words it.
type Note interface{}

// Notes of Play.
type (
	// Opened names the new folder.
	Opened string
	// Session begins a session.
	Session struct{ Agent string }
	// Line is a line of a session by "you" or the agent, or of output without a speaker.
	Line struct{ Speaker, Text string }
	// Learned has the new memories after a session, and the statements that wait, with their reasons.
	Learned struct {
		Kept    []Statement
		Waiting []Statement
	}
)

// Statement is a memory, or a proposal of one.
type Statement struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Why  string `json:"why"` // it was kept, or waits
}

// Result is the end of a demo.
type Result struct {
	Dir     string      `json:"dir"` // empty: it is removed
	Kept    []Statement `json:"kept"`
	Context string      `json:"context"` // that the next session gets
}

// session is a recorded session.
type session struct {
	agent, id string
	path      string // of the transcript, in the home folder
	text      string
}

var sessions = []session{
	{"claude", "4b91b8f5-93c1-4344-b8d6-0d7fad1bbbf3", ".claude/projects/-heron/%s.jsonl", examples.Claude},
	{"codex", "01a1ac1d-e210-7931-b0fc-b9ebf622a149", ".codex/sessions/2026/11/05/rollout-%s.jsonl", examples.Codex},
}

// Play plays the sessions one after the other. The hooks start the background worker, which learns.
func Play(ctx context.Context, o Options) (res Result, err error) {
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	top, err := os.MkdirTemp("", "reverie-demo-")
	if err != nil {
		return res, err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return res, err
	}
	s := stage{Options: o, self: self, home: filepath.Join(top, "home"), dir: filepath.Join(top, "heron")}
	defer func() {
		if s.settle(context.WithoutCancel(ctx)); o.Keep {
			res.Dir = s.dir
		} else {
			err = errors.Join(err, os.RemoveAll(top))
		}
	}()
	if err := s.build(ctx); err != nil {
		return res, err
	}
	s.Report(Opened(s.dir))
	for _, one := range sessions {
		if err := s.play(ctx, one); err != nil {
			return res, err
		}
		if res.Kept, err = s.learned(ctx, res.Kept); err != nil {
			return res, err
		}
	}
	answer, err := s.hook(ctx, session{agent: "claude", id: "next"}, "SessionStart")
	if err != nil {
		return res, err
	}
	var given struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(answer, &given); err != nil {
		return res, fmt.Errorf("read the hook's answer: %w", err)
	}
	res.Context = given.HookSpecificOutput.AdditionalContext
	return res, nil
}

// stage is the folder of a demo.
type stage struct {
	Options
	self      string // the program
	home, dir string
}

// build makes the home folder, and a repository with a memory.
func (s stage) build(ctx context.Context) error {
	for _, dir := range []string{s.home, s.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	settings := "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte(settings), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "commit", "-q", "--allow-empty", "-m", "one"}, {s.self, "-q", "init"}} {
		if _, err := s.run(ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command in the repository, with an environment that names nothing of the user's.
func (s stage) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = s.dir, bytes.NewReader(stdin)
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+s.home, "USERPROFILE="+s.home, "AppData="+filepath.Join(s.home, "AppData"), "XDG_CONFIG_HOME="+filepath.Join(s.home, ".config"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(s.home, ".gitconfig"), "GIT_CEILING_DIRECTORIES="+filepath.Dir(s.dir))
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(args[0]), strings.Join(args[1:], " "), err, strings.TrimSpace(talk.String()))
	}
	return out.Bytes(), nil
}

// timestamp matches the times of a transcript.
var timestamp = pattern.New(`"timestamp": ?"[^"]*"`)

// play has a session happen now: its transcript grows, and its hooks run.
func (s stage) play(ctx context.Context, one session) error {
	one.path = filepath.Join(s.home, filepath.FromSlash(fmt.Sprintf(one.path, one.id)))
	if err := os.MkdirAll(filepath.Dir(one.path), 0o700); err != nil {
		return err
	}
	now := time.Now().UTC()
	text := timestamp.ReplaceAllStringFunc(strings.ReplaceAll(one.text, examples.Folder, s.dir), func(string) string {
		now = now.Add(time.Millisecond)
		return `"timestamp":"` + now.Format("2006-01-02T15:04:05.000Z") + `"`
	})
	s.Report(Session{one.agent})
	if _, err := s.hook(ctx, one, "SessionStart"); err != nil {
		return err
	}
	if err := os.WriteFile(one.path, []byte(text), 0o600); err != nil {
		return err
	}
	if err := s.tell(ctx, one.agent, text); err != nil {
		return err
	}
	for _, event := range []string{"Stop", "SessionEnd"} {
		if _, err := s.hook(ctx, one, event); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// hook delivers an event as the agent does, and returns the answer.
func (s stage) hook(ctx context.Context, one session, event string) ([]byte, error) {
	payload, err := json.Marshal(map[string]string{"session_id": one.id, "transcript_path": one.path, "cwd": s.dir, "hook_event_name": event, "source": "startup"})
	if err != nil {
		return nil, err
	}
	return s.run(ctx, payload, s.self, "hook", one.agent)
}

// tell reports the conversation of a transcript: words, commands, and the errors of those that
// failed.
func (s stage) tell(ctx context.Context, agent, text string) error {
	return transcript.Whole(ctx, strings.NewReader(text), transcript.Format(agent), func(head transcript.Session, events []transcript.Event) error {
		failed := map[int]string{}
		for _, f := range reflect.Failures(head, events) {
			failed[f.Event] = f.Error
		}
		for _, e := range events {
			switch {
			case e.Kind == transcript.User && e.Origin == transcript.Typed:
				s.Report(Line{"you", e.Text})
			case e.Kind == transcript.Call && e.Command != "":
				s.Report(Line{agent, "$ " + e.Command})
			case failed[e.N] != "":
				s.Report(Line{"", failed[e.N]})
			}
		}
		return nil
	})
}

// learned reports the memories that a session added, and what waits. It returns all memories.
func (s stage) learned(ctx context.Context, before []Statement) (after []Statement, err error) {
	memories, err := list[struct {
		Kind, Text string
		Said       bool
	}](ctx, s, "list")
	if err != nil {
		return nil, err
	}
	var news Learned
	for _, m := range memories {
		one := Statement{m.Kind, m.Text, "seen in two sessions"}
		if m.Said {
			one.Why = "you said it"
		}
		after = append(after, one)
		if !slices.ContainsFunc(before, func(b Statement) bool { return b.Text == m.Text }) {
			news.Kept = append(news.Kept, one)
		}
	}
	pending, err := list[struct {
		Memory struct{ Kind, Text string }
		Waits  string
	}](ctx, s, "review")
	for _, o := range pending {
		news.Waiting = append(news.Waiting, Statement{o.Memory.Kind, o.Memory.Text, o.Waits})
	}
	s.Report(news)
	return after, err
}

// list returns the lines of a command's answer in JSON.
func list[T any](ctx context.Context, s stage, command string) (all []T, err error) {
	out, err := s.run(ctx, nil, s.self, "--json", command)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(out) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// patience bounds the time for the background worker to end.
const patience = 30 * time.Second

// settle waits until no worker of the repository is at work.
func (s stage) settle(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return job.Settle(ctx, filepath.Join(s.dir, ".git", "reverie"))
}
