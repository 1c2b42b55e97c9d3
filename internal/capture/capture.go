// Package capture handles the events that agents' and git's hooks deliver. It spools an event,
// answers it from the memory, and says which background work to start. Begin with Host.Run.
//
// Every prompt of every agent waits for this package, so it opens a clone only if an answer needs
// one. A hook must not fail an agent, so errors go to the log.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Patience bounds the time of a hook, even if the agent would wait longer: a person waits too.
const Patience = 4 * time.Second

// Host is the world of a hook. All functions must be set.
type Host struct {
	Dir   string // the folder of the process
	In    io.Reader
	Now   func() time.Time
	Shell string // the session whose agent runs the hook's shell, see clone.Shell
	Given string // the session in the ledger that holds the memories of the first prompt, or ""

	Open    func(ctx context.Context, dir string) (*Desk, error)
	Reading func()      // called before the memory is read
	Warn    func(error) // hears errors that end nothing
}

// Desk is a clone opened for an answer.
type Desk struct {
	*reader.Reader
	Ingester *ingest.Ingester
	Create   func(context.Context) error // makes the memory if it is missing
}

// Verdict is the result of a hook.
type Verdict struct {
	Answer []byte       // for the agent; may be empty
	Start  func() error // starts background work, after the answer was written; may be nil
}

// Run handles one call of a hook.
func (h Host) Run(ctx context.Context, call *Call) (v Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a defect of Reverie: %v", r)
		}
	}()
	call.at(h.Dir)
	args := call.args
	plugin := len(args) > 0 && args[0] == hooks.PluginFlag
	if plugin {
		args = args[1:]
	}
	if len(args) == 0 {
		return v, errors.New("it wants to know who calls: " + hooks.Names() + " or git")
	}
	source, event, rest := args[0], "", []string(nil)
	if len(args) > 1 {
		event, rest = args[1], args[2:]
	}
	if source == "git" {
		return h.git(ctx, event, rest)
	}
	agent, known := hooks.Find(source)
	if !known {
		return v, fmt.Errorf("no agent is called %q", source)
	}
	caller := agent.Caller(os.Getenv)
	if caller.Name != agent.Name && !plugin { // that agent has hooks of its own
		return v, nil
	}
	agent = caller
	from := h.In
	if source == "codex" && event == "notify" && len(rest) > 0 { // its payload is the last argument
		from, event = strings.NewReader(rest[len(rest)-1]), ""
	}
	e, err := agent.Decode(event, from, h.Now())
	if errors.Is(err, hooks.ErrUnasked) {
		return v, nil // an older or newer Reverie asked for it
	}
	e.Shell, e.Plugin = h.Shell, plugin
	if dir := agent.Place(e); dir != "" {
		h.Dir = dir
		call.at(dir)
	}
	patience := agent.Patience(e)
	ctx, cancel := context.WithTimeout(ctx, patience-patience/10)
	defer cancel()
	t, openErr := h.find(ctx)
	if t == nil && openErr == nil { // Reverie was never started here
		return Verdict{Answer: h.invite(agent, e)}, nil
	}
	if err := cmp.Or(err, openErr); err != nil {
		return v, err
	}
	if e.Call != nil && !agent.Spools(e) {
		return t.judge(ctx, agent, e)
	}
	t.scan(ctx)
	return t.take(ctx, agent, e)
}

// target is the repository that an event is about. It has less than a clone, because it is cheaper.
type target struct {
	Host
	repo   *git.Repo
	state  string
	config config.Config
	spool  hooks.Spool

	unsettled error // why the settings could not be read; then they are the defaults
}

// find finds the repository. It returns nil if Reverie was never started there.
func (h Host) find(ctx context.Context) (*target, error) {
	repo, err := git.FindStarted(ctx, h.Dir)
	if errors.Is(err, git.ErrNotRepository) || errors.Is(err, git.ErrUnsafe) {
		return nil, nil
	}
	if repo == nil || err != nil {
		return nil, err
	}
	t := &target{Host: h, repo: repo, state: clone.StateOf(repo)}
	if !t.started() {
		return nil, nil
	}
	if t.config, t.unsettled = config.Load(config.UserFile(), clone.SettingsFile(t.state)); t.unsettled != nil {
		t.config = config.Default()
	}
	t.spool = hooks.Spool{Dir: clone.SpoolDir(t.state)}
	return t, nil
}

// invite tells the person at a session's start in a fresh clone that agents get nothing of the
// memory at origin. The agent reads nothing of it.
func (h Host) invite(agent hooks.Agent, e hooks.Event) []byte {
	c, err := config.Load(config.UserFile())
	branch, named := strings.CutPrefix(c.Ref, "refs/heads/")
	if e.Kind != hooks.Start || err != nil || !c.Notice || !named || !git.OnlyAtOrigin(h.Dir, branch) {
		return nil
	}
	return agent.Encode(e, hooks.Reply{Notice: "reverie: origin has a memory of this repository, which agents here are not given yet: reverie init"})
}

// scan gives the spool its scanner, which reads the .env files.
func (t *target) scan(ctx context.Context) {
	t.spool.Scanner = redact.New(clone.HookSecrets(ctx, t.repo)...)
}

// take spools an event and answers it. The event is on the disk before anything else is tried.
func (t *target) take(ctx context.Context, agent hooks.Agent, e hooks.Event) (v Verdict, err error) {
	if !t.started() {
		return v, nil
	}
	if _, err := t.repo.State().Dir(); err != nil { // refuses a link
		return v, err
	}
	if err := t.spool.Append(e); err != nil {
		if !t.started() || errors.Is(err, hooks.ErrRepeated) {
			return v, nil
		}
		return v, err
	}
	err = errors.Join(t.unsettled, t.see(agent.Name))
	if e.Call != nil {
		v, failed := t.judge(ctx, agent, e)
		return v, errors.Join(err, failed)
	}
	var in brief.Injection
	switch e.Kind {
	case hooks.Start, hooks.Prompt, hooks.Compacting, hooks.Compacted:
		t.Reading()
		var failed error
		in, failed = t.answer(ctx, agent, e)
		err = errors.Join(err, failed)
	}
	notice := ""
	if e.Kind == hooks.Start && t.config.Notice && !errors.Is(err, config.ErrNewer) {
		notice = in.Notice(record.CountOperations(ctx, gitstore.Open(t.repo, clone.InboxRef)))
	}
	v.Answer = agent.Encode(e, hooks.Reply{Text: in.Text, Notice: notice})
	switch e.Kind {
	case hooks.Start, hooks.Stop, hooks.SubagentStop, hooks.Compacting, hooks.End:
		if t.started() {
			v.Start = func() error { return job.Wake(t.repo, t.state) }
		}
	}
	return v, err
}

// started reports whether the state folder is there. An uninstall may remove it at any time, and
// writing into it would make it again.
func (t *target) started() bool {
	info, err := os.Lstat(t.state)
	return err == nil && info.IsDir()
}

// see records the time of an agent's last event, as the time of a file.
func (t *target) see(agent string) error {
	if !t.started() {
		return nil
	}
	dir, err := t.repo.State().Sub(hooks.SeenDir)
	if err != nil {
		return err
	}
	path, now := filepath.Join(dir, agent), t.Now()
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && os.Chtimes(path, now, now) == nil {
		return nil
	}
	return t.repo.State().Write(hooks.SeenDir+"/"+agent, nil, false)
}
