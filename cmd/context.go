package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func contextCommand(env *Env) *cli.Command {
	r := brief.Request{For: brief.Start}
	return &cli.Command{
		Name:  "context",
		Usage: "print the context that an agent is given",
		Description: "At session start: the most valuable memories within the budget, except those in the block of\n" +
			"AGENTS.md if the agent reads that file, and where the last session on the branch stopped. With a\n" +
			"prompt: memories that the prompt names and the session was not given. Before compaction: the facts\n" +
			"that must survive it. Afterwards: all of it again, with the newest checkpoint. --record notes the\n" +
			"context as given, as hooks do; 'reverie why' shows it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "print the context for this `OCCASION`: " + strings.Join(brief.Occasions, ", "), Value: r.For, Destination: &r.For},
			&cli.StringFlag{Name: "query", Usage: "use this `PROMPT`; - reads standard input", Destination: &r.Query},
			&cli.IntFlag{Name: "budget", Usage: "use at most `N` tokens, instead of the setting", Destination: &r.Budget},
			&cli.StringFlag{Name: "session", Usage: "leave out what session `AGENT/ID` was given", Destination: &r.Session},
			&cli.StringFlag{Name: "agent", Usage: "print the context for `AGENT`, considering its instruction files", Destination: &r.Agent},
			&cli.BoolFlag{Name: "record", Usage: "record it as given to the session", Destination: &r.Record},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 0:
				return exit.Usage(`reverie context --for prompt --query "…"`, "context takes no arguments")
			case !slices.Contains(brief.Occasions, r.For):
				return exit.Usage("it is one of "+strings.Join(brief.Occasions, ", "), "%q is not an occasion", r.For)
			case (r.For == brief.Prompt) != c.IsSet("query"):
				return exit.Usage(`reverie context --for prompt --query "…"`, "a prompt needs --query, and nothing else takes it")
			case r.Record && r.Session == "":
				return exit.Usage("reverie context --record --session AGENT/ID", "--record needs a session")
			case r.Agent != "" && !isAgent(r.Agent):
				return exit.Usage("it is one of "+hooks.Names(), "%q is not an agent", r.Agent)
			case r.Session != "" && !transcript.IsName(r.Session):
				return exit.Usage("as 'reverie sessions' prints it: claude/4b91b8f5…", "%q is not the name of a session", r.Session)
			}
			query, err := text(env, r.Query)
			if err != nil {
				return err
			}
			r.Query = query
			if c.IsSet("budget") && r.Budget == 0 {
				r.Budget = -1
			}
			return env.with(c.Context, func(w *workspace) error { return runContext(c.Context, w, r) })
		},
	}
}

func isAgent(name string) bool { _, ok := hooks.Find(name); return ok }

func runContext(ctx context.Context, w *workspace, r brief.Request) error {
	in, err := brief.Give(ctx, w.Reader, r)
	if err != nil {
		return err
	}
	var held []reader.Held
	if w.env.JSON || (r.For == brief.Start || in.Text == "") && !w.Shields() {
		if held, err = w.AllHeld(ctx); err != nil {
			return err
		}
	}
	if w.env.JSON {
		older := reader.Older(held)
		return w.env.Object(contextJSON{in.For, in.Text, in.Commit, in.Tokens, in.Bytes, wire.List(in.Items), in.Cut, wire.List(in.Next), in.Least, len(held) - older, older})
	}
	w.env.Print("%s", in.Text)
	tellWithheld(w, held)
	if remark := in.Remark(); remark != "" {
		w.env.Say("%s", remark)
	}
	return nil
}

type contextJSON struct {
	For    string         `json:"for"`
	Text   string         `json:"text"`
	Commit string         `json:"commit"`
	Tokens int            `json:"tokens"` // estimated
	Bytes  int            `json:"bytes"`
	Items  []brief.Given  `json:"items"`
	Cut    map[string]int `json:"cut"`
	Next   []string       `json:"next"`
	Least  int            `json:"least,omitempty"` // if nothing fits: the tokens needed

	Withheld int `json:"withheld"` // memories of people who are not trusted, that agents are not given
	Older    int `json:"older"`    // memories changed by them; agents get the version before
}
