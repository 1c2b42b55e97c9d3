package config

import (
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// key is one row of the table of settings.
type key struct {
	name string
	help string
	setting
	// only from the user's own file: a clone may be handed over with its state folder
	own bool
}

// setting reads and writes one part of a Config.
type setting struct {
	get  func(*Config) any
	set  func(*Config, any) error // from TOML
	team func(*Config, any) error // from reverie.toml: restrict; nil if a team may not set it
	adds bool                     // the user's list and the clone's count together
}

// field returns the setting of one field. parse converts a value of TOML. narrow converts a team's,
// and returns the narrower of that and the present one; it is nil if a team may not set the field.
func field[T any](at func(*Config) *T, parse func(v any) (T, error), narrow func(now T, v any) (T, error)) setting {
	s := setting{get: func(c *Config) any { return *at(c) }}
	put := func(c *Config, value T, err error) error {
		if err == nil {
			*at(c) = value
		}
		return err
	}
	s.set = func(c *Config, v any) error {
		value, err := parse(v)
		return put(c, value, err)
	}
	if narrow != nil {
		s.team = func(c *Config, v any) error {
			value, err := narrow(*at(c), v)
			return put(c, value, err)
		}
	}
	return s
}

// listField returns the setting of a list to which each file adds, and a team nothing.
func listField(at func(*Config) *[]string, parse func(v any) ([]string, error)) setting {
	s := field(at, parse, also(parse))
	s.set, s.team, s.adds = s.team, nil, true
	return s
}

// table is filled at its first use, so that only a command that reads settings pays for it.
var table struct {
	once sync.Once
	keys []key
}

// keys returns the table of settings, in the order of the documentation.
func keys() []key {
	table.once.Do(func() { table.keys = slices.Concat(memoryKeys(), modelKeys(), loopKeys()) })
	return table.keys
}

// memoryKeys are the settings of what becomes memory, whose it is, and what agents are given.
func memoryKeys() []key {
	evidence, kind := wordsOf("said", "seen"), wordsOf(kinds...)
	handover := field(func(c *Config) *time.Duration { return &c.Handover }, parseAge, func(now time.Duration, v any) (time.Duration, error) {
		d, err := parseAge(v)
		return min(now, d), err
	})
	handover.get = func(c *Config) any { return age(c.Handover) }
	return []key{
		{"accept", "statements accepted without review: said (a person's lasting words), seen (outcomes in several sessions)",
			field(func(c *Config) *[]string { return &c.Accept }, evidence, only(evidence)), false},
		{"sightings", "distinct sessions that must show a seen statement before it is accepted",
			field(func(c *Config) *int { return &c.Sightings }, between(2, 1000), raised(2, 1000)), false},
		{"private", "kinds of memory that stay in this clone",
			field(func(c *Config) *[]string { return &c.Private }, kind, also(kind)), false},
		{"sessions.keep-days", "days to keep a session after it was last read",
			field(func(c *Config) *int { return &c.KeepDays }, between(1, 36500), lowered(1, 36500)), false},
		{"agents.decide", "let agents accept, edit, forget and trust in their shells, like a person",
			field(func(c *Config) *bool { return &c.AgentsDecide }, truth, nil), false},
		{"agents.loop", "let agents start loops by a tool: the plan's commands then run without a question",
			field(func(c *Config) *bool { return &c.AgentsLoop }, truth, nil), true},
		{"agents.notes", "give an agent back what it asked to remember, labelled as unreviewed, until a person decides",
			field(func(c *Config) *bool { return &c.AgentNotes }, truth, and), false},
		{"agents.shorten", "shorten outputs of tools from so many bytes on, in OpenCode; 0 never does",
			field(func(c *Config) *int { return &c.Shorten }, between(0, 1<<20), nil), false},
		{"learn.background", "when the background process learns: idle (after a session ended or paused), or off",
			field(func(c *Config) *string { return &c.Background }, wordOf("idle", "off"), later("idle", "off")), false},
		{"learn.every", "new sessions that must exist before the background process learns",
			field(func(c *Config) *int { return &c.Every }, between(1, 1000), raised(1, 1000)), false},
		{"memory.ref", "the memory branch",
			field(func(c *Config) *string { return &c.Ref }, memoryRef, nil), false},
		{"agents.file", "file with the managed block, relative to the top of the worktree",
			field(func(c *Config) *string { return &c.Agents }, blockFile, nil), false},
		{"trust.authors", "addresses of authors whose memories agents get without approval, such as ann@example.com or *@example.com",
			listField(func(c *Config) *[]string { return &c.Trust.Authors }, peopleWith("@", "ann@example.com")), false},
		{"trust.signers", "keys whose signatures are trusted in the same way: SHA256:…, an OpenPGP fingerprint, or a principal of your allowed signers",
			listField(func(c *Config) *[]string { return &c.Trust.Signers }, peopleWith("", "SHA256:…")), false},
		{"trust.require-signed", "trust signatures and this clone's own work only, because anyone can write any author's address",
			field(func(c *Config) *bool { return &c.Trust.Signed }, truth, or), false},
		{"trust.everyone", "trust everyone who can push, and withhold nothing because of its author",
			field(func(c *Config) *bool { return &c.Trust.Everyone }, truth, nil), false},
		{"context.stale", "how agents get a memory whose code is gone: label it, or withhold it",
			field(func(c *Config) *string { return &c.Stale }, wordOf("label", "withhold"), later("label", "withhold")), false},
		{"context.budget", "tokens of memory for an agent at the start of a session; 0 gives nothing",
			field(func(c *Config) *int { return &c.Budget }, between(0, maxBudget), lowered(0, maxBudget)), false},
		{"context.prompt-budget", "tokens of memory for an agent with a prompt; 0 gives nothing",
			field(func(c *Config) *int { return &c.Prompt }, between(0, maxBudget), lowered(0, maxBudget)), false},
		{"context.compaction", "tokens of memory for an agent before a compaction; 0 gives nothing",
			field(func(c *Config) *int { return &c.Compaction }, between(0, maxBudget), lowered(0, maxBudget)), false},
		{"context.handover", "tell a new session where the last one on its branch stopped, up to this age: 12h, 7d, 2w; or off",
			handover, false},
		{"context.guards", "let memories with a trigger act when an agent calls a tool",
			field(func(c *Config) *bool { return &c.Guards }, truth, nil), false},
		{"context.notice", "show one line at the start of a session: memories given, and pending operations",
			field(func(c *Config) *bool { return &c.Notice }, truth, nil), false},
		{"sync.with-push", "sync the memory in the background after each push of the code, to the same remote",
			field(func(c *Config) *bool { return &c.WithPush }, truth, nil), false},
		{"user.memory", "read your own memory, which 'reverie --user' keeps, in every repository",
			field(func(c *Config) *bool { return &c.UserMemory }, truth, nil), false},
	}
}

// modelKeys are the settings of models.
func modelKeys() []key {
	name := field(func(c *Config) *string { return &c.Model.Name }, modelName, onlyOff)
	turnOff := name.team
	name.team = func(c *Config, v any) error {
		err := turnOff(c, v)
		c.Model.Forbidden = c.Model.Forbidden || err == nil
		return err
	}
	remote := field(func(c *Config) *bool { return &c.Model.Remote }, truth, and)
	remote.team = func(c *Config, v any) error {
		allowed, err := truth(v)
		c.Model.Remote = c.Model.Remote && allowed
		c.Model.Local = c.Model.Local || err == nil && !allowed
		return err
	}
	return []key{
		{"model.name", "the model that reads sessions and dreams: auto (the best on the local server), a name, agent:NAME, or off",
			name, false},
		{"model.reflect", "the model that reads sessions, if not that of model.name",
			field(func(c *Config) *string { return &c.Model.Reflect }, otherModel, nil), false},
		{"model.dream", "the model that dreams, if not that of model.name",
			field(func(c *Config) *string { return &c.Model.Dream }, otherModel, nil), false},
		{"model.embed", "the local model that makes vectors for recall: auto, a name, or off",
			field(func(c *Config) *string { return &c.Model.Embed }, vectorModel, onlyOff), false},
		{"model.host", "address of the Ollama server; empty: OLLAMA_HOST, or 127.0.0.1:11434",
			field(func(c *Config) *string { return &c.Model.Host }, plainText, nil), true},
		{"model.remote", "allow a server on another machine, which then reads your sessions",
			remote, true},
		{"model.context", "tokens of a question and its answer together; more needs more memory",
			field(func(c *Config) *int { return &c.Model.Context }, between(LeastContext, 1<<20), nil), false},
		{"model.patience", "seconds for one question",
			field(func(c *Config) *int { return &c.Model.Patience }, between(1, 24*3600), nil), false},
		{"model.calls", "questions a day; 0 asks nothing",
			field(func(c *Config) *int { return &c.Model.Calls }, between(0, math.MaxInt32), lowered(0, math.MaxInt32)), false},
		{"model.tokens", "tokens of questions and answers a day; 0 asks nothing",
			field(func(c *Config) *int { return &c.Model.Tokens }, between(0, math.MaxInt32), lowered(0, math.MaxInt32)), false},
		{"model.seconds", "seconds of the model's work a day; 0 asks nothing",
			field(func(c *Config) *int { return &c.Model.Seconds }, between(0, 24*3600), lowered(0, math.MaxInt32)), false},
		{"model.prompts", "folder of prompts that replace the built-in ones; empty: prompts/ beside your settings",
			field(func(c *Config) *string { return &c.Model.Prompts }, folder, nil), true},
	}
}

// loopKeys are the settings of loops and their sandbox, and the branch on which their code lands.
func loopKeys() []key {
	severity := wordsOf("bug", "warning", "suggestion")
	target, variable, path := textsThat(isTarget, "proxy.example.com:443"), textsThat(isVariable, "OPENAI_API_KEY"), textsThat(filepath.IsAbs, "/home/ann/go/pkg/mod")
	return []key{
		{"code.default-branch", "the code's default branch, on which a side branch must land; empty: origin's, or main",
			field(func(c *Config) *string { return &c.Main }, branchName, nil), false},
		{"sandbox.mode", "where a loop runs commands: docker, podman, or off",
			field(func(c *Config) *string { return &c.Sandbox.Mode }, wordOf(Off, "docker", "podman"), func(now string, v any) (string, error) {
				mode, err := word(v, "docker", "podman")
				if now != Off {
					mode = now
				}
				return mode, err
			}), true},
		{"sandbox.image", "image of the sandbox, by name or id; 'reverie sandbox build' sets it",
			field(func(c *Config) *string { return &c.Sandbox.Image }, plainText, nil), true},
		{"sandbox.network", "addresses that the sandbox can reach: proxy.example.com:443 by CONNECT, 127.0.0.1:11434 on this machine directly; [] is nothing",
			field(func(c *Config) *[]string { return &c.Sandbox.Network }, target, only(target)), true},
		{"sandbox.env", "names of your variables to pass into the sandbox, such as an agent's key",
			field(func(c *Config) *[]string { return &c.Sandbox.Env }, variable, only(variable)), true},
		{"sandbox.caches", "absolute paths of your folders and files to mount read-only",
			field(func(c *Config) *[]string { return &c.Sandbox.Caches }, path, only(path)), true},
		{"sandbox.runtime", "the engine's runtime, such as runsc; empty: its default",
			field(func(c *Config) *string { return &c.Sandbox.Runtime }, plainText, nil), true},
		{"sandbox.memory", "MiB of memory for a command in the sandbox",
			field(func(c *Config) *int { return &c.Sandbox.Memory }, between(16, 1<<24), lowered(16, math.MaxInt32)), true},
		{"sandbox.cpus", "processors for a command in the sandbox",
			field(func(c *Config) *int { return &c.Sandbox.CPUs }, between(1, 4096), lowered(1, math.MaxInt32)), true},
		{"sandbox.processes", "processes and threads of a command in the sandbox",
			field(func(c *Config) *int { return &c.Sandbox.Processes }, between(8, 1<<20), lowered(8, math.MaxInt32)), true},
		{"sandbox.seconds", "seconds for one command in the sandbox",
			field(func(c *Config) *int { return &c.Sandbox.Seconds }, between(1, 7*24*3600), lowered(1, math.MaxInt32)), true},
		{"sandbox.output", "MiB of output of one command in the sandbox",
			field(func(c *Config) *int { return &c.Sandbox.Output }, between(1, 1<<20), lowered(1, math.MaxInt32)), true},
		{"sandbox.disk", "MiB by which one command may grow the workspace",
			field(func(c *Config) *int { return &c.Sandbox.Disk }, between(1, 1<<24), lowered(1, math.MaxInt32)), true},
		{"loop.agent", "the coder of a loop, if the command line names none",
			field(func(c *Config) *string { return &c.Loop.Agent }, plainText, nil), true},
		{"loop.start-on", "commits that start a loop in the sandbox: branch (one that adds plan.md on a branch plan/…), trailer (one with Reverie-Plan: FILE)",
			field(func(c *Config) *[]string { return &c.Loop.StartOn }, wordsOf("branch", "trailer"), nil), true},
		{"loop.audit", "shell command that audits a loop",
			field(func(c *Config) *string { return &c.Loop.Audit }, plainText, nil), true},
		{"loop.audit-agent", "agent that audits a loop",
			field(func(c *Config) *string { return &c.Loop.AuditAgent }, plainText, nil), true},
		{"loop.audit-model", "local model that audits a loop, or auto; with loop.audit-agent, the agent's model",
			field(func(c *Config) *string { return &c.Loop.AuditModel }, plainText, nil), true},
		{"loop.max-iterations", "iterations of a loop; 0 is no limit",
			field(func(c *Config) *int { return &c.Loop.MaxIterations }, between(0, math.MaxInt32), limited), true},
		{"loop.min-audits", "audits that must complete before a loop is done",
			field(func(c *Config) *int { return &c.Loop.MinAudits }, between(0, math.MaxInt32), raised(0, math.MaxInt32)), true},
		{"loop.max-errors", "successive errors in one phase of a loop; 0 is no limit",
			field(func(c *Config) *int { return &c.Loop.MaxErrors }, between(0, math.MaxInt32), limited), true},
		{"loop.stall-timeout", "seconds without output that count as a stall; 0 never counts one",
			field(func(c *Config) *int { return &c.Loop.Stall }, between(0, math.MaxInt32), limited), true},
		{"loop.max-stalls", "successive stalls; 0 is no limit",
			field(func(c *Config) *int { return &c.Loop.MaxStalls }, between(0, math.MaxInt32), limited), true},
		{"loop.max-repeats", "successive iterations without a new tree; 0 is no limit",
			field(func(c *Config) *int { return &c.Loop.MaxRepeats }, between(0, math.MaxInt32), limited), true},
		{"loop.block-on", "severities of findings that keep a loop from ending: bug, warning, suggestion",
			field(func(c *Config) *[]string { return &c.Loop.BlockOn }, severity, also(severity)), true},
		{"loop.max-file", "bytes of the largest file that a loop commits; 0 is no limit",
			field(func(c *Config) *int { return &c.Loop.MaxFile }, between(0, math.MaxInt32), limited), true},
	}
}
