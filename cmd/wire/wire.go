// Package wire defines the JSON that --json promises. docs/json.md documents every field, and
// golden tests pin it. Its functions convert values that other packages return. They read nothing.
package wire

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect"
)

// Memory is a memory, or a memory as recall, show or list add to it.
type Memory struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	Status     string     `json:"status"`
	Text       string     `json:"text"`
	Body       string     `json:"body"`
	Variants   []string   `json:"variants,omitempty"` // of a contested memory: the other statements
	Path       string     `json:"path"`
	Source     string     `json:"source"` // the whole line
	Agent      string     `json:"agent"`
	Session    string     `json:"session"`
	Commit     string     `json:"commit"`
	Created    time.Time  `json:"created"`
	Said       bool       `json:"said"`
	Paths      []string   `json:"paths"`
	Tags       []string   `json:"tags"`
	Guards     []string   `json:"guards,omitempty"`   // calls of tools at which it acts
	Strength   string     `json:"strength,omitempty"` // of its guards: say, hold, ask or deny
	Topic      string     `json:"topic,omitempty"`
	Ref        string     `json:"ref"`
	Branch     string     `json:"branch"`
	Supersedes []string   `json:"supersedes,omitempty"`
	Expires    *time.Time `json:"expires,omitempty"`
	Private    bool       `json:"private"`
	Own        bool       `json:"own,omitempty"`      // of your own memory
	Anchors    []string   `json:"anchors,omitempty"`  // places in the code it rests on
	Stale      bool       `json:"stale,omitempty"`    // code it rests on is gone here
	Withheld   bool       `json:"withheld,omitempty"` // not given to agents here
	Older      string     `json:"older,omitempty"`    // an older version: the one it replaces
	Why        []string   `json:"why,omitempty"`      // what stands against it here
	Models     []string   `json:"models,omitempty"`   // from show: models that proposed parts of it
	Score      *float64   `json:"score,omitempty"`    // from recall, and there always
	Covered    *float64   `json:"covered,omitempty"`  // from recall, always: covered share, 0 to 1
	Snippet    string     `json:"snippet,omitempty"`  // from recall: what of it answers the query
	Alike      []string   `json:"alike,omitempty"`    // from recall: ids left out that say the same

	Lists []string       `json:"lists,omitempty"` // from recall: those that answered
	Ranks map[string]int `json:"ranks,omitempty"` // from recall: rank in each list, from 1
}

// OfMemory returns a memory without its caveats.
func OfMemory(m record.Memory) Memory {
	j := Memory{
		ID: m.ID, Kind: string(m.Kind), Status: string(m.Status), Text: m.Text, Body: m.Body, Path: m.Path(),
		Source: m.Source.String(), Agent: m.Source.Agent(), Session: m.Source.Session(), Commit: m.Source.Commit,
		Created: m.Source.Time, Said: m.Source.How == record.Said, Paths: List(m.Paths), Tags: List(m.Tags),
		Topic: m.Topic, Ref: m.Ref, Branch: record.ParseSide(m.Branch).Name, Supersedes: m.Supersedes, Private: m.Private, Own: m.Own, Anchors: m.Anchors,
	}
	t := m.Trigger()
	j.Guards, j.Strength = t.Guards, string(t.Strength)
	if !m.Expires.IsZero() {
		j.Expires = &m.Expires
	}
	for _, v := range m.Variants {
		j.Variants = append(j.Variants, v.Text)
	}
	return j
}

// WithCaveats returns a memory with its caveats.
func WithCaveats(m record.Memory, s reader.Caveats) Memory {
	j := OfMemory(m)
	j.Stale, j.Withheld, j.Older, j.Why = s.Stale, s.Withheld, strings.Trim(s.Older, " ()"), s.Why
	return j
}

// Shown is a memory as show prints it, with its history, use and relatives.
type Shown struct {
	Memory
	Author  *Author  `json:"author,omitempty"` // of the commit that added it
	Edits   Edits    `json:"edits"`
	Given   Given    `json:"given"`
	Related []string `json:"related"` // ids of memories on its topic, or much like it
}

// Author is the author of a memory.
type Author struct {
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Commit string    `json:"commit"`
}

// Edits counts the changes of a memory after it was added.
type Edits struct {
	Count int        `json:"count"`
	By    []string   `json:"by"`             // authors, the last first
	Last  *time.Time `json:"last,omitempty"` // absent without edits
}

// Given counts the times that agents were given a memory.
type Given struct {
	Times    int        `json:"times"`
	Sessions int        `json:"sessions"`
	Last     *time.Time `json:"last,omitempty"`
	brief.Heed
}

// OfDossier adds to a memory what its dossier has.
func OfDossier(m Memory, d dossier.Dossier) Shown {
	j := Shown{Memory: m, Given: Given{Times: len(d.Uses), Sessions: d.Sessions, Heed: d.Heed}, Related: []string{}}
	if a := d.Author(); a != nil {
		j.Author = &Author{a.Commit.Author, a.Time, a.ID}
	}
	n, by, last := d.Edits()
	if j.Edits = (Edits{Count: n, By: List(by)}); last != nil {
		j.Edits.Last = &last.Time
	}
	if len(d.Uses) > 0 {
		at := d.Uses[0].Injection.Time.UTC().Truncate(time.Second)
		j.Given.Last = &at
	}
	for _, o := range d.Related {
		j.Related = append(j.Related, o.ID)
	}
	return j
}

// List is never null in JSON.
func List[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// Operation is a pending operation.
type Operation struct {
	ID          string            `json:"id"`
	Op          string            `json:"op"`
	Subject     string            `json:"subject"`
	Memory      Memory            `json:"memory"`
	How         string            `json:"how"`
	Sessions    int               `json:"sessions"` // distinct ones that bear it out
	Waits       string            `json:"waits"`    // why it was not accepted by policy
	Why         string            `json:"why,omitempty"`
	Evidence    []record.Sighting `json:"evidence"`
	Base        []record.Base     `json:"base"`
	Contradicts []string          `json:"contradicts"`
	Alike       []string          `json:"alike"`
	File        string            `json:"file,omitempty"`  // of a skill: its SKILL.md
	Model       string            `json:"model,omitempty"` // that proposed it

	Attack  string        `json:"attack,omitempty"`  // from review and show: the apparent attack in it
	Changes []Change      `json:"changes,omitempty"` // from review and show: changes of its memories
	Quotes  []inbox.Quote `json:"quotes,omitempty"`  // from review and show: each event once

	Decided *inbox.Decision `json:"decided,omitempty"` // from show, if it no longer waits
}

// OfDecided returns an operation that no longer waits.
func OfDecided(o record.Operation, d inbox.Decision) Operation {
	if o.Op == "" { // only its rejection is left
		return Operation{
			ID: o.ID, Memory: Memory{Text: o.Memory.Text, Body: o.Memory.Body, Paths: []string{}, Tags: []string{}}, How: string(o.How),
			Evidence: []record.Sighting{}, Base: []record.Base{}, Contradicts: []string{}, Alike: []string{}, Decided: &d,
		}
	}
	j := OfOperation(o, "")
	j.Decided = &d
	return j
}

// OfOperation returns an operation, with the reason that it waits.
func OfOperation(o record.Operation, waits string) Operation {
	j := Operation{
		ID: o.ID, Op: string(o.Op), Subject: o.Memory.Subject(), Memory: OfMemory(o.Memory), How: string(o.How), Model: o.Model, Why: o.Why,
		Sessions: record.Sessions(o.Sightings), Waits: waits, Evidence: List(o.Sightings), Base: List(o.Base),
		Contradicts: List(o.Contradicts), Alike: List(o.Alike),
	}
	if o.Op == record.Skill {
		j.Memory.Path, j.File = o.Path, o.File
	}
	return j
}

// OfLook returns an operation with everything that a person has to see of it.
func OfLook(o record.Operation, waits string, l inbox.Outlook) Operation {
	j := OfOperation(o, waits)
	j.Model, j.Attack, j.Quotes, j.Contradicts = l.Model, l.Attack, l.Quotes, List(l.Contradicts)
	for _, c := range l.Changes {
		change := Change{ID: c.ID, Goes: c.Goes, Words: c.Words, Lost: List(c.Lost)}
		if c.Held {
			was := OfMemory(c.Was)
			change.Was = &was
		}
		j.Changes = append(j.Changes, change)
	}
	return j
}

// Session is a kept session.
type Session struct {
	Name     string     `json:"name"`
	Client   string     `json:"client"`
	ID       string     `json:"id"`
	Parent   string     `json:"parent,omitempty"`
	Title    string     `json:"title,omitempty"`
	Model    string     `json:"model,omitempty"`
	Branch   string     `json:"branch,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Events   int        `json:"events"`
	Change   string     `json:"change,omitempty"`   // from ingest and learn
	Redacted int        `json:"redacted,omitempty"` // from ingest and learn

	Commits []githook.LinkedCommit `json:"commits,omitempty"` // from sessions: by git hooks
	Prompt  string                 `json:"prompt,omitempty"`  // from sessions: the first, in a line
}

// OfSession returns a session without its commits.
func OfSession(k reflect.Kept) Session {
	j := Session{
		Name: k.Name(), Client: k.Client, ID: k.ID, Parent: k.Parent, Title: k.Title, Model: k.Model, Branch: k.Branch,
		Events: k.Events, Change: string(k.Change), Redacted: k.Redacted.Found,
	}
	if !k.Started.IsZero() {
		j.Started = &k.Started
	}
	if !k.Ended.IsZero() {
		j.Ended = &k.Ended
	}
	return j
}

// Change is a change as --json has it.
type Change struct {
	ID    string   `json:"id"`
	Goes  bool     `json:"goes"` // out of force
	Was   *Memory  `json:"was,omitempty"`
	Words string   `json:"words,omitempty"` // [-gone-] and {+new+} words
	Lost  []string `json:"lost"`
}

// Question is a question for a model, as --print-prompt gives it.
type Question struct {
	Session   string          `json:"session,omitempty"`   // that reflect asks about
	Questions string          `json:"questions,omitempty"` // name of those that dream asks together
	Prompt    string          `json:"prompt"`
	Hash      string          `json:"hash"`
	System    string          `json:"system"`
	User      string          `json:"user"`
	Schema    json.RawMessage `json:"schema"`
}

// AgentFile is a file of an agent in the answer of init.
type AgentFile struct {
	Agent    string `json:"agent"`
	File     string `json:"file"`
	Tools    bool   `json:"tools,omitempty"`    // the file has the server of tools, and no hooks
	Commands bool   `json:"commands,omitempty"` // the file holds commands alone
	Changed  bool   `json:"changed"`
}
