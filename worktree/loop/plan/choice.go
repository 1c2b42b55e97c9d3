package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
)

// Choice holds the settings that a person chose for a loop. A Command counts if it has words; every
// other setting counts if Given reports its option.
type Choice struct {
	worktree.Settings
	Given func(option string) bool // by the options of 'reverie loop start'
}

// names reports whether a person named an auditor.
func (c Choice) names() bool { return c.Audit != "" || c.AuditAgent != "" || c.AuditModel != "" }

// usual returns the settings of a loop without any choice: the user's, narrowed by the team's. A
// chosen coder or auditor replaces the whole of the configured one.
func (p *Planner) usual(ctx context.Context, c Choice) (worktree.Settings, error) {
	if err := p.Narrow(ctx); err != nil {
		return worktree.Settings{}, err
	}
	set, of := worktree.DefaultSettings(), p.Settings.Config.Loop
	if c.Agent == "" && len(c.Command) == 0 {
		set.Agent = of.Agent
	}
	unaudited := c.Given("min-audits") && c.MinAudits == 0
	if !c.names() && !unaudited {
		set.Audit, set.AuditAgent, set.AuditModel = of.Audit, of.AuditAgent, of.AuditModel
		if of.Audit != "" && (of.AuditAgent != "" || of.AuditModel != "") {
			return set, exit.New(exit.Failed, errors.New("the settings loop.audit, and loop.audit-agent or loop.audit-model, exclude each other"), "reverie config --user loop.audit ''")
		}
	}
	set.MaxIterations, set.MinAudits, set.MaxErrors, set.MaxStalls, set.MaxRepeats = of.MaxIterations, of.MinAudits, of.MaxErrors, of.MaxStalls, of.MaxRepeats
	set.StallTime, set.MaxFile, set.BlockOn = float64(of.Stall), int64(of.MaxFile), of.BlockOn
	return set, nil
}

// apply returns settings with a choice applied. start says that the loop starts with them.
func (c Choice) apply(set worktree.Settings, start bool) (worktree.Settings, error) {
	if err := c.check(set, start); err != nil {
		return set, err
	}
	if c.Given("agent") {
		set.Agent, set.Command = c.Agent, nil
	}
	if c.Audit != "" || c.AuditAgent != "" { // replaces the auditor
		set.Audit, set.AuditAgent, set.AuditModel = "", "", ""
	} else if c.AuditModel != "" { // the model of the agent that audits, or else the auditor
		set.Audit = ""
	}
	for option, put := range map[string]func(){
		"model":           func() { set.Model = c.Model },
		"audit":           func() { set.Audit = c.Audit },
		"audit-agent":     func() { set.AuditAgent = c.AuditAgent },
		"audit-model":     func() { set.AuditModel = c.AuditModel },
		"promise":         func() { set.Promise = c.Promise },
		"max":             func() { set.MaxIterations = c.MaxIterations },
		"min-audits":      func() { set.MinAudits = c.MinAudits },
		"max-errors":      func() { set.MaxErrors = c.MaxErrors },
		"max-repeats":     func() { set.MaxRepeats = c.MaxRepeats },
		"max-stalls":      func() { set.MaxStalls = c.MaxStalls },
		"stall":           func() { set.StallTime = c.StallTime },
		"turn-time":       func() { set.TurnTime = c.TurnTime },
		"verify-time":     func() { set.VerifyTime = c.VerifyTime },
		"time":            func() { set.TotalTime = c.TotalTime },
		"backoff":         func() { set.Backoff = c.Backoff },
		"max-file":        func() { set.MaxFile = c.MaxFile },
		"remove-worktree": func() { set.RemoveTree = c.RemoveTree },
		"block-on":        func() { set.BlockOn = c.BlockOn },
	} {
		if c.Given(option) {
			put()
		}
	}
	if len(c.Command) > 0 {
		set.Agent, set.Command = "", c.Command
	}
	return complete(set)
}

// check refuses choices that exclude each other, or that a loop which goes on cannot have.
func (c Choice) check(set worktree.Settings, start bool) error {
	const both = "say who codes: an agent, or a command, and not both"
	named := c.Agent != "" && len(c.Command) > 0
	switch {
	case !start && named:
		return exit.Usage("reverie loop resume NAME --agent "+agent.Names()[1]+", or: reverie loop resume NAME -- COMMAND…", both)
	case start && (named || set.Agent == "" && c.Agent == "" && len(c.Command) == 0):
		return exit.Usage("reverie loop start PLAN --agent "+agent.Names()[1]+", or: reverie loop start PLAN -- COMMAND…", both)
	case c.Audit != "" && (c.AuditAgent != "" || c.AuditModel != ""):
		return exit.Usage("", "an audit is a command's, or an agent's or a model's, not both")
	case c.AuditModel == config.Off:
		return exit.Usage("leave it out", "--audit-model off: it is the name of a model, or auto")
	case !start && c.Promise && !set.Promise:
		return exit.Usage("start another one from its branch: reverie loop start PLAN --base BRANCH --promise …", "--promise: the coder was not told what to say")
	case !start && c.Given("sandbox"):
		return exit.Usage("start another one from its branch: reverie loop start PLAN --base BRANCH --sandbox …", "--sandbox: a loop keeps what it was started with")
	}
	return nil
}

// complete checks whether a loop can have settings.
func complete(set worktree.Settings) (worktree.Settings, error) {
	for option, name := range map[string]string{"agent": set.Agent, "audit-agent": set.AuditAgent} {
		if name != "" && !(option == "agent" && name == worktree.Hand) {
			if _, _, err := agent.Call(name, "", worktree.Coding, false); err != nil {
				return set, fmt.Errorf("--%s: %w", option, err)
			}
		}
	}
	if set.AuditModel == config.Off { // by a setting: an agent then asks its own model
		set.AuditModel = ""
	}
	switch {
	case set.Agent == "" && len(set.Command) == 0:
		return set, exit.Usage("--agent "+agent.Names()[1]+", or a command behind --", "no coder is named")
	case !set.Audited() && set.MinAudits > 0:
		return set, exit.Usage("--audit CMD, --audit-agent or --audit-model; to go by the plan's own commands alone: --min-audits 0", "no auditor is named")
	}
	for _, word := range set.BlockOn {
		if !slices.Contains([]worktree.Severity{worktree.Bug, worktree.Warning, worktree.Suggestion}, worktree.Severity(word)) {
			return set, exit.Usage("", "--block-on %s: severities are bug, warning and suggestion", word)
		}
	}
	for option, n := range map[string]float64{
		"max": float64(set.MaxIterations), "min-audits": float64(set.MinAudits), "max-errors": float64(set.MaxErrors), "max-repeats": float64(set.MaxRepeats), "max-stalls": float64(set.MaxStalls),
		"stall": set.StallTime, "turn-time": set.TurnTime, "verify-time": set.VerifyTime, "time": set.TotalTime, "backoff": set.Backoff, "max-file": float64(set.MaxFile),
	} {
		if n < 0 {
			return set, exit.Usage("", "--%s: less than nothing", option)
		}
	}
	return set, nil
}

// checkHand refuses settings that a loop without a coder cannot have.
func checkHand(set worktree.Settings) error {
	if set.Agent == worktree.Hand && set.Promise {
		return exit.Usage("leave one of the two out", "--agent %s: nobody is there who could give a promise", worktree.Hand)
	}
	return nil
}

// engine returns the name of the engine that the commands of a loop run in, config.Off for this
// machine. Only a person may leave out a sandbox that the settings want.
func (p *Planner) engine(ctx context.Context, c Choice, command string) (string, error) {
	if err := p.Narrow(ctx); err != nil {
		return "", err
	}
	mode := p.Settings.Config.Sandbox.Mode
	name := mode
	if c.Given("sandbox") {
		name = c.Sandbox
	}
	if (name == "" || name == config.Off) && mode != config.Off {
		return name, p.WantPerson(command + " --sandbox off")
	}
	return name, nil
}

// choose sets the engine and image that a new loop runs in. It makes nothing.
func (p *Planner) choose(ctx context.Context, set *worktree.Settings, c Choice, inPlace bool) error {
	name, err := p.engine(ctx, c, "loop start")
	if err != nil {
		return err
	}
	set.Sandbox = name
	switch {
	case !set.Sandboxed():
		set.Sandbox = config.Off
		return nil
	case !slices.Contains(sandbox.Engines(), set.Sandbox):
		return exit.Usage("", "--sandbox %s: known are %s, and off", set.Sandbox, strings.Join(sandbox.Engines(), ", "))
	case inPlace && set.Agent != worktree.Hand:
		return exit.Usage("leave one of the two out", "--in-place works in your own work tree, and --sandbox keeps from it")
	}
	in, err := p.Runner(ctx, worktree.State{Settings: *set}, "")
	if err != nil {
		return err
	}
	if set.Image, err = in.Engine.Image(ctx, p.Settings.Config.Sandbox.Image); err != nil {
		return fault.Sandbox(err)
	}
	in.Spec.Image = set.Image
	return p.imageHas(ctx, in, *set)
}
