package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
)

// logVariable, set to anything but 0, has every call of a hook written to the log of the state folder. Faults are without it.
const logVariable = "REVERIE_LOG"

// faultMark follows the time in a line of the log about a hook that failed; what it was called for, and why, come after it.
const faultMark = " reverie: hook failed: "

// faultsKept is how long a fault of a hook is worth telling.
const faultsKept = 7 * 24 * time.Hour

// Bounds of writing a call to the log: as long as the rest of the hook may take, and what is left where its time is over.
const (
	logPatience  = hookPatience / 2
	lastPatience = 100 * time.Millisecond
)

// hookCall is one call of a hook, as the log tells of it. Its methods may be called at the same time: the time of a hook that hangs
// ends beside it.
type hookCall struct {
	args  []string
	now   func() time.Time
	began time.Time
	dir   atomic.Pointer[string] // where it is about, as far as that is known yet
	told  sync.Once
}

func newHookCall(args []string, now func() time.Time) *hookCall {
	return &hookCall{args: args, now: now, began: now()}
}

// at says which folder the call is about.
func (c *hookCall) at(dir string) { c.dir.Store(&dir) }

// ended writes the call to the log, if it failed or all are asked for, once, and waits for that as long as patience. Agents show their
// users nothing of what a hook says; and a log that cannot be written is no reason for another fault.
func (c *hookCall) ended(err error, patience time.Duration) {
	if asked := os.Getenv(logVariable); err == nil && (asked == "" || asked == "0") {
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

// write is ended without its bounds. The context of the hook is of no use to it: that may be why the hook failed.
func (c *hookCall) write(dir string, err error, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	repo, _ := git.FindStarted(ctx, dir)
	if repo == nil {
		return
	}
	state := filepath.Join(repo.CommonDir, "reverie")
	if info, err := os.Lstat(state); err != nil || !info.IsDir() {
		return
	}
	line := c.line(redact.New(clone.HookSecrets(ctx, repo)...), err)
	if log, err := job.OpenLog(state); err == nil {
		_, _ = io.WriteString(log, line)
		_ = log.Close()
	}
}

// line is the line of the log about the call, without the secrets that what it was called with, or an error that quotes something, may have.
func (c *hookCall) line(scanner *redact.Scanner, err error) string {
	clean := func(text string, most int) string {
		redacted, _ := scanner.Text(text)
		return term.OneLine(redacted.String(), most)
	}
	now := c.now()
	at, what := now.Format(time.DateTime), clean(strings.Join(c.args[:min(2, len(c.args))], " "), 60)
	if err == nil {
		return at + " reverie: hook done: " + what + ": " + now.Sub(c.began).Round(10*time.Microsecond).String() + "\n"
	}
	return at + faultMark + what + ": " + clean(err.Error(), 300) + "\n"
}

// examineHooks looks for faults of hooks in the log.
func (w *workspace) examineHooks() []examined {
	now, faults, last := w.env.Now(), 0, ""
	for _, name := range []string{"log.old", "log"} {
		text, err := readEnd(filepath.Join(w.State, name), 2*job.MaxLog)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			when, what, ok := strings.Cut(strings.TrimSpace(line), faultMark)
			if at, err := time.ParseInLocation(time.DateTime, when, now.Location()); ok && err == nil && now.Sub(at) <= faultsKept {
				faults++
				last = ago(now.Sub(at)) + ": " + term.Visible(what)
			}
		}
	}
	if faults == 0 {
		return nil
	}
	return []examined{{
		What:   "hooks",
		State:  stateNote,
		Detail: fmt.Sprintf("%s in %d days, the last %s", term.Count(faults, "call failed", "calls failed"), faultsKept/(24*time.Hour), last),
		Fix:    "see " + filepath.Join(w.State, "log") + "; with " + logVariable + "=1 in the agent's environment it tells of every call",
	}}
}

// readEnd is the end of a file of ours, at most max bytes of it: a log is longer than it should be where one process wrote all of it.
func readEnd(path string, max int64) ([]byte, error) {
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, info.Size()-min(info.Size(), max), max))
}
