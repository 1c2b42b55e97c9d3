package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// placed is a checkpoint and where it lies.
type placed struct {
	record.Checkpoint
	own, shared bool
}

// checkpoints are those of this clone and of the branch, the oldest first. session may be the beginning of a name.
func (w *workspace) checkpoints(v *record.View, session string) ([]placed, error) {
	own, err := v.Checkpoints("")
	shared, err2 := v.SharedCheckpoints("")
	if err := w.Tolerate(errors.Join(err, err2)); err != nil {
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
				if err := env.Object(newCheckpointJSON(l.Checkpoint, l.shared)); err != nil {
					return err
				}
				continue
			}
			mark := " "
			if l.shared {
				mark = "+"
			}
			when := mark + " " + l.Time.Local().Format("2006-01-02 15:04") + "  "
			env.Lay(len(when), term.Span("", when+term.Pad(l.Reason, 10)+"  "+term.Visible(l.Name())+"  "+term.OneLine(firstAsked(l.Text), 240)))
		}
		if len(all) == 0 {
			env.Say("there is no checkpoint")
		}
		return nil
	})
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
		if err := w.WantPerson("checkpoint share"); err != nil {
			return err
		}
		if err := w.shareCheckpoint(ctx, found); err != nil {
			return err
		}
		found.shared = true
	}
	if env.JSON {
		return env.Object(newCheckpointJSON(found.Checkpoint, found.shared))
	}
	if verb == "share" {
		env.Say("%s is on %s, which others see at the next sync", found.Name(), w.Branch())
		return nil
	}
	c := found.Checkpoint
	env.Print("%s\n", env.Paint(term.Bold, term.Visible(c.Name())))
	env.Print("%s, %s%s\n", term.Visible(c.Reason), c.Time.Local().Format("2006-01-02 15:04:05"), term.Visible(atCode(c)))
	if len(c.Files) > 0 {
		env.Print("files: %s\n", term.Visible(strings.Join(c.Files, ", ")))
	}
	env.Print("\n")
	env.Indent("", c.Text)
	return nil
}

// pickCheckpoint finds one by N, of the session named or of the one with the newest checkpoint, or by SESSION#N.
func pickCheckpoint(all []placed, name, session string) (placed, error) {
	if of, n, ok := strings.Cut(name, "#"); ok {
		session, name = of, n
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return placed{}, exit.Usage("as 'reverie checkpoint list' names them: 2, or claude/4b91b8f5…#2", "%q is not the number of a checkpoint", name)
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
		return placed{}, exit.New(exit.Failed, fmt.Errorf("checkpoint %d%s: there is none", n, of), "'reverie checkpoint list' lists them")
	case len(found) > 1:
		return placed{}, exit.New(exit.Failed, fmt.Errorf("checkpoint %d: several sessions begin like %s", n, session), "name it whole: "+found[0].Name())
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
