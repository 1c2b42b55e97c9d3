package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

const (
	// LookEvery is the time between two looks into the agents' stores.
	LookEvery = IdleAfter
	// lookTime bounds a look. The last session begun may take longer.
	lookTime = time.Minute
)

// AskLook asks the worker for a look into the agents' stores, and reports whether one was due.
// shell is the session whose agent's shell asks, or "" for a person.
func AskLook(repo *git.Repo, shell string, now time.Time) (bool, error) {
	state := filepath.Join(repo.CommonDir, "reverie")
	due := filepath.Join(state, hooks.LookDueFile)
	info, err := os.Lstat(due)
	if err == nil && !reached(info, now) {
		return false, nil
	}
	if err := repo.State().Write(hooks.LookFile, []byte(shell), false); err != nil {
		return false, err
	}
	if err != nil || !info.Mode().IsRegular() {
		if err := repo.State().Write(hooks.LookDueFile, nil, false); err != nil {
			return false, err
		}
	}
	return true, setTime(due, now.Add(LookEvery))
}

// reached reports whether the time of a file has come. A time beyond LookEvery is from a wrong
// clock.
func reached(info os.FileInfo, now time.Time) bool {
	wait := info.ModTime().Sub(now)
	return wait <= 0 || wait > LookEvery+time.Minute
}

func setTime(path string, t time.Time) error { return os.Chtimes(path, t, t) }

// LookDue reports whether the worker has a look to do now.
func LookDue(state string, now time.Time) bool {
	info, err := os.Lstat(filepath.Join(state, hooks.LookFile))
	return err == nil && reached(info, now)
}

// DropLook drops the request for a look.
func DropLook(state string) { os.Remove(filepath.Join(state, hooks.LookFile)) }

// Look takes in the sessions of this repository that changed in the agents' stores since the last
// look. It leaves live sessions for a later look, and agents that call our hooks to the spool. If
// it cannot finish in time, the next look continues. live holds the live sessions of the spool. The
// caller holds the worker's lock.
//
// A look asked for in an agent's shell offers its sessions, as learn does there. Then a person's
// look finds them again.
func (in *Ingester) Look(ctx context.Context, live map[string]bool) error {
	began := in.Now()
	request, due := filepath.Join(in.State, hooks.LookFile), filepath.Join(in.State, hooks.LookDueFile)
	shell, err := file.Read(request, file.MaxState)
	if err != nil {
		return err
	}
	again := began.Add(LookEvery)
	if err := setTime(request, again); err != nil { // one that is killed is not repeated at once
		return err
	}
	offered := len(shell) > 0 && !in.AgentsDecide()
	quiet := *in
	quiet.Report = nil // learn names what cannot be read
	until := time.Now().Add(lookTime)
	p, err := quiet.lookBack(ctx, past.Query{Since: lookedUntil(due), Until: until}, offered)
	if err != nil {
		return err
	}
	left := in.leave(p, began, live)
	p.until = until
	if err := p.Take(ctx, func(context.Context, []string) error { return nil }); err != nil {
		return err
	}
	if p.Partial {
		return errors.Join(setTime(request, began), setTime(due, began))
	}
	if !offered {
		since := began.Add(-settles)
		if !left.IsZero() && left.Before(since) {
			since = left
		}
		if err := in.Repo.State().Write(hooks.LookDueFile, []byte(since.UTC().Format(time.RFC3339)), false); err != nil {
			return err
		}
		if err := setTime(due, again); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(request); left.IsZero() && err == nil && info.ModTime().Equal(again) {
		return os.Remove(request)
	}
	return nil
}

// lookedUntil returns the time since which the stores were not searched, or zero.
func lookedUntil(due string) time.Time {
	text, err := file.Read(due, file.MaxState)
	if err != nil {
		return time.Time{}
	}
	t, _ := time.Parse(time.RFC3339, string(text))
	return t
}

// leave drops sessions from p.New that are live, that hooks deliver, or that a loop's agents had.
// left is the earliest change of the live ones, or zero. A sub-agent is live as long as its parent,
// and a parent as long as its sub-agents.
func (in *Ingester) leave(p *Past, now time.Time, live map[string]bool) (left time.Time) {
	family := func(s past.Session) string {
		if s.Parent != "" {
			return s.Client + "/" + transcript.SafeID(s.Parent)
		}
		return s.Client + "/" + transcript.SafeID(s.ID)
	}
	busy := map[string]bool{}
	for _, s := range p.All {
		if s.Client != string(transcript.Aider) && now.Sub(s.Changed) < IdleAfter {
			busy[family(s)] = true
		}
	}
	loops := filepath.Join(in.State, "loops") + string(filepath.Separator)
	p.New = slices.DeleteFunc(p.New, func(s past.Session) bool {
		switch {
		case strings.HasPrefix(s.Dir, loops): // its record has them
			return true
		case now.Sub(s.Changed) < IdleAfter, busy[family(s)], live[family(s)]:
			if left.IsZero() || s.Changed.Before(left) {
				left = s.Changed
			}
			return true
		}
		heard, err := os.Lstat(filepath.Join(in.State, hooks.SeenDir, s.Client))
		return err == nil && !s.Changed.After(heard.ModTime().Add(IdleAfter))
	})
	return left
}
