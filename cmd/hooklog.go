package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// logVariable, set to anything but 0, has every call of a hook written to the log of the state folder. Faults are without it.
const logVariable = "REVERIE_LOG"

// faultMark follows the time in a line of the log about a hook that failed; what it was called for, and why, come after it.
const faultMark = " reverie: hook failed: "

// faultsKept is how long a fault of a hook is worth telling.
const faultsKept = 7 * 24 * time.Hour

// hookLine is a line of the log about a call of a hook, with the secrets that an error may quote taken out.
func hookLine(now time.Time, args []string, took time.Duration, err error) string {
	what := oneLine(strings.Join(args[:min(2, len(args))], " "), 60)
	if err == nil {
		return now.Format(time.DateTime) + " reverie: hook done: " + what + ": " + took.Round(10*time.Microsecond).String() + "\n"
	}
	why, _ := redact.New().Text(err.Error())
	return now.Format(time.DateTime) + faultMark + what + ": " + oneLine(why.String(), 300) + "\n"
}

// logHook writes a call of a hook to the log, if it failed or all are asked for. Agents show their users nothing of what a hook says; and a
// log that cannot be written is no reason for another fault.
func (env *Env) logHook(ctx context.Context, args []string, began time.Time, err error) {
	if asked := os.Getenv(logVariable); err == nil && (asked == "" || asked == "0") {
		return
	}
	repo, _ := git.FindStarted(ctx, env.Dir)
	if repo == nil {
		return
	}
	state := filepath.Join(repo.CommonDir, "reverie")
	if info, err := os.Lstat(state); err != nil || !info.IsDir() {
		return
	}
	if log, err2 := openLog(state); err2 == nil {
		_, _ = io.WriteString(log, hookLine(env.Now(), args, env.Now().Sub(began), err))
		_ = log.Close()
	}
}

// examineHooks looks for faults of hooks in the log.
func (w *workspace) examineHooks() []examined {
	now, faults, last := w.env.Now(), 0, ""
	for _, name := range []string{"log.old", "log"} {
		text, err := file.Read(filepath.Join(w.state, name), 2*maxLog)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			when, what, ok := strings.Cut(strings.TrimSpace(line), faultMark)
			if at, err := time.ParseInLocation(time.DateTime, when, now.Location()); ok && err == nil && now.Sub(at) <= faultsKept {
				faults++
				last = ago(now.Sub(at)) + ": " + visible(what)
			}
		}
	}
	if faults == 0 {
		return nil
	}
	return []examined{{
		What:   "hooks",
		State:  stateNote,
		Detail: fmt.Sprintf("%s in %d days, the last %s", count(faults, "call failed", "calls failed"), faultsKept/(24*time.Hour), last),
		Fix:    "see " + filepath.Join(w.state, "log") + "; with " + logVariable + "=1 in the agent's environment it tells of every call",
	}}
}
