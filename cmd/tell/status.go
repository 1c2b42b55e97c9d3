package tell

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/status"
	"github.com/reverie-memory/reverie/internal/term"
)

// Status writes the state of a clone, a row for each part that has something to tell.
func Status(t *term.Terminal, s status.Status, r *reader.Reader) {
	var hidden, older []reader.Held
	for _, h := range s.Held {
		if h.Given == nil {
			hidden = append(hidden, h)
		} else {
			older = append(older, h)
		}
	}
	for _, row := range [][2]string{ // name and value
		{"branch", branch(s)},
		{"known", known(s)},
		{"private", counted(s.Private, "memory", "memories", " of these only in this clone")},
		{"yours", counted(s.Own, "memory", "memories", " in every repository; to list them: reverie list --user")},
		{"offered", counted(s.OwnWaits, "preference", "preferences", " for every repository; next: reverie review --user")},
		{"contested", counted(s.Contested, "memory", "memories", "; next: reverie conflicts")},
		{"stale", counted(s.Stale, "memory", "memories", " whose code is gone here; next: reverie stale")},
		{"withheld", withheld(s.Withheld, hidden)},
		{"older", counted(s.Older, "memory", "memories", " changed by "+reader.HeldFor(older)+": agents get the earlier version; next: reverie trust")},
		{"settings", settings(r)},
		{"retired", counted(s.Retired, "memory", "memories", "")},
		{"damaged", counted(s.Unreadable, "file", "files", "; next: reverie check")},
		{"waiting", cmp.Or(counted(s.Waiting, "operation", "operations", "; next: reverie review"), "0 operations")},
		{"sessions", sessions(s)},
		{"given", given(s)},
		{"guards", noGuards(r)},
		{"kv", counted(s.Values, "value", "values", " noted for the next session; next: reverie kv list")},
		{"model", s.Model()},
		{"budget", budget(s, r)},
		{"shortened", counted(s.Shortened.Outputs, "output", "outputs", fmt.Sprintf(", which saved about %d tokens", s.Shortened.Bytes/4))},
		{"spool", counted(s.Spooled, "session", "sessions", " with events that wait for the worker")},
		{"worker", process(s.Worker)},
		{"reader", process(s.Reader)},
	} {
		if row[1] != "" {
			t.Row(10, row[0], row[1])
		}
	}
}

// counted words a number of things, or returns "" for none.
func counted(n int, one, many, rest string) string {
	if n == 0 {
		return ""
	}
	return plural.Count(n, one, many) + rest
}

func branch(s status.Status) string {
	at := s.Branch + " at " + s.Commit[:min(10, len(s.Commit))]
	if !s.Adopted {
		return "origin/" + at + ", read only until: reverie init"
	}
	return at
}

func known(s status.Status) string {
	var kinds []string
	for _, k := range record.Kinds {
		if n := s.Memories[string(k)]; n > 0 {
			kinds = append(kinds, plural.Count(n, string(k), string(k)+"s"))
		}
	}
	all := plural.Count(s.Known(), "memory", "memories")
	if len(kinds) > 0 {
		all += ": " + strings.Join(kinds, ", ")
	}
	return all
}

// withheld words how many memories agents are not given, some of them for want of trust.
func withheld(n int, untrusted []reader.Held) string {
	switch all := counted(n, "memory", "memories", " not given to agents here"); {
	case n == 0:
		return ""
	case len(untrusted) == 0:
		return all + "; 'reverie list' says why"
	case len(untrusted) == n:
		return reader.DescribeHeld(untrusted) + "; next: reverie trust"
	default:
		return fmt.Sprintf("%s, %d of them by %s; 'reverie list' says why; next: reverie trust", all, len(untrusted), reader.HeldFor(untrusted))
	}
}

func sessions(s status.Status) string {
	kept := plural.Count(s.Sessions, "session", "sessions") + " kept"
	if s.Pending > 0 {
		kept += fmt.Sprintf(", %d without a reflection; next: reverie learn", s.Pending)
	}
	return kept
}

func given(s status.Status) string {
	line := counted(s.Given.Memories, "memory", "memories", " in "+plural.Count(s.Given.Sessions, "session", "sessions"))
	if line != "" && s.Given.Acted > 0 {
		line += "; at calls: " + s.Given.Heed.String()
	}
	return line
}

func settings(r *reader.Reader) string {
	why := reader.WhySettings(r)
	if why == "" || r.Shields() {
		return ""
	}
	return why + "; next: reverie trust approve " + trust.SettingsPath
}

func noGuards(r *reader.Reader) string {
	if r.Config.Guards {
		return ""
	}
	return "off here; to turn them on: reverie guard on"
}

// budget says why no model is asked today, if the settings name one.
func budget(s status.Status, r *reader.Reader) string {
	if s.Model() == "" {
		return ""
	}
	if spent := r.Budget().Spent(); spent != nil {
		return spent.Error()
	}
	return ""
}

func process(j *job.Status) string {
	if j == nil {
		return ""
	}
	return fmt.Sprintf("process %d since %s: %s", j.PID, j.Started.Local().Format("15:04:05"), j.Doing)
}
