package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/capture"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/plural"
)

// faultsKept is the maximum age of a relevant hook fault.
const faultsKept = 7 * 24 * time.Hour

// logCheck looks for faults of hooks in their log.
type logCheck struct{ *clone.Clone }

func (x logCheck) run(context.Context) []Finding {
	now, faults, last := x.Now(), 0, ""
	for _, name := range []string{"log.old", "log"} {
		text, err := readEnd(filepath.Join(x.State, name), 2*job.MaxLog)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			when, what, ok := strings.Cut(strings.TrimSpace(line), capture.FaultMark)
			if at, err := time.ParseInLocation(time.DateTime, when, now.Location()); ok && err == nil && now.Sub(at) <= faultsKept {
				faults++
				last = plural.Ago(now.Sub(at)) + ": " + what
			}
		}
	}
	if faults == 0 {
		return nil
	}
	return []Finding{{
		State:  Note,
		Detail: fmt.Sprintf("%s in %d days, the last %s", plural.Count(faults, "call failed", "calls failed"), faultsKept/(24*time.Hour), last),
		Fix:    "see " + filepath.Join(x.State, "log") + "; with " + capture.LogVariable + "=1 in the agent's environment it tells of every call",
	}}
}

// readEnd returns the last max bytes of a file. A log is longer than it should be if one process
// wrote all of it.
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
