// Package status counts a clone's memories, stored sessions and pending work. Begin with Read.
package status

import (
	"context"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/compress"
)

// Status holds the numbers, as --json prints them.
type Status struct {
	Branch    string         `json:"branch"`
	Commit    string         `json:"commit"`
	Adopted   bool           `json:"adopted"`  // false: read from origin, not started here
	Memories  map[string]int `json:"memories"` // in force, by kind
	Private   int            `json:"private"`
	Own       int            `json:"own,omitempty"`        // of the person's own memory, beside these
	OwnWaits  int            `json:"ownWaiting,omitempty"` // operations there
	Contested int            `json:"contested"`
	Retired   int            `json:"retired"`
	Stale     int            `json:"stale"`    // their anchored code is gone here
	Withheld  int            `json:"withheld"` // not given to agents here
	// changed by untrusted people: agents get the version before
	Older       int             `json:"older"`
	Unreadable  int             `json:"unreadable"`
	Waiting     int             `json:"waiting"`
	Reflections int             `json:"reflections"`
	Sessions    int             `json:"sessions"`
	Pending     int             `json:"pending"`   // sessions without a reflection
	Values      int             `json:"values"`    // of kv
	Spooled     int             `json:"spooled"`   // sessions with events that the worker has not read
	Given       brief.Tally     `json:"given"`     // what agents were given in the latest sessions
	Shortened   compress.Saving `json:"shortened"` // outputs of tools
	Worker      *job.Status     `json:"worker"`    // the running background job; null without one
	// models of the settings; empty for none
	Reflects string `json:"reflects,omitempty"`
	Dreams   string `json:"dreams,omitempty"`
	// what is wrong with an agent among them, such as a missing program
	Faulty string `json:"faulty,omitempty"`
	// sessions that no model has read, if the settings name one
	Unread int         `json:"unread"`
	Reader *job.Status `json:"reader"` // the running questions to a model; null without any

	Held []reader.Held `json:"-"` // memories changed by people not trusted here
}

// Known counts the memories in force.
func (s Status) Known() (n int) {
	for _, of := range s.Memories {
		n += of
	}
	return n
}

// Read counts the content of a clone.
func Read(ctx context.Context, r *reader.Reader, l *learn.Learner) (s Status, err error) {
	s = Status{Branch: r.Branch(), Memories: map[string]int{}}
	reflected := map[string]bool{}
	err = r.View(ctx, func(v *record.View) error {
		s.Commit, s.Adopted, s.Unreadable = string(v.Tip()), !v.Fallback(), len(v.Bad())
		if s.Held, err = r.Held(ctx, v); err != nil {
			return err
		}
		if err := s.countMemories(ctx, r, v); err != nil {
			return err
		}
		ops, err := v.Inbox().Operations()
		reflections, err2 := v.Journal().Reflections()
		if err := r.Tolerate(errors.Join(err, err2)); err != nil {
			return err
		}
		s.Waiting, s.OwnWaits = len(ops), reader.OwnWaiting(ctx, r)
		s.Reflections = len(reflections)
		for _, r := range reflections {
			reflected[r.Client+"/"+r.Session] = true
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	names := l.SessionNames()
	s.Sessions = len(names)
	for _, name := range names {
		if !reflected[name] {
			s.Pending++
		}
	}
	of := r.Settings.Config.Model
	for _, use := range []struct {
		name string
		in   *string
	}{{of.Reads(), &s.Reflects}, {of.Dreams(), &s.Dreams}} {
		if use.name != config.Off {
			*use.in = use.name
		}
		if config.Agent(use.name) != "" {
			if _, err := model.Program(of, use.name); err != nil {
				s.Faulty = err.Error()
			}
		}
	}
	if s.Reflects != "" {
		unread, err := l.Unread(ctx, nil, prompts.Set{})
		if err != nil {
			return s, err
		}
		s.Unread = len(unread)
	}
	if s.Values, err = (kv.Store{Repo: r.Repo, Scanner: r.Scanner, Now: r.Now}).Count(); err != nil {
		return s, err
	}
	if s.Given, err = brief.TallyOf(ctx, r); err != nil {
		return s, err
	}
	s.Shortened = upkeep.Originals(r.Clone).Saving()
	now := r.Now()
	s.Spooled = r.Spool().Due(now, ingest.IdleAfter)
	s.Worker, s.Reader = job.Running(r.State, job.Worker, now), job.Running(r.State, job.Reader, now)
	return s, nil
}

// countMemories counts the memories of a view by kind and by caveat.
func (s *Status) countMemories(ctx context.Context, r *reader.Reader, v *record.View) error {
	caveats, err := r.Caveats(ctx, v)
	if err != nil {
		return err
	}
	older := map[string]bool{}
	for _, h := range s.Held {
		older[h.ID] = h.Given != nil
	}
	s.Older = reader.Older(s.Held)
	for _, m := range v.Memories() {
		if !m.Live(r.Now()) {
			s.Retired++
			continue
		}
		if m.Status == record.Contested {
			s.Contested++
		}
		if m.Private {
			s.Private++
		}
		c := caveats(m)
		if c.Stale {
			s.Stale++
		}
		if c.Withheld && !older[m.ID] {
			s.Withheld++
		}
		s.Memories[string(m.Kind)]++
	}
	for _, m := range reader.Own(ctx, r, v) {
		if m.Live(r.Now()) {
			s.Own++
		}
	}
	return nil
}

// Model words the models of the settings, and the sessions that wait for one; "" without a model.
func (s Status) Model() string {
	var parts []string
	switch {
	case s.Reflects == s.Dreams && s.Reflects != "":
		parts = append(parts, s.Reflects+" reads sessions and dreams")
	case s.Reflects != "":
		parts = append(parts, s.Reflects+" reads sessions")
	}
	if s.Dreams != "" && s.Dreams != s.Reflects {
		parts = append(parts, s.Dreams+" dreams")
	}
	if s.Faulty != "" {
		parts = append(parts, s.Faulty)
	}
	if s.Unread > 0 {
		parts = append(parts, plural.Count(s.Unread, "session", "sessions")+" still to be read; next: reverie reflect --pending")
	}
	return strings.Join(parts, "; ")
}

// Next returns the command for the most urgent part of a state.
func (s Status) Next() string {
	switch {
	case s.Unreadable > 0:
		return "reverie check"
	case !s.Adopted:
		return "reverie init"
	case s.Contested > 0:
		return "reverie conflicts"
	case s.Waiting > 0:
		return "reverie review"
	case s.Withheld+s.Older > 0:
		return "reverie trust"
	case s.Stale > 0:
		return "reverie stale"
	case s.Pending > 0 || s.Known() == 0:
		return "reverie learn"
	}
	return "reverie recall QUESTION"
}
