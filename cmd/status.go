package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/status"
	"github.com/urfave/cli/v2"
)

func statusCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "status",
		Usage:  "show what is known, pending and kept",
		Action: usage.Alone(func(c *cli.Context) error { return runStatus(c.Context, env) }),
	}
}

func runStatus(ctx context.Context, env *Env) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	s, held, err := status.Read(ctx, w.Reader, w.learner())
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(s)
	}
	tellStatus(w, s, held)
	return nil
}

func tellStatus(w *workspace, s status.Status, held []reader.Held) {
	env := w.env
	row := func(name, value string) { env.Row(10, name, value) }
	counted := func(name string, n int, one, many, rest string) {
		if n > 0 {
			row(name, plural.Count(n, one, many)+rest)
		}
	}
	where := s.Branch + " at " + s.Commit[:min(10, len(s.Commit))]
	if !s.Adopted {
		where = "origin/" + where + ", read only until: reverie init"
	}
	row("branch", where)
	var kinds []string
	for _, k := range record.Kinds {
		if n := s.Memories[string(k)]; n > 0 {
			kinds = append(kinds, plural.Count(n, string(k), string(k)+"s"))
		}
	}
	known := plural.Count(s.Known(), "memory", "memories")
	if len(kinds) > 0 {
		known += ": " + strings.Join(kinds, ", ")
	}
	row("known", known)
	counted("private", s.Private, "memory", "memories", " of these only in this clone")
	counted("yours", s.Own, "memory", "memories", " in every repository; to list them: reverie list --user")
	counted("offered", s.OwnWaits, "preference", "preferences", " for every repository; next: reverie review --user")
	counted("contested", s.Contested, "memory", "memories", "; next: reverie conflicts")
	counted("stale", s.Stale, "memory", "memories", " whose code is gone here; next: reverie stale")
	older := slices.DeleteFunc(slices.Clone(held), func(h reader.Held) bool { return h.Given == nil })
	held = slices.DeleteFunc(held, func(h reader.Held) bool { return h.Given != nil })
	switch all := plural.Count(s.Withheld, "memory", "memories") + " not given to agents here"; {
	case s.Withheld == 0:
	case len(held) == 0:
		row("withheld", all+"; 'reverie list' says why")
	case len(held) == s.Withheld:
		row("withheld", reader.DescribeHeld(held)+"; next: reverie trust")
	default:
		row("withheld", fmt.Sprintf("%s, %d of them by %s; 'reverie list' says why; next: reverie trust", all, len(held), reader.HeldFor(held)))
	}
	if s.Older > 0 {
		row("older", fmt.Sprintf("%s changed by %s: agents are given the version before; next: reverie trust", plural.Count(s.Older, "memory", "memories"), reader.HeldFor(older)))
	}
	if why := reader.WhySettings(w.Reader); why != "" && !w.Shields() {
		row("settings", why+"; next: reverie trust approve "+trust.SettingsPath)
	}
	counted("retired", s.Retired, "memory", "memories", "")
	counted("damaged", s.Unreadable, "file", "files", "; next: reverie check")
	waiting := plural.Count(s.Waiting, "operation", "operations")
	if s.Waiting > 0 {
		waiting += "; next: reverie review"
	}
	row("waiting", waiting)
	sessions := plural.Count(s.Sessions, "session", "sessions") + " kept"
	if s.Pending > 0 {
		sessions += ", " + plural.Count(s.Pending, "without a reflection", "without a reflection") + "; next: reverie learn"
	}
	row("sessions", sessions)
	if g := s.Given; g.Memories > 0 {
		given := plural.Count(g.Memories, "memory", "memories") + " in " + plural.Count(g.Sessions, "session", "sessions")
		if g.Acted > 0 {
			given += "; at calls: " + g.Heed.String()
		}
		row("given", given)
	}
	if !w.Config.Guards {
		row("guards", "off here; to turn them on: reverie guard on")
	}
	counted("kv", s.Values, "value", "values", " noted for the next session; next: reverie kv list")
	if of := s.Model(); of != "" {
		row("model", of)
		if spent := w.Budget().Spent(); spent != nil {
			row("budget", spent.Error())
		}
	}
	if n := s.Shortened; n.Outputs > 0 {
		row("shortened", fmt.Sprintf("%s, which saved about %d tokens", plural.Count(n.Outputs, "output", "outputs"), n.Bytes/4))
	}
	counted("spool", s.Spooled, "session", "sessions", " with events that wait for the worker")
	for _, at := range []struct {
		name string
		*job.Status
	}{{"worker", s.Worker}, {"reader", s.Reader}} {
		if at.Status != nil {
			row(at.name, fmt.Sprintf("process %d since %s: %s", at.PID, at.Started.Local().Format("15:04:05"), at.Doing))
		}
	}
}

// overviewJSON answers reverie --json.
type overviewJSON struct {
	status.Status
	Next string `json:"next"` // the command that the state calls for
}

// runOverview answers the program's name alone: the state of this repository's memory in one
// sentence, and the command to go on with.
func runOverview(ctx context.Context, env *Env) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	s, _, err := status.Read(ctx, w.Reader, w.learner())
	if clone.NoMemory(err) && !env.JSON {
		next := "reverie look, then reverie init"
		if env.hasRemote(ctx) {
			next += ", or reverie sync to fetch one from a remote"
		}
		env.Print("no memory yet on %s\nnext: %s\nhelp: reverie help\n", w.Branch(), next)
		return nil
	}
	if err != nil {
		return err
	}
	next := s.Next()
	if env.JSON {
		return env.Object(overviewJSON{s, next})
	}
	parts := []string{plural.Count(s.Known(), "memory", "memories") + " on " + s.Branch}
	if s.Waiting > 0 {
		parts = append(parts, plural.Count(s.Waiting, "operation waits", "operations wait")+" for review")
	}
	parts = append(parts, plural.Count(s.Sessions, "session", "sessions")+" kept")
	env.Print("%s\nnext: %s\nhelp: reverie help\n", strings.Join(parts, ", "), next)
	return nil
}
