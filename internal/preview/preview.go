// Package preview finds what learning from a repository's past sessions would yield. It studies and
// dreams as package learn does, but in memory: it writes nothing, and needs no memory branch. Begin
// with Look. It serves one goroutine at a time.
package preview

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Source is a clone with its agents' stores.
type Source struct {
	*reader.Reader
	Ingester *ingest.Ingester
	// Step hears how many of the sessions were read, and the agent of the last. It may be nil. At
	// the end n is all.
	Step func(n, all int, agent string)
}

// Options limit a look.
type Options struct {
	Since  time.Time
	Agents []string      // nil for all
	Within time.Duration // for everything
}

// Preview sums up the past sessions of a repository.
type Preview struct {
	Agents []Agent `json:"agents"`
	// Sessions counts those that were read. A sub-agent's counts with its parent.
	Sessions int `json:"sessions"`
	// Unread counts the sessions for which the time did not suffice: the oldest.
	Unread int `json:"unread"`
	// Unreadable counts sessions that are damaged, or without a conversation.
	Unreadable int `json:"unreadable"`
	// Partial means that the time did not suffice to search every store.
	Partial bool `json:"partial"`
	// First and Last are the starts of the oldest and the latest session that was read.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`

	Rules     []Statement `json:"rules"`     // that a person stated
	Failures  []Failure   `json:"failures"`  // that came back, or whose remedy is known
	Workflows []Statement `json:"workflows"` // commands that did a job
	Lessons   []Statement `json:"lessons"`   // of other outcomes
	Orders    []Statement `json:"orders"`    // that a person gave again and again

	// Contradictions are between files of agents, or between a file and a person's rule.
	Contradictions []Contradiction `json:"contradictions"`
	Statements     int             `json:"statements"` // in the agents' files
}

// Agent is an agent with a store of sessions.
type Agent struct {
	Name     string   `json:"name"`
	Sessions int      `json:"sessions"` // of this repository, read or not
	Places   []string `json:"places"`   // that were searched
}

// Statement is a finding, best first in its list.
type Statement struct {
	Text     string    `json:"text"`
	Quote    string    `json:"quote"` // the words, or the output, on which it rests
	Agent    string    `json:"agent"`
	Session  string    `json:"session"`
	Time     time.Time `json:"time,omitzero"`
	Sessions int       `json:"sessions"` // that show it
	Keep     bool      `json:"keep"`     // learn would keep it without a question
	Why      string    `json:"why,omitempty"`
}

// Failure is a command that failed in the same way again and again.
type Failure struct {
	Command  string    `json:"command"`
	Error    string    `json:"error"`
	Times    int       `json:"times"`    // failed runs
	Sessions int       `json:"sessions"` // in which it failed so
	Agent    string    `json:"agent"`    // of the last time
	Time     time.Time `json:"time,omitzero"`
	Lesson   string    `json:"lesson,omitempty"` // the remedy, if one helped
	Keep     bool      `json:"keep"`             // learn would keep the lesson without a question
}

// Returns counts the later sessions in which failures came back.
func (p *Preview) Returns() (failures, returns int) {
	for _, f := range p.Failures {
		if f.Sessions > 1 {
			failures, returns = failures+1, returns+f.Sessions-1
		}
	}
	return failures, returns
}

// Vain returns the places that were searched if none has a session. It returns none if the time did
// not suffice.
func (p *Preview) Vain() (places []string) {
	if p.Partial {
		return nil
	}
	for _, a := range p.Agents {
		if a.Sessions > 0 {
			return nil
		}
		places = append(places, a.Places...)
	}
	return places
}

// Look reads the past sessions of a repository, the latest first, until all are read or the time is
// over.
func Look(ctx context.Context, from Source, o Options) (*Preview, error) {
	began := time.Now()
	found, err := from.Ingester.LookBack(ctx, past.Query{Since: o.Since, Agents: o.Agents, Until: began.Add(o.Within / 2)}, 0)
	if err != nil {
		return nil, err
	}
	p := &Preview{Partial: found.Partial, Rules: []Statement{}, Failures: []Failure{}, Workflows: []Statement{}, Lessons: []Statement{},
		Orders: []Statement{}, Contradictions: []Contradiction{}}
	for _, f := range found.Found {
		p.Agents = append(p.Agents, Agent{Name: f.Agent, Places: f.Places, Sessions: own(found.All, f.Agent)})
	}
	// a tenth of the time remains for the comparison
	reading, stop := context.WithDeadline(ctx, began.Add(o.Within*9/10))
	defer stop()
	scan := redact.New(from.AllSecrets(reading)...)
	all := p.read(reading, from, scan, found.All)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.order(all)
	in := dream.Input{Now: from.Now(), Private: clone.Private(from.Config), Written: from.Documents.Stated, Tree: os.DirFS(from.Repo.WorkTree)}
	for _, s := range all {
		in.New = append(in.New, s.Reflection)
	}
	plan := dream.Plan(in)
	p.group(from, plan.Operations, all)
	return p, p.compare(ctx, from, scan)
}

// own counts an agent's sessions without those of sub-agents.
func own(all []past.Session, agent string) (n int) {
	for _, s := range all {
		if s.Client == agent && s.Parent == "" {
			n++
		}
	}
	return n
}

// group sorts the operations of a plan into the lists of a preview.
func (p *Preview) group(from Source, ops []record.Operation, all []studied) {
	orders := map[string]bool{}
	for _, s := range all {
		for _, c := range s.Candidates {
			if c.Detector == record.Order {
				orders[c.Text] = true
			}
		}
	}
	policy := clone.Policy(from.Config)
	var lessons []lesson
	for _, o := range ops {
		s := Statement{Text: o.Memory.Text, Sessions: record.Sessions(o.Sightings)}
		s.Keep, s.Why = policy.Accepts(o)
		if s.Keep && o.How == record.Seen {
			if at := from.Documents.Stated(o.Memory); at != "" {
				s.Keep, s.Why = false, at+" says it already"
			}
		}
		s.quote(o.Sightings)
		switch {
		case o.How == record.Said && orders[o.Memory.Text]:
			s.Why = "" // the sessions say it
			p.Orders = append(p.Orders, s)
		case o.How == record.Said:
			p.Rules = append(p.Rules, s)
		case o.How != record.Seen: // an agent's guess
		case o.Memory.Kind == record.Workflow:
			p.Workflows = append(p.Workflows, s)
		case o.Memory.Kind == record.Failure && o.Memory.Trigger().Command != "":
			lessons = append(lessons, lesson{s, o.Memory.Trigger()})
		default:
			p.Lessons = append(p.Lessons, s)
		}
	}
	p.fail(all, lessons)
	for _, list := range [][]Statement{p.Rules, p.Workflows, p.Lessons, p.Orders} {
		slices.SortStableFunc(list, better)
	}
}

// quote takes the words of the latest sighting that has some.
func (s *Statement) quote(sightings []record.Sighting) {
	for _, t := range sightings {
		if len(t.Evidence) > 0 && (s.Quote == "" || t.Evidence[0].Time.After(s.Time)) {
			s.Quote, s.Time, s.Agent, s.Session = t.Evidence[0].Quote, t.Evidence[0].Time, t.Client, t.Session
		}
	}
}
