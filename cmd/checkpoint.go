package cmd

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/checkpoint"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func checkpointCommand(env *Env) *cli.Command {
	session := ""
	return &cli.Command{
		Name:      "checkpoint",
		Usage:     "note where a session stands",
		ArgsUsage: "[TEXT|- | list | show N | share N]",
		Description: "A checkpoint records the open points, the requests, the changed files, the passing and failing\n" +
			"commands, and the decisions of a session. Reverie makes one before a session is compacted, when it\n" +
			"stops unfinished, and when you ask; TEXT is put first. The next session on the branch begins with\n" +
			"the newest one, in short. It stays in this clone; share copies it to the memory branch. N is a\n" +
			"number within the session, or SESSION#N.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "use session `AGENT/ID`, or a prefix of it (default: the latest)", Destination: &session}},
		Action: func(c *cli.Context) error {
			verb, n := c.Args().First(), c.NArg()
			switch {
			case verb == "list" && n == 1:
				return env.with(c.Context, func(w *workspace) error { return runCheckpointList(c.Context, w, session) })
			case (verb == "show" || verb == "share") && n == 2:
				return env.with(c.Context, func(w *workspace) error { return runCheckpointOne(c.Context, w, verb, c.Args().Get(1), session) })
			// a verb mistyped, more likely than a note of one word
			case n == 1 && verb != "-" && !strings.ContainsAny(verb, " \n"):
				return exit.Usage("a note has two words or more; the commands are list, show N and share N", "%q is not a command of checkpoint", verb)
			case n > 1 || verb == "show" || verb == "share":
				return exit.Usage(`reverie checkpoint "text", checkpoint list, checkpoint show N`, "checkpoint takes one text, list, show N, share N, or nothing")
			}
			return runCheckpoint(c.Context, env, verb, session)
		},
	}
}

// notebook returns the checkpoints of the clone.
func notebook(w *workspace) *checkpoint.Notebook {
	return &checkpoint.Notebook{Reader: w.Reader, Create: w.create}
}

func runCheckpoint(ctx context.Context, env *Env, arg, session string) error {
	text, err := text(env, arg)
	if err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	c, err := notebook(w).Add(ctx, session, text)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(newCheckpointJSON(checkpoint.Kept{Checkpoint: c}))
	}
	env.Print("%s\n", c.Name())
	return nil
}

func runCheckpointList(ctx context.Context, w *workspace, session string) error {
	all, err := notebook(w).List(ctx, session)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		w.env.Say("there is no checkpoint")
	}
	return rows(w.env, all, newCheckpointJSON, func(k checkpoint.Kept) {
		mark := " "
		if k.Shared {
			mark = "+"
		}
		when := mark + " " + k.Time.Local().Format("2006-01-02 15:04") + "  "
		w.env.Lay(len(when), term.Span("", when+term.Pad(k.Reason, 10)+"  "+term.Visible(k.Name())+"  "+term.OneLine(cmp.Or(k.Request(), k.Text), 240)))
	})
}

// runCheckpointOne shows or shares one.
func runCheckpointOne(ctx context.Context, w *workspace, verb, name, session string) error {
	n := notebook(w)
	k, err := n.Find(ctx, name, session)
	if err != nil {
		return err
	}
	if verb == "share" {
		if err := n.Share(ctx, &k); err != nil {
			return err
		}
	}
	if w.env.JSON {
		return w.env.Object(newCheckpointJSON(k))
	}
	if verb == "share" {
		w.env.Say("%s is on %s; others see it after the next sync", k.Name(), w.Branch())
		return nil
	}
	w.env.Print("%s\n", w.env.Paint(term.Bold, term.Visible(k.Name())))
	w.env.Print("%s, %s%s\n", term.Visible(k.Reason), k.Time.Local().Format("2006-01-02 15:04:05"), term.Visible(codeOf(k.Checkpoint)))
	if len(k.Files) > 0 {
		w.env.Print("files: %s\n", term.Visible(strings.Join(k.Files, ", ")))
	}
	w.env.Print("\n")
	w.env.Indent("", k.Text)
	return nil
}

// codeOf names the commit and branch of the code at a checkpoint.
func codeOf(c record.Checkpoint) string {
	switch {
	case c.Commit == "":
		return ""
	case c.Branch == "":
		return ", at " + c.Commit
	}
	return ", at " + c.Commit + " on " + c.Branch
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

func newCheckpointJSON(k checkpoint.Kept) checkpointJSON {
	c := k.Checkpoint
	return checkpointJSON{c.Name(), c.Client, c.Session, c.N, c.Reason, c.Time, c.Commit, c.Branch, wire.List(c.Files), c.Text, k.Shared}
}
