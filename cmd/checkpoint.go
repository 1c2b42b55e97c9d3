package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func checkpointCommand(env *Env) *cli.Command {
	session := ""
	return &cli.Command{
		Name:      "checkpoint",
		Usage:     "note where a session stands, or list, show and share such notes",
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
				return usage("a note has more than one word; reverie checkpoint list, show N, share N", "checkpoint knows no %q", verb)
			case n > 1 || verb == "show" || verb == "share":
				return usage(`reverie checkpoint "text", checkpoint list, checkpoint show N`, "checkpoint wants one text, list, show N, share N, or nothing")
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

// maxCheckpoint is the longest text of a checkpoint, in bytes.
const maxCheckpoint = 4 << 10

func runCheckpoint(ctx context.Context, env *Env, arg, session string) error {
	text, err := env.text(arg)
	if err != nil {
		return err
	}
	if len(text) > maxCheckpoint {
		return usage("keep what is true for good by: reverie remember", "the text is %d bytes long and may have %d", len(text), maxCheckpoint)
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	shell := env.agentShell()
	kept, events, err := w.sessionAsked(session, shell)
	if errors.Is(err, reflect.ErrNoSession) && (strings.TrimSpace(text) == "" || kept.Client == "") {
		if _, tip := w.memory.Tip(ctx); errors.Is(tip, gitstore.ErrNoStore) {
			return tip
		}
		return &failure{exitFailed, err, "'reverie sessions' lists what is kept; 'reverie ingest FILE' reads a transcript"}
	}
	if err != nil && !errors.Is(err, reflect.ErrNoSession) {
		return err
	}
	if shell != "" {
		if !belongs(kept, shell) {
			return &failure{exitPerson, fmt.Errorf("checkpoint: session %s/%s is not this shell's, which is of %s", kept.Client, kept.ID, shell),
				"an agent notes where its own session stands; a person names any in a terminal"}
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
		return env.object(newCheckpointJSON(c, false))
	}
	env.print("%s\n", c.Name())
	return nil
}

// belongs reports whether a session is the one of an agent's shell, or of its agent where the shell does not tell the session.
func belongs(s transcript.Session, shell string) bool {
	agent, id, known := strings.Cut(shell, "/")
	return s.Client == agent && (!known || s.ID == id)
}

// agentNote is a note that an agent wrote, so that who reads it later takes it for nobody else's.
func agentNote(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "## The agent's note\n\n> " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "\n> ")
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
		all, err := w.sessions.List()
		if err != nil {
			w.env.warn("passed over: %v", err)
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
	kept, events, err := w.sessions.Load(name)
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
	return sessionOf(newest.Last)
}

// checkpoint notes where a kept session stands. The error wraps reflect.ErrNoSession if nothing of it is kept.
func (w *workspace) checkpoint(ctx context.Context, session, reason string) (record.Checkpoint, error) {
	kept, events, err := w.sessions.Load(session)
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
	if id, branch, err := w.repo.Head(ctx); err == nil {
		c.Commit, c.Branch = id[:min(12, len(id))], branch
	}
	c.Text = checkpointText(p, strings.TrimSpace(note))
	return c
}

// Bounds of a checkpoint.
const (
	maxCheckpointFiles = 50
	maxAskedTexts      = 5
	maxAskedBytes      = 400
	maxShownOf         = 8 // files and commands of a list in the text
	maxShownBytes      = 200
)

// checkpointText is where a session stands, as Markdown of at most maxCheckpoint bytes: what was noted by hand first,
// then what was asked last, what fails, what was decided, what changed, what passes.
func checkpointText(p reflect.Progress, note string) string {
	var b strings.Builder
	section := func(heading string, all []string, n, width int) {
		if len(all) == 0 {
			return
		}
		left := len(all) - n
		all = all[max(0, left):]
		text := "## " + heading + "\n\n"
		if left > 0 {
			text += fmt.Sprintf("- … %d before\n", left)
		}
		for _, one := range all {
			text += "- " + cutText(strings.Join(strings.Fields(one), " "), width) + "\n"
		}
		if b.Len() > 0 {
			text = "\n" + text
		}
		if b.Len()+len(text) <= maxCheckpoint {
			b.WriteString(text)
		}
	}
	if note != "" {
		b.WriteString(cutText(note, maxCheckpoint-1) + "\n")
	}
	section("Asked", p.Asked, maxAskedTexts, maxAskedBytes)
	section("Failing", p.Failing, maxShownOf, maxShownBytes)
	section("Said", p.Said, maxShownOf, maxShownBytes)
	section("Changed", p.Changed, maxShownOf, maxShownBytes)
	section("Passing", p.Passing, maxShownOf, maxShownBytes)
	return strings.TrimSuffix(b.String(), "\n")
}

// cutText is at most n bytes of a text, with an ellipsis where something is gone.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}

// keepCheckpoint gives a checkpoint the next number of its session and writes it to the journal, unless the last one
// says the same.
func (w *workspace) keepCheckpoint(ctx context.Context, c record.Checkpoint) (record.Checkpoint, error) {
	clean, _ := w.scanner.Text(c.Text)
	c.Text = clean.String()
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		kept, err := tx.Checkpoints(c.Client + "/" + c.Session)
		if err := w.tolerate(err); err != nil {
			return err
		}
		shared, err := tx.SharedCheckpoints(c.Client + "/" + c.Session)
		if err := w.tolerate(err); err != nil {
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

// maxTail is the most of a checkpoint that is given after a compaction, in bytes, when its tags were written out.
const maxTail = 5 << 10

// checkpointTail is a checkpoint as a session is given it back.
func checkpointTail(c record.Checkpoint) string {
	at := ""
	if c.Commit != "" {
		at = " at " + c.Commit
		if c.Branch != "" {
			at += " on " + tagless(c.Branch)
		}
	}
	return fmt.Sprintf("Where this session stood when it was compacted (checkpoint %d%s), from its own record:\n\n%s", c.N, at, cutText(taglessLines(c.Text), maxTail))
}

type checkpointJSON struct {
	Name    string    `json:"name"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	N       int       `json:"n"`
	Reason  string    `json:"reason"`
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit"`
	Branch  string    `json:"branch"`
	Files   []string  `json:"files"`
	Text    string    `json:"text"`
	Shared  bool      `json:"shared"` // on the memory branch too
}

func newCheckpointJSON(c record.Checkpoint, shared bool) checkpointJSON {
	return checkpointJSON{c.Name(), c.Client, c.Session, c.N, c.Reason, c.Time, c.Commit, c.Branch, list(c.Files), c.Text, shared}
}

// placed is a checkpoint and where it lies.
type placed struct {
	record.Checkpoint
	own, shared bool
}

// checkpoints are those of this clone and of the branch, the oldest first. session may be the beginning of a name.
func (w *workspace) checkpoints(v *record.View, session string) ([]placed, error) {
	own, err := v.Checkpoints("")
	shared, err2 := v.SharedCheckpoints("")
	if err := w.tolerate(errors.Join(err, err2)); err != nil {
		return nil, err
	}
	var all []placed
	for _, c := range own {
		all = append(all, placed{c, true, slices.ContainsFunc(shared, func(s record.Checkpoint) bool { return s.Path() == c.Path() })})
	}
	for _, c := range shared {
		if !slices.ContainsFunc(own, func(o record.Checkpoint) bool { return o.Path() == c.Path() }) {
			all = append(all, placed{c, false, true})
		}
	}
	all = slices.DeleteFunc(all, func(l placed) bool {
		return !strings.HasPrefix(l.Client+"/"+l.Session, session) && !strings.HasPrefix(l.Session, session)
	})
	slices.SortStableFunc(all, func(a, b placed) int { return a.Time.Compare(b.Time) })
	return all, nil
}

func runCheckpointList(ctx context.Context, env *Env, session string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.view(ctx, func(v *record.View) error {
		all, err := w.checkpoints(v, session)
		if err != nil {
			return err
		}
		for _, l := range all {
			if env.JSON {
				if err := env.object(newCheckpointJSON(l.Checkpoint, l.shared)); err != nil {
					return err
				}
				continue
			}
			mark := " "
			if l.shared {
				mark = "+"
			}
			when := mark + " " + l.Time.Local().Format("2006-01-02 15:04") + "  "
			env.lay(len(when), styled{"", when + pad(l.Reason, 10) + "  " + visible(l.Name()) + "  " + oneLine(firstAsked(l.Text), 240)})
		}
		if len(all) == 0 {
			env.say("there is no checkpoint")
		}
		return nil
	})
}

// firstAsked is the line of a checkpoint that says most in a list: the last request, or else the first line.
func firstAsked(text string) string {
	asked := ""
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			in = line == "## Asked"
		case in && strings.HasPrefix(line, "- "):
			asked = line[2:]
		}
	}
	if asked == "" {
		asked, _, _ = strings.Cut(text, "\n")
	}
	return asked
}

// runCheckpointOne shows or shares one.
func runCheckpointOne(ctx context.Context, env *Env, verb, name, session string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	var found placed
	err = w.view(ctx, func(v *record.View) error {
		all, err := w.checkpoints(v, "")
		if err == nil {
			found, err = pickCheckpoint(all, name, session)
		}
		return err
	})
	if err != nil {
		return err
	}
	if verb == "share" {
		if err := w.wantsPerson("checkpoint share"); err != nil {
			return err
		}
		if err := w.shareCheckpoint(ctx, found); err != nil {
			return err
		}
		found.shared = true
	}
	if env.JSON {
		return env.object(newCheckpointJSON(found.Checkpoint, found.shared))
	}
	if verb == "share" {
		env.say("%s is on %s, which others see at the next sync", found.Name(), w.branch())
		return nil
	}
	c := found.Checkpoint
	env.print("%s\n", env.paint(bold, visible(c.Name())))
	env.print("%s, %s%s\n", visible(c.Reason), c.Time.Local().Format("2006-01-02 15:04:05"), visible(atCode(c)))
	if len(c.Files) > 0 {
		env.print("files: %s\n", visible(strings.Join(c.Files, ", ")))
	}
	env.print("\n")
	env.indent("", c.Text)
	return nil
}

func atCode(c record.Checkpoint) string {
	switch {
	case c.Commit == "":
		return ""
	case c.Branch == "":
		return ", at " + c.Commit
	}
	return ", at " + c.Commit + " on " + c.Branch
}

// pickCheckpoint finds one by N, of the session named or of the one with the newest checkpoint, or by SESSION#N.
func pickCheckpoint(all []placed, name, session string) (placed, error) {
	if of, n, ok := strings.Cut(name, "#"); ok {
		session, name = of, n
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return placed{}, usage("as 'reverie checkpoint list' names them: 2, or claude/4b91b8f5…#2", "%q is not the number of a checkpoint", name)
	}
	if session == "" && len(all) > 0 {
		last := all[len(all)-1]
		session = last.Client + "/" + last.Session
	}
	var found []placed
	for _, l := range all {
		if l.N == n && (strings.HasPrefix(l.Client+"/"+l.Session, session) || strings.HasPrefix(l.Session, session)) {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 0:
		of := ""
		if session != "" {
			of = " of " + session
		}
		return placed{}, &failure{exitFailed, fmt.Errorf("checkpoint %d%s: there is none", n, of), "'reverie checkpoint list' lists them"}
	case len(found) > 1:
		return placed{}, &failure{exitFailed, fmt.Errorf("checkpoint %d: several sessions begin like %s", n, session), "name it whole: " + found[0].Name()}
	}
	return found[0], nil
}

// shareCheckpoint copies a checkpoint to the memory branch.
func (w *workspace) shareCheckpoint(ctx context.Context, l placed) error {
	if l.shared {
		return nil
	}
	return w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		tx.Describe(gitstore.Commit{Subject: "checkpoint: " + l.Client + "/" + l.Session, Trailers: []gitstore.Trailer{
			{Key: "Reverie-Op", Value: "checkpoint"}, {Key: "Reverie-Session", Value: l.Client + "/" + l.Session}}})
		return tx.PutCheckpoint(record.Branch, l.Checkpoint)
	})
}
