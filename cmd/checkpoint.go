package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func checkpointCommand(env *Env) *cli.Command {
	session := ""
	return &cli.Command{
		Name:      "checkpoint",
		Usage:     "note where a session stands",
		ArgsUsage: "[TEXT|- | list | show N | share N]",
		Description: "A checkpoint says what was asked, which files changed, which commands pass and fail, and what was decided. It is made\n" +
			"before a session is compacted, and when asked for; TEXT goes before that. It stays in this clone; share copies it to the\n" +
			"memory branch. N is a number of the session, or SESSION#N.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "of `AGENT/ID`; the beginning is enough, and without it the latest", Destination: &session}},
		Action: func(c *cli.Context) error {
			verb, n := c.Args().First(), c.NArg()
			switch {
			case verb == "list" && n == 1:
				return runCheckpointList(c.Context, env, session)
			case (verb == "show" || verb == "share") && n == 2:
				return runCheckpointOne(c.Context, env, verb, c.Args().Get(1), session)
			case n == 1 && verb != "-" && !strings.ContainsAny(verb, " \n"): // a verb mistyped, more likely than a note of one word
				return exit.Usage("a note has more than one word; reverie checkpoint list, show N, share N", "checkpoint knows no %q", verb)
			case n > 1 || verb == "show" || verb == "share":
				return exit.Usage(`reverie checkpoint "text", checkpoint list, checkpoint show N`, "checkpoint wants one text, list, show N, share N, or nothing")
			}
			return runCheckpoint(c.Context, env, verb, session)
		},
	}
}

// The reasons for a checkpoint.
const (
	reasonAsked      = "asked"
	reasonCompaction = "compaction"
)

func runCheckpoint(ctx context.Context, env *Env, arg, session string) error {
	text, err := env.text(arg)
	if err != nil {
		return err
	}
	if len(text) > maxCheckpoint {
		return exit.Usage("keep what is true for good by: reverie remember", "the text is %d bytes long and may have %d", len(text), maxCheckpoint)
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	shell := env.agentShell()
	kept, events, err := w.sessionAsked(session, shell)
	if errors.Is(err, reflect.ErrNoSession) && (strings.TrimSpace(text) == "" || kept.Client == "") {
		if _, tip := w.Memory.Tip(ctx); errors.Is(tip, gitstore.ErrNoStore) {
			return tip
		}
		return exit.New(exit.Failed, err, "'reverie sessions' lists what is kept; 'reverie ingest FILE' reads a transcript")
	}
	if err != nil && !errors.Is(err, reflect.ErrNoSession) {
		return err
	}
	if shell != "" {
		if !belongs(kept, shell) {
			return exit.New(exit.NeedsPerson, fmt.Errorf("checkpoint: session %s/%s is not this shell's, which is of %s", kept.Client, kept.ID, shell),
				"an agent notes where its own session stands; a person names any in a terminal")
		}
		text = agentNote(text)
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	c, err := w.keepCheckpoint(ctx, w.checkpointOf(ctx, kept, events, reasonAsked, text))
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(newCheckpointJSON(c, false))
	}
	env.Print("%s\n", c.Name())
	return nil
}

// belongs reports whether a session is the one of an agent's shell, or of its agent where the shell does not tell the session.
func belongs(s transcript.Session, shell string) bool {
	agent, id, known := strings.Cut(shell, "/")
	return s.Client == agent && (!known || s.ID == id)
}

// sessionAsked is the session that is named, or the one of the agent's shell, or the one that was taken in last. What is not kept
// may be named by its whole name.
func (w *workspace) sessionAsked(name, shell string) (transcript.Session, []transcript.Event, error) {
	if name == "" && strings.Contains(shell, "/") {
		name = shell
	}
	if name == "" && shell != "" {
		name = w.begunBy(shell)
	}
	if name == "" {
		all, err := w.Sessions.List()
		if err != nil {
			w.env.Warn("passed over: %v", err)
		}
		if shell != "" {
			all = slices.DeleteFunc(all, func(k reflect.Kept) bool { return k.Client != shell })
			if len(all) == 0 {
				return transcript.Session{}, nil, fmt.Errorf("checkpoint: %w", reflect.ErrNoSession)
			}
		}
		if len(all) == 0 {
			return transcript.Session{Client: "human", ID: "notes"}, nil, fmt.Errorf("checkpoint: %w", reflect.ErrNoSession)
		}
		name = slices.MaxFunc(all, func(a, b reflect.Kept) int { return a.Read.Compare(b.Read) }).Name()
	}
	kept, events, err := w.Sessions.Load(name)
	if errors.Is(err, reflect.ErrNoSession) && sessionName.MatchString(name) {
		client, id, _ := strings.Cut(name, "/")
		return transcript.Session{Client: transcript.SafeID(client), ID: transcript.SafeID(id)}, nil, err
	}
	return kept.Session, events, err
}

// begunBy is the session in which an agent is at work that does not name it: the one of which a hook told last, and of which
// nothing need be kept yet. It is "" where no hook told of one.
func (w *workspace) begunBy(agent string) string {
	waiting, _ := w.spool().Take() // what cannot be read is the worker's to tell
	var newest *hooks.Waiting
	for _, s := range waiting {
		if len(s.Events) > 0 && s.Last.Agent == agent && !s.Ended() && (newest == nil || s.Written.After(newest.Written)) {
			newest = s
		}
	}
	if newest == nil {
		return ""
	}
	return ingest.SessionOf(newest.Last)
}

// checkpoint notes where a kept session stands. The error wraps reflect.ErrNoSession if nothing of it is kept.
func (w *workspace) checkpoint(ctx context.Context, session, reason string) (record.Checkpoint, error) {
	kept, events, err := w.Sessions.Load(session)
	if err != nil {
		return record.Checkpoint{}, err
	}
	return w.keepCheckpoint(ctx, w.checkpointOf(ctx, kept.Session, events, reason, ""))
}

// checkpointOf is the checkpoint of a session after some events, which need not be kept but must have been redacted.
// It has no number yet.
func (w *workspace) checkpointOf(ctx context.Context, s transcript.Session, events []transcript.Event, reason, note string) record.Checkpoint {
	p := reflect.Stand(s, events)
	c := record.Checkpoint{Client: s.Client, Session: s.ID, Reason: reason, Time: w.env.Now().UTC().Truncate(time.Second), Files: p.Changed}
	c.Files = c.Files[:min(maxCheckpointFiles, len(c.Files))]
	if id, branch, err := w.Repo.Head(ctx); err == nil {
		c.Commit, c.Branch = id[:min(12, len(id))], branch
	}
	c.Text = checkpointText(p, strings.TrimSpace(note))
	return c
}

// keepCheckpoint gives a checkpoint the next number of its session and writes it to the journal, unless the last one
// says the same.
func (w *workspace) keepCheckpoint(ctx context.Context, c record.Checkpoint) (record.Checkpoint, error) {
	clean, _ := w.Scanner.Text(c.Text)
	c.Text = clean.String()
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		kept, err := tx.Checkpoints(c.Client + "/" + c.Session)
		if err := w.Tolerate(err); err != nil {
			return err
		}
		shared, err := tx.SharedCheckpoints(c.Client + "/" + c.Session)
		if err := w.Tolerate(err); err != nil {
			return err
		}
		c.N = 1
		for _, old := range append(slices.Clone(kept), shared...) {
			c.N = max(c.N, old.N+1)
		}
		if len(kept) > 0 {
			last := kept[len(kept)-1]
			if last.Text == c.Text && last.Commit == c.Commit && slices.Equal(last.Files, c.Files) {
				c = last
				return nil
			}
		}
		tx.Describe(gitstore.Commit{Subject: "checkpoint: " + c.Client + "/" + c.Session, Trailers: []gitstore.Trailer{
			{Key: "Reverie-Op", Value: "checkpoint"}, {Key: "Reverie-Session", Value: c.Client + "/" + c.Session}}})
		return tx.PutCheckpoint(record.Journal, c)
	})
	return c, err
}
