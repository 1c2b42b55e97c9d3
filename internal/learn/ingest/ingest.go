// Package ingest turns agents' data into sessions of a clone. Drain empties the spool of hook
// events, Files reads transcripts, and LookBack finds earlier sessions in the agents' own stores.
// Everything is redacted before it is written. An Ingester serves one goroutine.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Ingester creates sessions in a clone.
type Ingester struct {
	*clone.Clone
	Spool hooks.Spool
	// Checkpoint makes the checkpoints that a drained session needs.
	Checkpoint func(context.Context, *hooks.Waiting) error
	// Report hears notes as they come. It may be nil.
	Report func(Note)
}

// Note reports a step's result, or something that it skipped. cmd words it.
type Note interface{}

// Notes that an Ingester reports.
type (
	// Elsewhere names a session of another repository, of which nothing was kept.
	Elsewhere struct{ Session string }
	// NotCopied gives the reason why the transcripts of a session cannot be copied now.
	NotCopied struct {
		Session string
		Err     error
	}
	// FileRead sums up one transcript.
	FileRead struct {
		Name string
		reflect.Ingested
	}
	// BadLine is a line of a transcript that was skipped.
	BadLine struct {
		Name string
		Line int
		Err  error
	}
	// MoreBadLines counts the further bad lines of a transcript.
	MoreBadLines struct {
		Name string
		N    int
	}
	// Passed is an error of an agent's store, or of a session in it, that was skipped.
	Passed struct{ Err error }
	// MorePassed counts further files of the agents' stores that cannot be read.
	MorePassed int
	// Step reports progress in importing sessions from the stores. The last one has N == All.
	Step struct {
		N, All int
		Name   string
	}
)

// maxTold bounds the bad lines, files or sessions that are reported one by one.
const maxTold = 5

func (in *Ingester) note(n Note) {
	if in.Report != nil {
		in.Report(n)
	}
}

// sessions returns the store of sessions with a scanner that knows every secret of the work tree.
// Collecting the secrets costs a git process.
func (in *Ingester) sessions(ctx context.Context) reflect.Sessions {
	s := in.Sessions
	s.Scanner = redact.New(in.AllSecrets(ctx)...)
	return s
}

// Source is a transcript to read.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Files reads transcripts and reports each. It continues after one that it cannot read completely.
// The error has one line for each of those; the kept sessions are returned beside it.
func (in *Ingester) Files(ctx context.Context, files []Source, format transcript.Format) ([]reflect.Kept, error) {
	sessions := in.sessions(ctx) // before there is a state folder
	sessions.Offered = in.Asker() != ""
	if _, err := in.Repo.State().Dir(); err != nil {
		return nil, err
	}
	// if nothing was kept: hooks take the folder for a sign that Reverie is used here
	defer os.Remove(in.State)
	var all []reflect.Kept
	var failed []error
	for _, f := range files {
		got, err := in.file(ctx, sessions, f, format)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("ingest %s: %w", f.Name, err))
			if len(got.Sessions) == 0 {
				continue
			}
		}
		in.note(FileRead{f.Name, got})
		all = append(all, got.Sessions...)
	}
	return all, errors.Join(failed...)
}

// file reads one transcript.
func (in *Ingester) file(ctx context.Context, sessions reflect.Sessions, f Source, format transcript.Format) (reflect.Ingested, error) {
	r, err := f.Open()
	if err != nil {
		return reflect.Ingested{}, err
	}
	defer r.Close()
	bad := 0
	got, err := sessions.Ingest(ctx, r, format, func(line int, err error) {
		if bad++; bad <= maxTold {
			in.note(BadLine{f.Name, line, err})
		}
	})
	if bad > maxTold {
		in.note(MoreBadLines{f.Name, bad - maxTold})
	}
	return got, err
}

// named is a transcript with its file name, by which some formats are recognised.
type named struct {
	io.Reader
	name string
}

func (n named) Name() string { return n.name }

// Homes finds the folders in which agents keep their sessions: their settings folders, except for
// OpenCode's. A variable with an absolute path moves such a folder. A relative path is ignored,
// because its meaning depends on the agent's folder.
func Homes() (past.Homes, error) {
	m, err := agents.ThisMachine()
	if err != nil {
		return nil, fmt.Errorf("find the agents' stores: %w", err)
	}
	data := m.Env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.Home, ".local", "share")
	}
	homes := past.Homes{}
	for _, agent := range past.Agents() {
		if folder := m.Folder(agent); folder != "" {
			homes[transcript.Format(agent)] = []string{folder}
		}
	}
	homes[transcript.OpenCode] = []string{filepath.Join(data, "opencode")}
	return homes, nil
}

// CountStarted counts the sessions in a repository that started after a time, by the agent's own
// store. Sub-agents count with their parents. It returns an error if it finds no session and some
// files are unreadable.
func CountStarted(ctx context.Context, repo *git.Repo, agent string, after time.Time) (n int, err error) {
	homes, err := Homes()
	if err != nil {
		return 0, err
	}
	q := past.Query{Since: after, Agents: []string{agent}}
	if q.Dirs, err = repo.WorkTrees(ctx); err != nil {
		return 0, err
	}
	all, failed := past.Find(ctx, homes, q)
	for _, s := range all {
		if s.Parent == "" && s.Started.After(after) {
			n++
		}
	}
	switch {
	case n > 0 || len(failed) == 0:
		return n, nil
	case len(failed) > 1:
		return 0, fmt.Errorf("%w, and %d more", failed[0], len(failed)-1)
	}
	return 0, failed[0]
}
