package cmd

import (
	"strings"
	"time"

	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/urfave/cli/v2"
)

// auditFlags say who looks for defects.
func (o *loopOptions) auditFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "audit", Usage: "`CMD` of a shell that looks for defects", Destination: &o.audit},
		&cli.StringFlag{Name: "audit-agent", Usage: "agent that looks for defects", Destination: &o.auditAgent},
		&cli.StringFlag{Name: "audit-model", Usage: "local `MODEL` that looks for defects, or auto; with --audit-agent the model that it asks", Destination: &o.auditModel},
		&cli.IntFlag{Name: "min-audits", Usage: "that have to come to an end; 0 makes do without an audit", Value: worktree.DefaultSettings().MinAudits, Destination: &o.minAudits},
	}
}

func (o *loopOptions) baseFlag() cli.Flag {
	return &cli.StringFlag{Name: "base", Usage: "`REV` to begin from; else HEAD", Destination: &o.base}
}

func (o *loopOptions) sandboxFlag() *cli.StringFlag {
	return &cli.StringFlag{Name: "sandbox", Usage: "`ENGINE` that keeps all commands from this machine: docker, podman, or off; else what sandbox.mode says", Destination: &o.sandbox}
}

func (o *loopOptions) verifyTimeFlag() cli.Flag {
	return &cli.DurationFlag{Name: "verify-time", Usage: "of one command of the plan; 0: no limit", Value: settingTime(worktree.DefaultSettings().VerifyTime), Destination: &o.verify}
}

func settingTime(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func (o *loopOptions) lintFlags() []cli.Flag {
	return append(o.auditFlags(), o.baseFlag(), o.sandboxFlag(), o.verifyTimeFlag(),
		&cli.BoolFlag{Name: "run", Usage: "run the plan's commands on the commit to begin from", Destination: &o.run},
		&cli.BoolFlag{Name: "strict", Usage: "warnings count", Destination: &o.strict},
	)
}

// carryFlags are those of everything that carries a loop on: who codes, who audits, and the limits.
func (o *loopOptions) carryFlags() []cli.Flag {
	d := worktree.DefaultSettings()
	coder := []cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "who codes: " + strings.Join(agent.Names(), ", ") + ", or " + worktree.Hand + ": whoever commits in its work tree", Destination: &o.agent},
		&cli.StringFlag{Name: "model", Usage: "that the agent asks", Destination: &o.model},
	}
	return append(append(coder, o.auditFlags()...),
		&cli.BoolFlag{Name: "detach", Usage: "go on in the background", Destination: &o.detach},
		&cli.BoolFlag{Name: "promise", Usage: "the coder has to say, too, that all is done", Destination: &o.promise},
		&cli.IntFlag{Name: "max", Usage: "iterations; 0: no limit", Value: d.MaxIterations, Destination: &o.max},
		&cli.IntFlag{Name: "max-errors", Usage: "of a phase in a row; 0: no limit", Value: d.MaxErrors, Destination: &o.maxErrors},
		&cli.IntFlag{Name: "max-repeats", Usage: "iterations in a row that bring no new tree; 0: no limit", Value: d.MaxRepeats, Destination: &o.maxRepeats},
		&cli.DurationFlag{Name: "stall", Usage: "without output, that counts as a stall; 0: none does", Value: settingTime(d.StallTime), Destination: &o.stall},
		&cli.IntFlag{Name: "max-stalls", Usage: "in a row; 0: no limit", Value: d.MaxStalls, Destination: &o.maxStalls},
		&cli.DurationFlag{Name: "turn-time", Usage: "of one agent or audit; 0: no limit", Value: settingTime(d.TurnTime), Destination: &o.turn},
		o.verifyTimeFlag(),
		&cli.DurationFlag{Name: "time", Usage: "of the whole loop; 0: no limit", Destination: &o.total},
		&cli.DurationFlag{Name: "backoff", Usage: "after a first error", Value: settingTime(d.Backoff), Destination: &o.backoff},
		&cli.StringFlag{Name: "block-on", Usage: "severities that keep it from being done, with commas", Value: strings.Join(d.BlockOn, ","), Destination: &o.blockOn},
		&cli.Int64Flag{Name: "max-file", Usage: "`BYTES` of a file that is committed", Value: d.MaxFile, Destination: &o.maxFile},
		&cli.BoolFlag{Name: "remove-worktree", Usage: "the work tree goes when the loop ends, if it is clean; the branch stays", Destination: &o.removeTree},
	)
}

func (o *loopOptions) startFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "name", Usage: "of the loop; else from the plan's title", Destination: &o.name},
		o.baseFlag(), o.sandboxFlag(),
		&cli.BoolFlag{Name: "in-place", Usage: "work in this work tree, on its branch; it must be clean", Destination: &o.inPlace},
	}, o.carryFlags()...)
}

// resumeFlags leave out what a loop keeps. --sandbox is there to be refused with a reason.
func (o *loopOptions) resumeFlags() []cli.Flag {
	sandbox := o.sandboxFlag()
	sandbox.Hidden = true
	return append(o.carryFlags(), sandbox)
}

func (o *loopOptions) findingsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "those that are settled too", Destination: &o.all},
		&cli.StringSliceFlag{Name: "waive", Usage: "settle the open finding `ID`; may be repeated", Action: func(_ *cli.Context, ids []string) error {
			o.waive = ids
			return nil
		}},
		&cli.StringFlag{Name: "reason", Usage: "of the waiver", Destination: &o.reason},
	}
}
