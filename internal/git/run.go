package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Error reports a failed git command.
type Error struct {
	Command string // the git command, as "update-ref"
	Line    string // the line of git's standard error with the reason
	Code    int    // exit status; -1 if git did not run to its end

	all []byte // everything git wrote to standard error
	err error
}

func (e *Error) Error() string { return "git " + e.Command + ": " + e.Line }

// Unwrap returns the reason why git could not run or was stopped.
func (e *Error) Unwrap() error { return e.err }

// Git runs git on the common directory in a clean environment and returns its standard output.
// stdin may be nil. The error is an *Error.
func (r *Repo) Git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := r.Command(ctx, args...)
	cmd.Stdin = stdin
	defer progress(ctx)
	return run(cmd)
}

// Command returns the same git command, not started, for callers that stream its output. It is
// meant for our own refs and does not know the index, HEAD or files of a linked worktree. Callers
// of log, diff and show add --no-ext-diff and --no-textconv, so that no configured program runs.
func (r *Repo) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := r.command(ctx, args...)
	if r.offline || r.Partial && !r.mayFetch() {
		// the first is known from 2.45 on
		cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	}
	return cmd
}

func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	fixed := []string{
		"--no-pager", "--no-replace-objects", "--git-dir=" + r.CommonDir,
		"-c", "core.hooksPath=" + os.DevNull,
		// the configuration's hooks of these events: git turns off all of an event since 2.55
		"-c", "hook.pre-push.enabled=false", "-c", "hook.post-checkout.enabled=false",
		"-c", "hook.reference-transaction.enabled=false", "-c", "hook.post-index-change.enabled=false",
		"-c", "core.fsmonitor=false",
		"-c", "log.showSignature=false",
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
		"-c", "protocol.ext.allow=never", // a partial clone's git may fetch at any time
		"-c", "protocol.fd.allow=never",
	}
	for _, event := range OwnHooks {
		fixed = append(fixed, "-c", "hook."+OwnHook(event)+".enabled=false")
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Dir = r.CommonDir
	cmd.Env = transports(cleanEnviron())
	if r.offline {
		// the first is known from 2.45 on
		cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	}
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// OwnHooks lists the events for which Reverie may define a hook in git's configuration. Our own git
// commands turn those hooks off.
var OwnHooks = []string{"post-commit", "post-merge", "post-rewrite", "post-checkout", "pre-push", "prepare-commit-msg"}

// OwnHook returns the name of Reverie's hook of an event. Git refuses the name of an event.
func OwnHook(event string) string { return "reverie-" + event }

// durable makes git sync its writes to disk before it answers.
var durable = []string{"-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"}

// keptVariables lists the GIT_ variables that do not select another command's repository, index,
// author or configuration.
var keptVariables = []string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER",
}

// keptPrefixes lists the prefixes of such variables.
var keptPrefixes = []string{"GIT_TRACE", "GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_"}

// Environ returns the environment of this process without the variables of a hook or an enclosing
// git command, for processes that outlive them.
func Environ() []string { return cleanEnviron() }

// LeaveRepository removes the variables that select git's repository from this process's
// environment, so that the folder decides.
func LeaveRepository() {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX"} {
		os.Unsetenv(name)
	}
}

// cleanEnviron returns the environment without the variables of a hook or an enclosing git command.
func cleanEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name == "LC_ALL" || name == "LANGUAGE" || strings.HasPrefix(name, "GIT_") && !kept(name) {
			continue
		}
		env = append(env, kv)
	}
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
}

func kept(name string) bool {
	for _, k := range keptVariables {
		if name == k {
			return true
		}
	}
	return slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Run runs a git command made by Command, and returns its standard output. The error is an *Error.
func Run(cmd *exec.Cmd) ([]byte, error) { return run(cmd) }

// run runs cmd, a git command, and returns its standard output even if it failed.
func run(cmd *exec.Cmd) ([]byte, error) {
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return out.Bytes(), newError(cmd, stderr.Bytes(), err)
	}
	return out.Bytes(), nil
}

func newError(cmd *exec.Cmd, stderr []byte, err error) *Error {
	e := &Error{Command: commandName(cmd.Args[1:]), Line: shown(reason(stderr)), Code: -1, all: stderr, err: err}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Code = exit.ExitCode()
	}
	if errors.Is(err, exec.ErrNotFound) {
		e.err = ErrGitMissing
		e.Line = ErrGitMissing.Error()
	}
	if e.Line == "" {
		e.Line = err.Error()
	}
	return e
}

// commandName returns the first argument that is neither an option nor an option's value.
func commandName(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// reason picks the line that explains a failure: the first fatal or error line, joined with the
// next if it ends in a colon, or else the last line.
func reason(stderr []byte) string {
	lines := strings.FieldsFunc(string(stderr), func(c rune) bool { return c == '\n' || c == '\r' })
	for i, line := range lines {
		why, fatal := strings.CutPrefix(line, "fatal: ")
		if !fatal {
			why, fatal = strings.CutPrefix(line, "error: ")
		}
		if fatal && strings.HasSuffix(why, ":") && i+1 < len(lines) {
			return why + " " + strings.TrimSpace(lines[i+1])
		}
		if fatal {
			return why
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// longest limits watched work to this multiple of its time limit, whatever its progress: a remote
// can feign progress forever.
const longest = 10

// Watch ends work on repositories that makes no progress. It is safe for concurrent use.
type Watch struct {
	limit, all time.Duration
	cancel     context.CancelCauseFunc

	mu         sync.Mutex
	still, end *time.Timer // both stopped while paused
	paused     bool
}

// watchKey marks a watched context; its value is a func() to call on progress.
type watchKey struct{}

// NewWatch returns a context that is cancelled, with a telling cause, after limit without progress
// or after ten times limit. Progress means an object read or saved, the end of a git process, and
// output of one that talks to a remote. The caller ends the watch with Stop.
func NewWatch(ctx context.Context, limit time.Duration) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watch{limit: limit, cancel: cancel, all: longest * min(limit, math.MaxInt64/longest)}
	w.still = time.AfterFunc(w.limit, func() { cancel(fmt.Errorf("not done within %s of the last progress", w.limit)) })
	w.end = time.AfterFunc(w.all, func() { cancel(fmt.Errorf("not done within %s", w.all)) })
	return context.WithValue(ctx, watchKey{}, w.progress), w
}

// Stop ends the watch and its context.
func (w *Watch) Stop() {
	w.Pause()
	w.cancel(nil)
}

// Pause stops the watch, for example while a person thinks.
func (w *Watch) Pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
	w.still.Stop()
	w.end.Stop()
}

// Resume restarts a paused watch with its full limit.
func (w *Watch) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	w.still.Reset(w.limit)
	w.end.Reset(w.all)
}

// progress notifies the watch of ctx, if it has one.
func progress(ctx context.Context) {
	if tell, ok := ctx.Value(watchKey{}).(func()); ok {
		tell()
	}
}

func (w *Watch) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.paused {
		w.still.Reset(w.limit)
	}
}
