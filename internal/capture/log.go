package capture

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// LogVariable is an environment variable. If it is set to anything but 0, the log of the state
// folder has every call of a hook; otherwise it has the failed ones.
const LogVariable = "REVERIE_LOG"

// FaultMark follows the time in a line of the log about a failed hook. Its arguments and the error
// follow.
const FaultMark = " reverie: hook failed: "

// Bounds of the time to write a call to the log: while the hook may go on, and once its time is
// over.
const (
	LogPatience  = Patience / 2
	LastPatience = 100 * time.Millisecond
)

// Call is one call of a hook. Ended may be called while Run hangs.
type Call struct {
	args  []string
	now   func() time.Time
	began time.Time
	dir   atomic.Pointer[string] // the folder that it is about, as far as that is known
	told  sync.Once
}

// NewCall begins a call with the arguments of the command.
func NewCall(args []string, now func() time.Time) *Call {
	return &Call{args: args, now: now, began: now()}
}

// at sets the folder that the call is about.
func (c *Call) at(dir string) { c.dir.Store(&dir) }

// Ended writes the call to the log, once, if it failed or the user wants all calls. It waits as
// long as patience. Agents do not show their users the output of a hook. A log that cannot be
// written is no fault.
func (c *Call) Ended(err error, patience time.Duration) {
	if asked := os.Getenv(LogVariable); err == nil && (asked == "" || asked == "0") {
		return
	}
	dir := c.dir.Load()
	if dir == nil {
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.told.Do(func() { c.write(*dir, err, patience) })
	}()
	select {
	case <-written:
	case <-time.After(patience):
	}
}

// write is Ended without its bounds. It has its own context: that of the hook may have ended.
func (c *Call) write(dir string, err error, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	repo, _ := git.FindStarted(ctx, dir)
	if repo == nil {
		return
	}
	state := clone.StateOf(repo)
	if info, err := os.Lstat(state); err != nil || !info.IsDir() {
		return
	}
	line := c.line(redact.New(clone.HookSecrets(ctx, repo)...), err)
	if log, err := job.OpenLog(state); err == nil {
		_, _ = io.WriteString(log, line)
		_ = log.Close()
	}
}

// line returns the line of the log, without the secrets that the arguments or the error may have.
func (c *Call) line(scanner *redact.Scanner, err error) string {
	clean := func(text string, most int) string {
		redacted, _ := scanner.Text(text)
		return cut.Marked(unseen.Visible(strings.Join(strings.Fields(redacted.String()), " ")), most)
	}
	now := c.now()
	at, what := now.Format(time.DateTime), clean(strings.Join(c.args[:min(2, len(c.args))], " "), 60)
	if err == nil {
		return at + " reverie: hook done: " + what + ": " + now.Sub(c.began).Round(10*time.Microsecond).String() + "\n"
	}
	return at + FaultMark + what + ": " + clean(err.Error(), 300) + "\n"
}
