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
		&cli.StringFlag{Name: "audit", Usage: "`CMD` of a shell that looks for defects", Destination: &o.set.Audit},
		&cli.StringFlag{Name: "audit-agent", Usage: "agent that looks for defects", Destination: &o.set.AuditAgent},
		&cli.StringFlag{Name: "audit-model", Usage: "local `MODEL` that looks for defects, or auto; with --audit-agent the model that it asks", Destination: &o.set.AuditModel},
		&cli.IntFlag{Name: "min-audits", Usage: "that have to come to an end; 0 makes do without an audit", Value: worktree.DefaultSettings().MinAudits, Destination: &o.set.MinAudits},
	}
}

func (o *loopChoice) sandboxFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: "sandbox", Usage: "`ENGINE` that keeps all commands from this machine: docker, podman, or off; else what sandbox.mode says", Destination: &o.set.Sandbox}
}

func (o *loopChoice) verifyTimeFlag() cli.Flag {
	return durationFlag("verify-time", "of one command of the plan; 0: no limit", worktree.DefaultSettings().VerifyTime, &o.verify)
}

func durationFlag(name, usage string, seconds float64, to *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: name, Usage: usage, Value: time.Duration(seconds * float64(time.Second)), Destination: to}
}

// carryFlags choose coder, auditor and limits.
func (o *loopChoice) carryFlags(detach *bool) []cli.Flag {
	d := worktree.DefaultSettings()
	coder := []cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "who codes: " + strings.Join(agent.Names(), ", ") + ", or " + worktree.Hand + ": whoever commits in its work tree", Destination: &o.set.Agent},
		&cli.StringFlag{Name: "model", Usage: "that the agent asks", Destination: &o.set.Model},
	}
	return append(append(coder, o.auditFlags()...),
		&cli.BoolFlag{Name: "detach", Usage: "go on in the background", Destination: detach},
		&cli.BoolFlag{Name: "promise", Usage: "the coder has to say, too, that all is done", Destination: &o.set.Promise},
		&cli.IntFlag{Name: "max", Usage: "iterations; 0: no limit", Value: d.MaxIterations, Destination: &o.set.MaxIterations},
		&cli.IntFlag{Name: "max-errors", Usage: "of a phase in a row; 0: no limit", Value: d.MaxErrors, Destination: &o.set.MaxErrors},
		&cli.IntFlag{Name: "max-repeats", Usage: "iterations in a row that bring no new tree; 0: no limit", Value: d.MaxRepeats, Destination: &o.set.MaxRepeats},
		durationFlag("stall", "without output, that counts as a stall; 0: none does", d.StallTime, &o.stall),
		&cli.IntFlag{Name: "max-stalls", Usage: "in a row; 0: no limit", Value: d.MaxStalls, Destination: &o.set.MaxStalls},
		durationFlag("turn-time", "of one agent or audit; 0: no limit", d.TurnTime, &o.turn),
		o.verifyTimeFlag(),
		durationFlag("time", "of the whole loop; 0: no limit", 0, &o.total),
		durationFlag("backoff", "after a first error", d.Backoff, &o.backoff),
		&cli.StringFlag{Name: "block-on", Usage: "severities that keep it from being done, with commas", Value: strings.Join(d.BlockOn, ","), Destination: &o.blockOn},
		&cli.Int64Flag{Name: "max-file", Usage: "`BYTES` of a file that is committed", Value: d.MaxFile, Destination: &o.set.MaxFile},
		&cli.BoolFlag{Name: "remove-worktree", Usage: "the work tree goes when the loop ends, if it is clean; the branch stays", Destination: &o.set.RemoveTree},
	)
}

func loopBaseFlag(base *string) cli.Flag {
	return &cli.StringFlag{Name: "base", Usage: "`REV` to begin from; else HEAD", Destination: base}
}
