package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// hookCommand is for the help: Main runs hooks itself, without the rest of the command line.
func hookCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "handle an event from an agent's or git's hook",
		ArgsUsage: "SOURCE [EVENT] [ARG…]",
		Description: "SOURCE is claude, codex, gemini, opencode, generic or git. It always exits with 0 and prints what the agent reads,\n" +
			"or nothing. A generic event is a JSON object with session_id, cwd, and if they are known transcript_path, parent_id and\n" +
			"prompt; EVENT is start, prompt, stop, subagent-stop, compacting, compacted or end.",
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			if isHelp(c.Args().First()) {
				env.fitHelp(help.Command(c.Command))
				return nil
			}
			runHook(c.Context, env, newHookCall(c.Args().Slice(), env.Now))
			return nil
		},
	}
}

// hookPatience is the longest that a hook may take before it gives up, if the agent waits longer: what an agent is made
// to wait for, a person is.
const hookPatience = 4 * time.Second

// hookProcess is the whole life of a hook's process. Whatever happens it ends with 0 and in time: an agent that sees another
// code throws away what its user typed.
func hookProcess(args []string) int {
	if job.Disabled() {
		return exit.Done
	}
	call := newHookCall(args, time.Now)
	defer time.AfterFunc(hookPatience, func() {
		fmt.Fprintln(os.Stderr, "reverie: hook: gave up after "+hookPatience.String())
		call.ended(errors.New("gave up after "+hookPatience.String()), lastPatience)
		os.Exit(exit.Done)
	}).Stop()
	ctx, cancel := context.WithTimeout(context.Background(), hookPatience-hookPatience/10)
	defer cancel()
	if len(args) > 0 && args[0] != "git" {
		git.LeaveRepository() // the payload says where the agent works; what its environment says is about somebody's git
	}
	env := system()
	env.Quiet, env.Colour, env.Interactive, env.Screen = true, false, false, false
	runHook(ctx, env, call)
	return exit.Done
}

// runHook does what a hook is called for. Its one line on a fault of ours goes to env.Err.
func runHook(ctx context.Context, env *Env, call *hookCall) {
	call.at(env.Dir)
	err := withRoom(func() error { return hook(ctx, env, call) })
	if err != nil {
		env.Warn("hook: %s", term.OneLine(err.Error(), 300))
	}
	call.ended(err, logPatience)
}

func hook(ctx context.Context, env *Env, call *hookCall) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a defect of Reverie: %v", r)
		}
	}()
	args := call.args
	if len(args) == 0 {
		return errors.New("it wants to know who calls: claude, codex, gemini, opencode, generic or git")
	}
	source, event, rest := args[0], "", []string(nil)
	if len(args) > 1 {
		event, rest = args[1], args[2:]
	}
	if source == "git" {
		return runGitHook(ctx, env, event, rest)
	}
	agent, known := hooks.Find(source)
	if !known {
		return fmt.Errorf("no agent is called %q", source)
	}
	from := env.In
	if source == "codex" && event == "notify" && len(rest) > 0 { // it calls with its payload as the last argument
		from, event = strings.NewReader(rest[len(rest)-1]), ""
	}
	e, err := agent.Decode(event, from, env.Now())
	if errors.Is(err, hooks.ErrUnasked) {
		return nil // an older or newer Reverie has asked for it
	}
	e.Shell = env.agentShell()
	if dir := agent.Place(e); dir != "" {
		env.Dir = dir
		call.at(dir)
	}
	patience := agent.Patience(e)
	ctx, cancel := context.WithTimeout(ctx, patience-patience/10)
	defer cancel()
	c, openErr := env.openCapture(ctx)
	if c == nil && openErr == nil {
		return nil // whatever was delivered: Reverie was never started here
	}
	if err := cmp.Or(err, openErr); err != nil {
		return err
	}
	return c.take(ctx, agent, e)
}

// capture is what keeping an event needs of a repository: less than a workspace, since every prompt of every agent waits
// for it.
type capture struct {
	env    *Env
	repo   *git.Repo
	state  string
	config config.Config
	spool  hooks.Spool

	unsettled error // why the settings could not be read; then they are the defaults
}

// openCapture finds the repository; nil where Reverie was never started in it.
func (env *Env) openCapture(ctx context.Context) (*capture, error) {
	repo, err := git.FindStarted(ctx, env.Dir)
	if errors.Is(err, git.ErrNotRepository) || errors.Is(err, git.ErrUnsafe) {
		return nil, nil
	}
	if repo == nil || err != nil {
		return nil, err
	}
	c := &capture{env: env, repo: repo, state: filepath.Join(repo.CommonDir, "reverie")}
	if !c.started() {
		return nil, nil
	}
	if c.config, c.unsettled = config.Load(config.UserFile(), clone.SettingsFile(c.state)); c.unsettled != nil {
		c.config = config.Default()
	}
	c.spool = hooks.Spool{Dir: clone.SpoolDir(c.state), Scanner: redact.New(clone.HookSecrets(ctx, repo)...)}
	return c, nil
}

// take keeps an event and does what it calls for. The event is on the disk before anything else is tried.
func (c *capture) take(ctx context.Context, agent hooks.Agent, e hooks.Event) error {
	if !c.started() {
		return nil
	}
	if _, err := c.repo.StateDir(); err != nil { // a folder of ours, and no link
		return err
	}
	if err := c.spool.Append(e); err != nil {
		if !c.started() {
			return nil
		}
		return err
	}
	err := errors.Join(c.unsettled, c.seen(agent.Name))
	var text string
	switch e.Kind {
	case hooks.Start, hooks.Prompt, hooks.Compacting, hooks.Compacted:
		collectLate()
		var err2 error
		text, err2 = c.answer(ctx, agent, e)
		err = errors.Join(err, err2)
	}
	if out := agent.Encode(e, text); len(out) > 0 {
		c.env.Out.Write(out)
	}
	switch e.Kind {
	case hooks.Start, hooks.Stop, hooks.SubagentStop, hooks.Compacting, hooks.End:
		if c.started() {
			err = errors.Join(err, job.Wake(c.repo, c.state))
		}
	}
	return err
}

// started reports whether the state folder is there, which an uninstall may have taken away since it was opened: whoever writes
// to it would make it anew.
func (c *capture) started() bool {
	info, err := os.Lstat(c.state)
	return err == nil && info.IsDir()
}

// seen remembers when an agent last delivered anything: the time of a file.
func (c *capture) seen(agent string) error {
	if !c.started() {
		return nil
	}
	dir, err := c.repo.StateSub(seenDir)
	if err != nil {
		return err
	}
	path, now := filepath.Join(dir, agent), c.env.Now()
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && os.Chtimes(path, now, now) == nil {
		return nil
	}
	return c.repo.WriteState(seenDir+"/"+agent, nil, false)
}

// seenDir is the folder of the state folder in which the time of a file says when an agent was last heard of.
const seenDir = "seen"
