package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/capture"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/term"
)

// faultsKept is the age up to which doctor tells of a hook's fault.
const faultsKept = 7 * 24 * time.Hour

// examineHooks looks for faults of hooks in the log.
func (w *workspace) examineHooks() []examined {
	now, faults, last := w.env.Now(), 0, ""
	for _, name := range []string{"log.old", "log"} {
		text, err := readEnd(filepath.Join(w.State, name), 2*job.MaxLog)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			when, what, ok := strings.Cut(strings.TrimSpace(line), capture.FaultMark)
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
		Fix:    "see " + filepath.Join(w.State, "log") + "; with " + capture.LogVariable + "=1 in the agent's environment it tells of every call",
	}}
}

// readEnd is the end of a file of ours, at most max bytes of it: a log is longer than it should be
// where one process wrote all of it.
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
