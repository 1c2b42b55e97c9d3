package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// key is one row of the table of settings.
type key struct {
	name string
	help string
	get  func(*Config) any
	set  func(*Config, any) error     // from TOML
	team func(c *Config, v any) error // from reverie.toml: restrict; nil if a team may not set it
	// only from the user's own file: a clone may be handed over with its state folder
	own bool
}

var keys = []key{
	{"accept", "statements accepted without review: said (a person's lasting words), seen (outcomes in several sessions)",
		func(c *Config) any { return c.Accept },
		func(c *Config, v any) (err error) { c.Accept, err = words(v, "said", "seen"); return },
		func(c *Config, v any) error {
			allowed, err := words(v, "said", "seen")
			c.Accept = slices.DeleteFunc(slices.Clone(c.Accept), func(s string) bool { return !slices.Contains(allowed, s) })
			return err
		}, false},
	{"sightings", "distinct sessions that must show a seen statement before it is accepted",
		func(c *Config) any { return int64(c.Sightings) },
		func(c *Config, v any) (err error) { c.Sightings, err = number(v, 2, 1000); return },
		func(c *Config, v any) error {
			n, err := number(v, 2, 1000)
			c.Sightings = max(c.Sightings, n)
			return err
		}, false},
	{"private", "kinds of memory that stay in this clone",
		func(c *Config) any { return c.Private },
		func(c *Config, v any) (err error) { c.Private, err = words(v, kinds...); return },
		func(c *Config, v any) error {
			more, err := words(v, kinds...)
			for _, k := range more {
				if !slices.Contains(c.Private, k) {
					c.Private = append(slices.Clone(c.Private), k)
				}
			}
			return err
		}, false},
	{"sessions.keep-days", "days to keep a session after it was last read",
		func(c *Config) any { return int64(c.KeepDays) },
		func(c *Config, v any) (err error) { c.KeepDays, err = number(v, 1, 36500); return },
		func(c *Config, v any) error {
			n, err := number(v, 1, 36500)
			c.KeepDays = min(c.KeepDays, n)
			return err
		}, false},
	{"agents.decide", "let agents accept, edit, forget and trust in their shells, like a person",
		func(c *Config) any { return c.AgentsDecide },
		func(c *Config, v any) (err error) { c.AgentsDecide, err = truth(v); return }, nil, false},
	{"agents.loop", "let agents start loops by a tool: the plan's commands then run without a question",
		func(c *Config) any { return c.AgentsLoop },
		func(c *Config, v any) (err error) { c.AgentsLoop, err = truth(v); return }, nil, true},
	{"agents.notes", "give an agent back what it asked to remember, labelled as unreviewed, until a person decides",
		func(c *Config) any { return c.AgentNotes },
		func(c *Config, v any) (err error) { c.AgentNotes, err = truth(v); return },
		func(c *Config, v any) error {
			notes, err := truth(v)
			c.AgentNotes = c.AgentNotes && notes
			return err
		}, false},
	{"agents.shorten", "shorten outputs of tools from so many bytes on, in OpenCode; 0 never does",
		func(c *Config) any { return int64(c.Shorten) },
		func(c *Config, v any) (err error) { c.Shorten, err = number(v, 0, 1<<20); return }, nil, false},
	{"learn.background", "when the background process learns: idle (after a session ended or paused), or off",
		func(c *Config) any { return c.Background },
		func(c *Config, v any) (err error) { c.Background, err = word(v, backgroundWords...); return },
		func(c *Config, v any) error {
			s, err := word(v, backgroundWords...)
			if s == "off" {
				c.Background = s
			}
			return err
		}, false},
	{"learn.every", "new sessions that must exist before the background process learns",
		func(c *Config) any { return int64(c.Every) },
		func(c *Config, v any) (err error) { c.Every, err = number(v, 1, 1000); return },
		func(c *Config, v any) error {
			n, err := number(v, 1, 1000)
			c.Every = max(c.Every, n)
			return err
		}, false},
	{"memory.ref", "the memory branch",
		func(c *Config) any { return c.Ref },
		func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok || !strings.HasPrefix(s, "refs/") || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.HasSuffix(s, "/") {
				return fmt.Errorf("%v is not a whole ref name such as \"refs/heads/reverie/memory\"", v)
			}
			if !ownRef(s) {
				return fmt.Errorf("%s belongs to others: take a ref for memory alone, such as \"refs/heads/reverie/memory\"", s)
			}
			c.Ref = s
			return nil
		}, nil, false},
	{"agents.file", "file with the managed block, relative to the top of the worktree",
		func(c *Config) any { return c.Agents },
		func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok || !filepath.IsLocal(filepath.FromSlash(s)) {
				return fmt.Errorf("%v is not a path inside the work tree", v)
			}
			if inGitDir(s) {
				return fmt.Errorf("%v is in a git directory, whose files git may run", v)
			}
			c.Agents = s
			return nil
		}, nil, false},
	{"trust.authors", "addresses of authors whose memories agents get without approval, such as ann@example.com or *@example.com",
		func(c *Config) any { return c.Trust.Authors },
		func(c *Config, v any) (err error) { c.Trust.Authors, err = people(v, "@", "ann@example.com"); return }, nil, false},
	{"trust.signers", "keys whose signatures are trusted in the same way: SHA256:…, an OpenPGP fingerprint, or a principal of your allowed signers",
		func(c *Config) any { return c.Trust.Signers },
		func(c *Config, v any) (err error) { c.Trust.Signers, err = people(v, "", "SHA256:…"); return }, nil, false},
	{"trust.require-signed", "trust signatures and this clone's own work only, because anyone can write any author's address",
		func(c *Config) any { return c.Trust.Signed },
		func(c *Config, v any) (err error) { c.Trust.Signed, err = truth(v); return },
		func(c *Config, v any) error {
			signed, err := truth(v)
			c.Trust.Signed = c.Trust.Signed || signed
			return err
		}, false},
	{"trust.everyone", "trust everyone who can push, and withhold nothing because of its author",
		func(c *Config) any { return c.Trust.Everyone },
		func(c *Config, v any) (err error) { c.Trust.Everyone, err = truth(v); return }, nil, false},
	{"context.stale", "how agents get a memory whose code is gone: label it, or withhold it",
		func(c *Config) any { return c.Stale },
		func(c *Config, v any) (err error) { c.Stale, err = word(v, staleWords...); return },
		func(c *Config, v any) error {
			s, err := word(v, staleWords...)
			if s == "withhold" {
				c.Stale = s
			}
			return err
		}, false},
	{"context.budget", "tokens of memory for an agent at the start of a session; 0 gives nothing",
		func(c *Config) any { return int64(c.Budget) },
		func(c *Config, v any) (err error) { c.Budget, err = number(v, 0, maxBudget); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, maxBudget)
			c.Budget = min(c.Budget, n)
			return err
		}, false},
	{"context.prompt-budget", "tokens of memory for an agent with a prompt; 0 gives nothing",
		func(c *Config) any { return int64(c.Prompt) },
		func(c *Config, v any) (err error) { c.Prompt, err = number(v, 0, maxBudget); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, maxBudget)
			c.Prompt = min(c.Prompt, n)
			return err
		}, false},
	{"context.compaction", "tokens of memory for an agent before a compaction; 0 gives nothing",
		func(c *Config) any { return int64(c.Compaction) },
		func(c *Config, v any) (err error) { c.Compaction, err = number(v, 0, maxBudget); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, maxBudget)
			c.Compaction = min(c.Compaction, n)
			return err
		}, false},
	{"context.handover", "tell a new session where the last one on its branch stopped, up to this age: 12h, 7d, 2w; or off",
		func(c *Config) any { return age(c.Handover) },
		func(c *Config, v any) (err error) { c.Handover, err = parseAge(v); return },
		func(c *Config, v any) error {
			d, err := parseAge(v)
			c.Handover = min(c.Handover, d)
			return err
		}, false},
	{"context.guards", "let memories with a trigger act when an agent calls a tool",
		func(c *Config) any { return c.Guards },
		func(c *Config, v any) (err error) { c.Guards, err = truth(v); return }, nil, false},
	{"context.notice", "show one line at the start of a session: memories given, and pending operations",
		func(c *Config) any { return c.Notice },
		func(c *Config, v any) (err error) { c.Notice, err = truth(v); return }, nil, false},
	{"sync.with-push", "sync the memory in the background after each push of the code, to the same remote",
		func(c *Config) any { return c.WithPush },
		func(c *Config, v any) (err error) { c.WithPush, err = truth(v); return },
		nil, false},
	{"user.memory", "read your own memory, which 'reverie --user' keeps, in every repository",
		func(c *Config) any { return c.UserMemory },
		func(c *Config, v any) (err error) { c.UserMemory, err = truth(v); return },
		nil, false},
	{"model.name", "the model that reads sessions and dreams: auto (the best on the local server), a name, agent:NAME, or off",
		func(c *Config) any { return c.Model.Name },
		func(c *Config, v any) (err error) { c.Model.Name, err = modelName(v); return },
		func(c *Config, v any) error {
			err := onlyOff(&c.Model.Name, v)
			c.Model.Forbidden = c.Model.Forbidden || err == nil
			return err
		}, false},
	{"model.reflect", "the model that reads sessions, if not that of model.name",
		func(c *Config) any { return c.Model.Reflect },
		func(c *Config, v any) (err error) { c.Model.Reflect, err = otherModel(v); return }, nil, false},
	{"model.dream", "the model that dreams, if not that of model.name",
		func(c *Config) any { return c.Model.Dream },
		func(c *Config, v any) (err error) { c.Model.Dream, err = otherModel(v); return }, nil, false},
	{"model.embed", "the local model that makes vectors for recall: auto, a name, or off",
		func(c *Config) any { return c.Model.Embed },
		func(c *Config, v any) (err error) {
			if c.Model.Embed, err = modelName(v); err == nil && Agent(c.Model.Embed) != "" {
				err = fmt.Errorf("%v: an agent makes no vectors", v)
			}
			return
		},
		func(c *Config, v any) error { return onlyOff(&c.Model.Embed, v) }, false},
	{"model.host", "address of the Ollama server; empty: OLLAMA_HOST, or 127.0.0.1:11434",
		func(c *Config) any { return c.Model.Host },
		func(c *Config, v any) (err error) { c.Model.Host, err = plainText(v); return }, nil, true},
	{"model.remote", "allow a server on another machine, which then reads your sessions",
		func(c *Config) any { return c.Model.Remote },
		func(c *Config, v any) (err error) { c.Model.Remote, err = truth(v); return },
		func(c *Config, v any) error {
			remote, err := truth(v)
			c.Model.Remote = c.Model.Remote && remote
			c.Model.Local = c.Model.Local || err == nil && !remote
			return err
		}, true},
	{"model.context", "tokens of a question and its answer together; more needs more memory",
		func(c *Config) any { return int64(c.Model.Context) },
		func(c *Config, v any) (err error) { c.Model.Context, err = number(v, LeastContext, 1<<20); return }, nil, false},
	{"model.patience", "seconds for one question",
		func(c *Config) any { return int64(c.Model.Patience) },
		func(c *Config, v any) (err error) { c.Model.Patience, err = number(v, 1, 24*3600); return }, nil, false},
	{"model.calls", "questions a day; 0 asks nothing",
		func(c *Config) any { return int64(c.Model.Calls) },
		func(c *Config, v any) (err error) { c.Model.Calls, err = number(v, 0, math.MaxInt32); return },
		func(c *Config, v any) error { return atMost(&c.Model.Calls, v) }, false},
	{"model.tokens", "tokens of questions and answers a day; 0 asks nothing",
		func(c *Config) any { return int64(c.Model.Tokens) },
		func(c *Config, v any) (err error) { c.Model.Tokens, err = number(v, 0, math.MaxInt32); return },
		func(c *Config, v any) error { return atMost(&c.Model.Tokens, v) }, false},
	{"model.seconds", "seconds of the model's work a day; 0 asks nothing",
		func(c *Config) any { return int64(c.Model.Seconds) },
		func(c *Config, v any) (err error) { c.Model.Seconds, err = number(v, 0, 24*3600); return },
		func(c *Config, v any) error { return atMost(&c.Model.Seconds, v) }, false},
	{"model.prompts", "folder of prompts that replace the built-in ones; empty: prompts/ beside your settings",
		func(c *Config) any { return c.Model.Prompts },
		func(c *Config, v any) (err error) {
			if c.Model.Prompts, err = plainText(v); err == nil && c.Model.Prompts != "" && !filepath.IsAbs(c.Model.Prompts) {
				err = fmt.Errorf("%q is not an absolute path", c.Model.Prompts)
			}
			return
		}, nil, true},
	{"code.default-branch", "the code's default branch, on which a side branch must land; empty: origin's, or main",
		func(c *Config) any { return c.Main },
		func(c *Config, v any) (err error) { c.Main, err = branchName(v); return },
		nil, false},
	{"sandbox.mode", "where a loop runs commands: docker, podman, or off",
		func(c *Config) any { return c.Sandbox.Mode },
		func(c *Config, v any) (err error) { c.Sandbox.Mode, err = word(v, sandboxModes...); return },
		func(c *Config, v any) error {
			s, err := word(v, sandboxModes[1:]...)
			if c.Sandbox.Mode == Off && err == nil {
				c.Sandbox.Mode = s
			}
			return err
		}, true},
	{"sandbox.image", "image of the sandbox, by name or id; 'reverie sandbox build' sets it",
		func(c *Config) any { return c.Sandbox.Image },
		func(c *Config, v any) (err error) { c.Sandbox.Image, err = plainText(v); return }, nil, true},
	{"sandbox.network", "addresses that the sandbox can reach: proxy.example.com:443 by CONNECT, 127.0.0.1:11434 on this machine directly; [] is nothing",
		func(c *Config) any { return c.Sandbox.Network },
		func(c *Config, v any) (err error) {
			c.Sandbox.Network, err = texts(v, isTarget, "proxy.example.com:443")
			return
		},
		func(c *Config, v any) error { return onlyOf(&c.Sandbox.Network, v, isTarget, "proxy.example.com:443") }, true},
	{"sandbox.env", "names of your variables to pass into the sandbox, such as an agent's key",
		func(c *Config) any { return c.Sandbox.Env },
		func(c *Config, v any) (err error) {
			c.Sandbox.Env, err = texts(v, isVariable, "OPENAI_API_KEY")
			return
		},
		func(c *Config, v any) error { return onlyOf(&c.Sandbox.Env, v, isVariable, "OPENAI_API_KEY") }, true},
	{"sandbox.caches", "absolute paths of your folders and files to mount read-only",
		func(c *Config) any { return c.Sandbox.Caches },
		func(c *Config, v any) (err error) {
			c.Sandbox.Caches, err = texts(v, filepath.IsAbs, "/home/ann/go/pkg/mod")
			return
		},
		func(c *Config, v any) error {
			return onlyOf(&c.Sandbox.Caches, v, filepath.IsAbs, "/home/ann/go/pkg/mod")
		}, true},
	{"sandbox.runtime", "the engine's runtime, such as runsc; empty: its default",
		func(c *Config) any { return c.Sandbox.Runtime },
		func(c *Config, v any) (err error) { c.Sandbox.Runtime, err = plainText(v); return }, nil, true},
	{"sandbox.memory", "MiB of memory for a command in the sandbox",
		func(c *Config) any { return int64(c.Sandbox.Memory) },
		func(c *Config, v any) (err error) { c.Sandbox.Memory, err = number(v, 16, 1<<24); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.Memory, v, 16) }, true},
	{"sandbox.cpus", "processors for a command in the sandbox",
		func(c *Config) any { return int64(c.Sandbox.CPUs) },
		func(c *Config, v any) (err error) { c.Sandbox.CPUs, err = number(v, 1, 4096); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.CPUs, v, 1) }, true},
	{"sandbox.processes", "processes and threads of a command in the sandbox",
		func(c *Config) any { return int64(c.Sandbox.Processes) },
		func(c *Config, v any) (err error) { c.Sandbox.Processes, err = number(v, 8, 1<<20); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.Processes, v, 8) }, true},
	{"sandbox.seconds", "seconds for one command in the sandbox",
		func(c *Config) any { return int64(c.Sandbox.Seconds) },
		func(c *Config, v any) (err error) { c.Sandbox.Seconds, err = number(v, 1, 7*24*3600); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.Seconds, v, 1) }, true},
	{"sandbox.output", "MiB of output of one command in the sandbox",
		func(c *Config) any { return int64(c.Sandbox.Output) },
		func(c *Config, v any) (err error) { c.Sandbox.Output, err = number(v, 1, 1<<20); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.Output, v, 1) }, true},
	{"sandbox.disk", "MiB by which one command may grow the workspace",
		func(c *Config) any { return int64(c.Sandbox.Disk) },
		func(c *Config, v any) (err error) { c.Sandbox.Disk, err = number(v, 1, 1<<24); return },
		func(c *Config, v any) error { return lower(&c.Sandbox.Disk, v, 1) }, true},
	{"loop.agent", "the coder of a loop, if the command line names none",
		func(c *Config) any { return c.Loop.Agent },
		func(c *Config, v any) (err error) { c.Loop.Agent, err = plainText(v); return }, nil, true},
	{"loop.start-on", "commits that start a loop in the sandbox: branch (one that adds plan.md on a branch plan/…), trailer (one with Reverie-Plan: FILE)",
		func(c *Config) any { return c.Loop.StartOn },
		func(c *Config, v any) (err error) { c.Loop.StartOn, err = words(v, "branch", "trailer"); return }, nil, true},
	{"loop.audit", "shell command that audits a loop",
		func(c *Config) any { return c.Loop.Audit },
		func(c *Config, v any) (err error) { c.Loop.Audit, err = plainText(v); return }, nil, true},
	{"loop.audit-agent", "agent that audits a loop",
		func(c *Config) any { return c.Loop.AuditAgent },
		func(c *Config, v any) (err error) { c.Loop.AuditAgent, err = plainText(v); return }, nil, true},
	{"loop.audit-model", "local model that audits a loop, or auto; with loop.audit-agent, the agent's model",
		func(c *Config) any { return c.Loop.AuditModel },
		func(c *Config, v any) (err error) { c.Loop.AuditModel, err = plainText(v); return }, nil, true},
	{"loop.max-iterations", "iterations of a loop; 0 is no limit",
		func(c *Config) any { return int64(c.Loop.MaxIterations) },
		func(c *Config, v any) error { return setLimit(&c.Loop.MaxIterations, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.MaxIterations, v) }, true},
	{"loop.min-audits", "audits that must complete before a loop is done",
		func(c *Config) any { return int64(c.Loop.MinAudits) },
		func(c *Config, v any) (err error) { c.Loop.MinAudits, err = number(v, 0, math.MaxInt32); return },
		func(c *Config, v any) error {
			n, err := number(v, 0, math.MaxInt32)
			c.Loop.MinAudits = max(c.Loop.MinAudits, n)
			return err
		}, true},
	{"loop.max-errors", "successive errors in one phase of a loop; 0 is no limit",
		func(c *Config) any { return int64(c.Loop.MaxErrors) },
		func(c *Config, v any) error { return setLimit(&c.Loop.MaxErrors, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.MaxErrors, v) }, true},
	{"loop.stall-timeout", "seconds without output that count as a stall; 0 never counts one",
		func(c *Config) any { return int64(c.Loop.Stall) },
		func(c *Config, v any) error { return setLimit(&c.Loop.Stall, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.Stall, v) }, true},
	{"loop.max-stalls", "successive stalls; 0 is no limit",
		func(c *Config) any { return int64(c.Loop.MaxStalls) },
		func(c *Config, v any) error { return setLimit(&c.Loop.MaxStalls, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.MaxStalls, v) }, true},
	{"loop.max-repeats", "successive iterations without a new tree; 0 is no limit",
		func(c *Config) any { return int64(c.Loop.MaxRepeats) },
		func(c *Config, v any) error { return setLimit(&c.Loop.MaxRepeats, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.MaxRepeats, v) }, true},
	{"loop.block-on", "severities of findings that keep a loop from ending: bug, warning, suggestion",
		func(c *Config) any { return c.Loop.BlockOn },
		func(c *Config, v any) (err error) { c.Loop.BlockOn, err = words(v, severities...); return },
		func(c *Config, v any) error { return moreOf(&c.Loop.BlockOn, v, severities...) }, true},
	{"loop.max-file", "bytes of the largest file that a loop commits; 0 is no limit",
		func(c *Config) any { return int64(c.Loop.MaxFile) },
		func(c *Config, v any) error { return setLimit(&c.Loop.MaxFile, v) },
		func(c *Config, v any) error { return lowerLimit(&c.Loop.MaxFile, v) }, true},
}
