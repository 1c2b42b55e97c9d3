package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func whyCommand(env *Env) *cli.Command {
	session := ""
	return &cli.Command{
		Name:      "why",
		Usage:     "explain what an agent was given",
		ArgsUsage: "[last|list|INJECTION|ID]",
		Description: "Without an argument, or with last, why explains the last injection; list prints all of them, one a\n" +
			"line. The id of a memory shows when it was given, and to whom. Injections are kept in this clone as\n" +
			"long as their sessions.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "session", Usage: "show only session `AGENT/ID`, or a prefix of it", Destination: &session}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return exit.Usage("reverie why last", "why takes at most one injection or memory")
			}
			return env.paged(c.Context, func(w *workspace) error { return runWhy(c.Context, w, c.Args().First(), session) })
		},
	}
}

// injectionID begins like the id of an injection.
var injectionID = pattern.New(`^i[0-9a-f]{0,12}$`)

func runWhy(ctx context.Context, w *workspace, what, session string) error {
	all := brief.Ledger{Repo: w.Repo}.All(0)
	if session != "" {
		all = slices.DeleteFunc(all, func(in brief.Injection) bool {
			_, id, _ := strings.Cut(in.Session, "/")
			return !strings.HasPrefix(in.Session, session) && !strings.HasPrefix(id, session)
		})
	}
	switch {
	case len(all) == 0 && (what == "" || what == "last" || what == "list"):
		w.env.Say("nothing was given yet")
		return nil
	case what == "" || what == "last":
		return tellInjection(ctx, w, all[len(all)-1])
	case what == "list":
		return listInjections(w.env, all)
	case injectionID.MatchString(what):
		found := slices.DeleteFunc(all, func(in brief.Injection) bool { return !strings.HasPrefix(in.ID, what) })
		switch {
		case len(found) == 0:
			return exit.New(exit.Failed, fmt.Errorf("injection %s: there is no such id", what), "'reverie why list' lists them")
		case len(found) > 1:
			return exit.New(exit.Failed, fmt.Errorf("injection %s: several ids begin with it: %s, %s", what, found[0].ID, found[1].ID), "")
		}
		return tellInjection(ctx, w, found[0])
	}
	return tellGiven(ctx, w, all, what)
}

// listInjections tells injections in a line each, the oldest first.
func listInjections(env *Env, all []brief.Injection) error {
	return rows(env, all, func(in brief.Injection) brief.Injection {
		in.Items, in.Next = wire.List(in.Items), wire.List(in.Next)
		return in
	}, func(in brief.Injection) {
		env.Lay(term.NarrowHang, term.Span("", fmt.Sprintf("%s  %s  %s  %s  %s", in.ID, when(in), term.Pad(occasion(in), 14), term.Pad(plural.Count(len(in.Items), "memory", "memories"), 11), term.Visible(in.Session))))
	})
}

type whyJSON struct {
	brief.Injection
	Memories []whyMemoryJSON `json:"memories"` // of items: what they say now
}

type whyMemoryJSON struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind,omitempty"` // empty: it is not here any more, or damaged
	Text    string   `json:"text,omitempty"`
	Damaged bool     `json:"damaged,omitempty"` // it is here, and cannot be read
	Why     []string `json:"why"`
}

// tellInjection tells one injection: its memories with why each was given, and what was left out.
func tellInjection(ctx context.Context, w *workspace, in brief.Injection) error {
	env := w.env
	shown, err := brief.Look(ctx, w.Reader, in)
	if err != nil {
		return err
	}
	memories := make([]whyMemoryJSON, 0, len(shown))
	for _, s := range shown {
		memories = append(memories, whyMemoryJSON{s.ID, string(s.Memory.Kind), s.Memory.Text, s.Damaged, wire.List(s.Why)})
	}
	if env.JSON {
		in.Items, in.Next = wire.List(in.Items), wire.List(in.Next)
		return env.Object(whyJSON{in, memories})
	}
	env.Lay(term.NarrowHang, term.Span(term.Bold, in.ID), term.Span("", "  "+when(in)+"  "+occasion(in)+"  "+term.Visible(in.Session)))
	env.Print("from %s, about %s in %s\n", in.Commit[:min(10, len(in.Commit))], plural.Count(in.Tokens, "token", "tokens"), plural.Count(in.Bytes, "byte", "bytes"))
	for _, m := range memories {
		text := m.Text
		switch {
		case m.Damaged:
			text = "its file cannot be read: reverie check"
		case m.Kind == "":
			text = "no longer here"
		}
		env.Hit(term.Hit{Mark: " ", ID: m.ID, Kind: m.Kind, Statement: text})
		env.Under(term.Span(term.Dim, tell.Reasons(m.Why)))
	}
	if cut := cutLine(in); cut != "" {
		env.Lay(len("left out: "), term.Span("", "left out: "+cut))
	}
	return nil
}

// occasion names the occasion of an injection, with the ruling of a guard.
func occasion(in brief.Injection) string {
	if in.Ruling == "" {
		return in.For
	}
	return in.For + " " + in.Ruling
}

func when(in brief.Injection) string { return in.Time.Local().Format("2006-01-02 15:04:05") }

// cutLine says how many were left out, and why.
func cutLine(in brief.Injection) string {
	var parts []string
	for _, why := range []struct{ key, text string }{
		{brief.CutBudget, "for the budget"}, {brief.CutShown, "already in the instruction file"}, {brief.CutGiven, "given before"}, {brief.CutAlike, "another one says the same"}, {brief.CutWithheld, "withheld here"},
	} {
		if n := in.Cut[why.key]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, why.text))
		}
	}
	return strings.Join(parts, ", ")
}

// givenJSON is one time that a memory was given.
type givenJSON struct {
	Injection string   `json:"injection"`
	Time      string   `json:"time"`
	Session   string   `json:"session"`
	For       string   `json:"for"`
	Commit    string   `json:"commit"`
	Why       []string `json:"why"`
}

// tellGiven tells when a memory was given, and to whom.
func tellGiven(ctx context.Context, w *workspace, all []brief.Injection, id string) error {
	env := w.env
	u, err := brief.UsesOf(ctx, w.Reader, all, id)
	if err != nil {
		return err
	}
	err = rows(env, u.Times, func(use brief.Use) givenJSON {
		in := use.Injection
		return givenJSON{in.ID, in.Time.UTC().Format("2006-01-02T15:04:05Z"), in.Session, in.For, in.Commit, wire.List(use.Given.Why)}
	}, func(use brief.Use) {
		in := use.Injection
		env.Lay(term.NarrowHang, term.Span("", fmt.Sprintf("%s  %s  %s  %s  ", in.ID, when(in), term.Pad(occasion(in), 14), term.Visible(in.Session))), term.Span(term.Dim, tell.Reasons(use.Given.Why)))
	})
	if err != nil {
		return err
	}
	switch {
	case len(u.Times) > 0:
		line := fmt.Sprintf("given %s in %s", plural.Count(len(u.Times), "time", "times"), plural.Count(u.Sessions(), "session", "sessions"))
		if u.Heed.Acted > 0 {
			line += "; at calls: " + u.Heed.String()
		}
		env.Say("%s", line)
	case u.Caveats.Withheld:
		env.Say("it was not given to any agent: %s", strings.Join(u.Caveats.Why, ", "))
	case u.Memory.Text != "" && !u.Memory.Live(env.Now()):
		env.Say("it was not given to any agent: it is not in force")
	default:
		env.Say("it was not given to any agent yet")
	}
	return nil
}
