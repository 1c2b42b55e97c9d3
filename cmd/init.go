package cmd

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/approval"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/term"
)

type initOptions struct {
	agents          cli.StringSlice
	project, noMCP  bool
	agentsMD        bool
	ci              string
	pages           bool
	hooks, trailers bool
	team            cli.StringSlice
	yes, dry        bool
}

func initCommand(env *Env) *cli.Command {
	var o initOptions
	return &cli.Command{
		Name:  "init",
		Usage: "start a memory in this repository, or adopt the one of origin",
		Description: "Creates the memory branch without touching your branches, index or files. On a terminal init then\n" +
			"asks which agents to connect, whether to add git hooks, what to import and learn from, and whom to\n" +
			"trust; each question names the change. Options that name a part replace the questions. Running it\n" +
			"again is harmless. learn, remember, import and ingest also start a memory. --ci commits a workflow\n" +
			"to the memory branch. A forge runs it to check pull requests against the branch; it publishes only\n" +
			"with --ci-pages. init names files that contain rules; only 'reverie import' reads them. --agent adds\n" +
			"Reverie to an agent's hooks, in your own settings. They act in every repository that has a memory,\n" +
			"and do nothing elsewhere. --agent also registers 'reverie mcp' as a tool server. uninstall removes\n" +
			"both.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "also connect agent `NAME`: claude, codex, gemini, opencode, copilot, qwen, cursor, all (those found here), generic (prints how); may be repeated", Destination: &o.agents},
			&cli.BoolFlag{Name: "project", Usage: "with --agent: use this worktree's settings, not yours", Destination: &o.project},
			&cli.BoolFlag{Name: "no-mcp", Usage: "with --agent: add hooks only, no tools", Destination: &o.noMCP},
			&cli.BoolFlag{Name: "agents-md", Usage: "also write the managed block into AGENTS.md", Destination: &o.agentsMD},
			&cli.StringFlag{Name: "ci", Usage: "also let `FORGE` check pull requests against the memory: github, gitlab", Destination: &o.ci},
			&cli.BoolFlag{Name: "ci-pages", Usage: "with --ci: also publish the memories of all authors on the branch, as web pages for all who can read the site", Destination: &o.pages},
			&cli.BoolFlag{Name: "git-hooks", Usage: "also add git hooks: they link commits to sessions, notice what landed, and learn from agents' stores", Destination: &o.hooks},
			&cli.BoolFlag{Name: "trailers", Usage: "with --git-hooks: also add the session to the messages of its commits", Destination: &o.trailers},
			&cli.StringSliceFlag{Name: "team", Usage: "also trust `WHO` in your own settings, for every repository: ann@example.com, '*@example.com'; may be repeated", Destination: &o.team},
			&cli.BoolFlag{Name: "yes", Usage: "answer yes to all that init asks on a terminal, but trust no new author", Destination: &o.yes},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dry},
		},
		Action: func(c *cli.Context) error {
			switch named := len(o.agents.Value()) > 0; {
			case c.NArg() > 0:
				return exit.Usage("to name a repository: reverie -C DIR init", "init takes no arguments")
			case o.pages && o.ci == "":
				return exit.Usage("reverie init --ci github --ci-pages", "--ci-pages needs --ci")
			case o.noMCP && !named:
				return exit.Usage("reverie init --agent claude --no-mcp", "--no-mcp needs --agent")
			case o.project && !named:
				return exit.Usage("reverie init --agent claude --project", "--project needs --agent")
			}
			if err := (approval.Edit{People: o.team.Value(), Add: true}).Check(); err != nil {
				return err
			}
			return env.with(c.Context, func(w *workspace) error { return runInit(c.Context, w, o) })
		},
	}
}

// initJSON is the answer of init --json.
type initJSON struct {
	Branch  string `json:"branch"`
	Created bool   `json:"created"`
	Started bool   `json:"started,omitempty"` // a memory existed, but nothing else here
	CI      string `json:"ci,omitempty"`      // the file that was asked for
	Changed bool   `json:"changed,omitempty"` // it was not there like that
	Pages   bool   `json:"pages,omitempty"`   // it publishes the memories

	AgentsMD *brief.Rendered    `json:"agentsMD,omitempty"`
	Agents   []wire.AgentFile   `json:"agents,omitempty"`
	GitHooks *githook.Installed `json:"gitHooks,omitempty"`

	Written []intake.Written `json:"written,omitempty"` // that import could bring
}

func runInit(ctx context.Context, w *workspace, o initOptions) error {
	asks := o.asks(w.env)
	if asks {
		o.askSetup(ctx, w)
	}
	for _, ask := range []struct {
		flag string
		on   bool
	}{{"--ci", o.ci != ""}, {"--git-hooks", o.hooks}, {"--trailers", o.trailers}, {"--team", len(o.team.Value()) > 0}} {
		if ask.on && !o.dry { // they decide on what runs by itself, and who reaches agents
			if err := w.WantPerson("init " + ask.flag); err != nil {
				return err
			}
		}
	}
	answer := initJSON{Branch: w.Branch()}
	done, err := setup.Init(ctx, w.Reader, setup.Options{
		Agents: setup.AgentOptions{Names: o.agents.Value(), Project: o.project, Bare: o.noMCP, FilterOf: guard.FilterOf},
		Forge:  o.ci, Pages: o.pages, Version: version(), GitHooks: o.hooks, Trailers: o.trailers, Dry: o.dry,
		AgentsMD: o.agentsMD, Begin: w.ensure,
	})
	if done.AgentsMD != nil {
		tellRendered(w, *done.AgentsMD, err)
	}
	tellSetup(w, done, o)
	if err == nil && len(o.team.Value()) > 0 && !o.dry {
		err = runTrustWhom(ctx, w.env, approval.Edit{People: o.team.Value(), Add: true, User: true})
	}
	if err != nil {
		return err
	}
	answer.Written = intake.FindWritten(ctx, w.Clone)
	if w.env.JSON {
		answer.AgentsMD, answer.Created, answer.Started, answer.GitHooks = done.AgentsMD, done.Created, done.Started && !o.dry, done.GitHooks
		answer.CI, answer.Changed, answer.Pages = done.Workflow.Path, done.Changed, o.pages
		for _, c := range done.Written {
			answer.Agents = append(answer.Agents, wire.AgentFile{Agent: c.Agent.Name, File: c.File, Tools: !c.Hooks() && !c.Command(), Commands: c.Command(), Changed: c.Changed()})
		}
		return w.env.Object(answer)
	}
	tellInit(w, done, o)
	if asks {
		err = o.askLearning(ctx, w, answer.Written)
	} else if tellWrittenDown(w, answer.Written); done.Created && !o.dry && len(done.Written) == 0 {
		w.env.Say("next: `reverie init --agent all` connects your agents; `reverie learn` reads past sessions")
	}
	if err != nil || !w.env.Interactive || o.dry {
		return err
	}
	people, err := approval.List(ctx, w.Reader, false)
	if err == nil {
		_, err = askTrust(ctx, w, people)
	}
	if err == nil && asks {
		w.env.Say("next: work with your agents as usual; `reverie` tells what was learned, and what waits for you")
	}
	return err
}

// tellSetup says what was done as far as init came.
func tellSetup(w *workspace, d setup.Done, o initOptions) {
	tellUnclaimed(w, d.Unclaimed)
	if d.Note != "" {
		w.env.Say("%s", d.Note)
	}
	if !o.dry {
		tellAgents(w, d.Agents, d.Written, false)
	}
	if d.GitHooks != nil {
		tellGitHooks(w.env, d.GitHooks, o.dry)
	}
	if o.dry {
		tellAgents(w, d.Agents, d.Written, true)
	}
}

// tellInit says how the clone stands after init, or would.
func tellInit(w *workspace, d setup.Done, o initOptions) {
	if d.Agents.Generic {
		tellGeneric(w.env, d.Agents.Program)
	}
	branch := w.Branch()
	switch {
	case d.Created && o.dry:
		w.env.Say("would start a memory on the branch %s, or adopt that of origin", branch)
	case d.Started && o.dry:
		w.env.Say("the branch %s has a memory; would start Reverie again in this clone", branch)
	case d.Started:
		w.env.Say("the branch %s has a memory; Reverie was started again in this clone", branch)
	case !d.Created && (o.dry || len(d.Written) == 0):
		w.env.Say("the branch %s already has a memory", branch)
	}
	if o.dry && len(o.team.Value()) > 0 {
		w.env.Say("would trust %s in every repository of yours", strings.Join(o.team.Value(), ", "))
	}
	if o.agentsMD && o.dry {
		w.env.Say("would update the managed block in %s", w.Config.Agents)
	}
	switch {
	case o.ci == "":
	case !d.Changed:
		w.env.Say("%s is on %s already", d.Workflow.Path, branch)
	case o.dry:
		w.env.Say("would commit this as %s to %s: %s", d.Workflow.Path, branch, d.Workflow.Effect())
		w.env.Print("%s", d.Workflow.Text)
	default:
		w.env.Say("committed %s to %s: %s", d.Workflow.Path, branch, d.Workflow.Effect())
	}
}

// tellGitHooks says which of git's hooks have our part by now, and what a person may add to others.
func tellGitHooks(env *Env, d *githook.Installed, dry bool) {
	switch {
	case len(d.Changed) > 0 && dry:
		env.Say("would put a section into %s in %s", strings.Join(d.Changed, ", "), d.Dir)
	case len(d.Changed) > 0:
		env.Say("put a section into %s in %s", strings.Join(d.Changed, ", "), d.Dir)
		env.Say("commits here learn from sessions that agents and Aider kept; off: reverie config learn.background off")
	case d.Place.Avoid != "" && len(d.Left) > 0:
		env.Say("%s: it is left as it is", d.Place.Avoid)
		how, lines := d.Place.ByHand(d.Left)
		env.Say("%s", how)
		term.Whole(&env.Terminal, lines)
		return
	case len(d.Left) == 0:
		env.Say("the git hooks are already in %s", d.Dir)
	}
	for _, l := range d.Left {
		env.Say("%s: %s; add this line to it:", filepath.Join(d.Dir, l.Hook), l.Why)
		term.Whole(&env.Terminal, l.Line)
	}
}
