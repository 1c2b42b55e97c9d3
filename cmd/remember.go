package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/period"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type rememberOptions struct {
	remember.Statement
	paths, places, tags, guards cli.StringSlice

	expires string // a date, or a time from now
}

func rememberCommand(env *Env) *cli.Command {
	var o rememberOptions
	return &cli.Command{
		Name:      "remember",
		Usage:     "keep a statement of your own",
		ArgsUsage: "TEXT…|-",
		Description: "The first line is the statement, the rest why and how; - reads standard input. A known statement is\n" +
			"not stored twice. Reverie names a very similar memory, and others on the same topic. With --user it\n" +
			"goes into your own memory, which every repository reads; the id of a memory here copies that.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "set its `KIND`: " + record.KindList(), Value: string(record.Note), Destination: &o.Kind},
			&cli.StringSliceFlag{Name: "path", Aliases: []string{"p"}, Usage: "name files it is about by `GLOB`, from the folder that you are in; may be repeated", Destination: &o.paths},
			&cli.StringSliceFlag{Name: "in", Usage: "say that it holds in `FOLDER`; may be repeated", Destination: &o.places},
			&cli.StringSliceFlag{Name: "guard", Usage: "act when an agent calls `TOOL(PATTERN)`: 'Bash(npm *)', 'Edit(generated/**)'; may be repeated", Destination: &o.guards},
			&cli.StringFlag{Name: "strength", Usage: "set the strength of its guards to `STRENGTH`: say, hold (the default with --guard), ask or deny", Destination: &o.Strength},
			&cli.BoolFlag{Name: "no-guard", Usage: "act at no call, whatever the statement says", Destination: &o.Unguarded},
			&cli.StringSliceFlag{Name: "tag", Aliases: []string{"t"}, Usage: "add this `TAG`; may be repeated", Destination: &o.tags},
			&cli.StringFlag{Name: "topic", Usage: "set its `TOPIC`, and name other memories about it", Destination: &o.Topic},
			&cli.BoolFlag{Name: "private", Usage: "keep it off the memory branch, as preferences are by default", Destination: &o.Private},
			&cli.StringFlag{Name: "expires", Usage: "keep it valid until `DATE`: 2026-12-31, or a time from now: 90d, 2w", Destination: &o.expires},
			&cli.StringFlag{Name: "replace", Usage: "retire memory `ID`, which this one replaces", Destination: &o.Replace},
			&cli.StringFlag{Name: "branch", Usage: "keep it valid only on code branch `BRANCH`, until it lands", Destination: &o.Branch},
			&cli.BoolFlag{Name: "everywhere", Usage: "keep it valid on every branch, even if added on a side branch", Destination: &o.Everywhere},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usage(`reverie remember "use pnpm, never npm, in web/"`, "remember needs a statement")
			}
			var err error
			if o.Text, err = text(env, joined(c)); err != nil {
				return err
			}
			if !c.IsSet("kind") {
				o.Kind = ""
			} else if _, err = remember.ParseKind(o.Kind); err != nil {
				return err
			}
			if o.Expires, err = parseExpires(o.expires, env.Now()); err != nil {
				return err
			}
			o.Globs, o.Folders, o.Tags, o.Guards = o.paths.Value(), o.places.Value(), o.tags.Value(), o.guards.Value()
			if o.Unguarded && (len(o.Guards) > 0 || o.Strength != "") {
				return exit.Usage("", "--no-guard excludes --guard and --strength")
			}
			return runRemember(c.Context, env, o.Statement)
		},
	}
}

// joined returns the arguments of a command as one text.
func joined(c *cli.Context) string { return strings.Join(c.Args().Slice(), " ") }

// text returns arg, or standard input if arg is "-".
func text(env *Env, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := io.ReadAll(io.LimitReader(env.In, record.MaxMemory+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(data), nil
}

// keeper returns the way into the clone's memory.
func keeper(w *workspace) *remember.Keeper {
	return &remember.Keeper{Reader: w.Reader, Create: w.create}
}

func runRemember(ctx context.Context, env *Env, s remember.Statement) error {
	w, err := env.open(ctx)
	if err == nil && w.Own {
		if err = w.WantPerson("remember --user"); err == nil {
			s, err = remember.ForAll(ctx, clone.Options{Dir: env.Dir, Now: env.Now}, s)
		}
	}
	if err != nil {
		return err
	}
	r, err := keeper(w).Remember(ctx, s)
	if err != nil {
		return err
	}
	m := r.Memory
	if said := r.Redaction(); said != "" {
		env.Warn("%s", said)
	}
	if w.tidy(ctx); m.Kind == record.Preference && r.Suggested == nil {
		inbox.Prefer(ctx, w.learner().Inbox)
	}
	switch {
	case r.Suggested != nil && env.JSON:
		return env.Object(wire.OfOperation(*r.Suggested, r.Suggested.Why))
	case r.Suggested != nil:
		env.Say(remember.Waits)
		env.Print("%s\n", r.Suggested.ID)
		return nil
	case w.Asker() != "":
		env.Say("already known or pending")
		return nil
	case r.Known:
		env.Say("already known as %s: %s", m.ID[:8], m.Text)
		if r.Reworded {
			env.Say("to change its text: reverie edit %s TEXT", m.ID[:8])
		}
		if r.Unlike {
			env.Warn("its kind, files, tags and guards stay as they are; to change them: reverie edit %s", m.ID[:8])
		}
		if len(r.Whose) > 0 {
			env.Say("it is withheld from agents, %s; next: reverie trust approve %s", w.WhyWithheld(r.Whose), m.ID[:8])
		}
	default:
		tellKept(w, m)
		env.tellAnchors(m.Anchors)
		tellGuards(env, m)
		if m.Private && !s.Private {
			env.Say("it stays in this clone, like every %s", m.Kind)
		}
		tellNeighbours(w, m, r.Neighbours)
		if m.Branch != "" && s.Branch == "" {
			env.Say("holds only on %s until it lands; for every branch: --everywhere", record.ParseSide(m.Branch).Name)
		}
	}
	if r.Replaced != nil {
		env.Say("%s is retired: %s replaces it", r.Replaced.ID[:8], m.ID[:8])
	}
	if env.JSON {
		return env.Object(newRememberJSON(m, r.Neighbours))
	}
	env.Print("%s\n", m.ID)
	return nil
}

// tellKept says on a terminal where a new memory is kept. A pipe gets the id alone.
func tellKept(w *workspace, m record.Memory) {
	kept := "in this clone"
	switch {
	case !w.env.Interactive:
		return
	case m.Own:
		kept = "for every repository of yours"
	case !m.Private:
		kept = "on " + w.Branch() + ", which 'reverie sync' shares"
	}
	w.env.Say("kept as a new %s, %s", m.Kind, kept)
}

// tellGuards tells at which calls a new memory acts.
func tellGuards(env *Env, m record.Memory) {
	switch t := m.Trigger(); {
	case len(t.Guards) == 0:
	case t.Strength == record.Say:
		env.Say("an agent that calls %s is told; to hold the call back first: reverie edit %s --strength hold", term.Visible(strings.Join(t.Guards, ", ")), m.ID[:8])
	default:
		env.Say("guards %s: %s", term.Visible(strings.Join(t.Guards, ", ")), t.Strength)
	}
}

// maxNeighbours bounds the neighbours that are told one by one.
const maxNeighbours = 3

// tellNeighbours names the neighbours of a new memory, and how it can replace one.
func tellNeighbours(w *workspace, m record.Memory, all []remember.Neighbour) {
	for i, n := range all {
		if i == maxNeighbours && len(all) > maxNeighbours+1 {
			w.env.Say("%d more memories are on that topic", len(all)-i)
			break
		}
		relation := "is much like it"
		switch {
		case n.Opposed:
			relation = "says otherwise"
		case n.Topic:
			relation = "is on that topic, too"
		}
		w.env.Say("%s %s: %s", n.ID[:8], relation, term.OneLine(n.Text, 240))
	}
	if len(all) > 0 {
		w.env.Say("both are kept; to keep only the new one: reverie remember --replace %s %s", all[0].ID[:8], hooks.Quote(term.Visible(m.Text)))
	}
}

// rememberJSON is the answer of remember.
type rememberJSON struct {
	wire.Memory
	Beside []string `json:"beside,omitempty"` // ids of memories on its topic, or much like it
}

func newRememberJSON(m record.Memory, neighbours []remember.Neighbour) rememberJSON {
	j := rememberJSON{Memory: wire.OfMemory(m)}
	for _, n := range neighbours {
		j.Beside = append(j.Beside, n.ID)
	}
	return j
}

// parseExpires reads the time at which a memory expires. Empty is never.
func parseExpires(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil {
		left, ok := period.Parse(text)
		if !ok {
			return time.Time{}, exit.Usage("use 2026-12-31, 90d or 2w", "--expires: %q is not a date", text)
		}
		at = now.Add(left)
	}
	if !at.After(now) {
		return time.Time{}, exit.Usage("give a future date", "--expires %s: date is in the past", text)
	}
	return at.UTC().Truncate(time.Second), nil
}
