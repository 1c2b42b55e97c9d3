package cmd

import (
	"strings"
	"time"

	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/urfave/cli/v2"
)

// loopChoice collects the flags that choose a loop's settings.
type loopChoice struct {
	set                                 worktree.Settings
	stall, turn, verify, total, backoff time.Duration
	blockOn                             string
}

// choice returns the settings that a command line chose. command is the coder behind "--".
func (o *loopChoice) choice(c *cli.Context, command []string) plan.Choice {
	set := o.set
	set.Command = command
	set.StallTime, set.TurnTime, set.VerifyTime = o.stall.Seconds(), o.turn.Seconds(), o.verify.Seconds()
	set.TotalTime, set.Backoff = o.total.Seconds(), o.backoff.Seconds()
	set.BlockOn = strings.FieldsFunc(o.blockOn, func(c rune) bool { return c == ',' || c == ' ' })
	return plan.Choice{Settings: set, Given: c.IsSet}
}

// auditFlags choose the auditor.
func (o *loopChoice) auditFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "audit", Usage: "run shell command `CMD` to look for defects", Destination: &o.set.Audit},
		&cli.StringFlag{Name: "audit-agent", Usage: "let agent `NAME` look for defects", Destination: &o.set.AuditAgent},
		&cli.StringFlag{Name: "audit-model", Usage: "let local model `NAME`, or auto, look for defects; with --audit-agent: let that agent use model NAME", Destination: &o.set.AuditModel},
		&cli.IntFlag{Name: "min-audits", Usage: "require `N` completed audits; 0: require none", Value: worktree.DefaultSettings().MinAudits, Destination: &o.set.MinAudits},
	}
}

func (o *loopChoice) sandboxFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: "sandbox", Usage: "run all commands in a container of `ENGINE`: docker, podman, or off (default: the setting sandbox.mode)", Destination: &o.set.Sandbox}
}

func (o *loopChoice) verifyTimeFlag() cli.Flag {
	return durationFlag("verify-time", "limit each command of the plan to `TIME`; 0: no limit", worktree.DefaultSettings().VerifyTime, &o.verify)
}

func durationFlag(name, usage string, seconds float64, to *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: name, Usage: usage, Value: time.Duration(seconds * float64(time.Second)), Destination: to}
}

// carryFlags choose coder, auditor and limits.
func (o *loopChoice) carryFlags(detach *bool) []cli.Flag {
	d := worktree.DefaultSettings()
	coder := []cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "let agent `NAME` write the code: " + strings.Join(agent.Names(), ", ") + ", or " + worktree.Hand + " (a person or program that commits in its worktree)", Destination: &o.set.Agent},
		&cli.StringFlag{Name: "model", Usage: "let the agent use model `NAME`", Destination: &o.set.Model},
	}
	return append(append(coder, o.auditFlags()...),
		&cli.BoolFlag{Name: "detach", Usage: "continue in the background", Destination: detach},
		&cli.BoolFlag{Name: "promise", Usage: "also require the agent to declare the work done", Destination: &o.set.Promise},
		&cli.IntFlag{Name: "max", Usage: "stop after `N` iterations; 0: no limit", Value: d.MaxIterations, Destination: &o.set.MaxIterations},
		&cli.IntFlag{Name: "max-errors", Usage: "stop after `N` errors of one phase in a row; 0: no limit", Value: d.MaxErrors, Destination: &o.set.MaxErrors},
		&cli.IntFlag{Name: "max-repeats", Usage: "stop after `N` iterations in a row without a new tree; 0: no limit", Value: d.MaxRepeats, Destination: &o.set.MaxRepeats},
		durationFlag("stall", "count `TIME` without output as a stall; 0: never", d.StallTime, &o.stall),
		&cli.IntFlag{Name: "max-stalls", Usage: "stop after `N` stalls in a row; 0: no limit", Value: d.MaxStalls, Destination: &o.set.MaxStalls},
		durationFlag("turn-time", "limit each turn of an agent or audit to `TIME`; 0: no limit", d.TurnTime, &o.turn),
		o.verifyTimeFlag(),
		durationFlag("time", "limit the whole loop to `TIME`; 0: no limit", 0, &o.total),
		durationFlag("backoff", "wait `TIME` after a first error", d.Backoff, &o.backoff),
		&cli.StringFlag{Name: "block-on", Usage: "do not finish while findings of these `SEVERITIES` are open, separated by commas", Value: strings.Join(d.BlockOn, ","), Destination: &o.blockOn},
		&cli.Int64Flag{Name: "max-file", Usage: "commit no file larger than `BYTES`", Value: d.MaxFile, Destination: &o.set.MaxFile},
		&cli.BoolFlag{Name: "remove-worktree", Usage: "remove the worktree at the end if it is clean; the branch stays", Destination: &o.set.RemoveTree},
	)
}

func loopBaseFlag(base *string) cli.Flag {
	return &cli.StringFlag{Name: "base", Usage: "begin from `REV` instead of HEAD", Destination: base}
}
