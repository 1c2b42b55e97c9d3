package cmd

import (
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/urfave/cli/v2"
)

// lately is which of the new reflections a dream considers: those of the latest sessions. The others stay new. The zero
// value is all of them.
type lately struct {
	since time.Time // of the session's start
	last  int       // at most as many; 0 is any number
}

// latelyFlags are the options that make a lately.
type latelyFlags struct {
	since string
	last  int
}

func (f *latelyFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "since", Usage: "only new reflections on sessions begun since `WHEN`: 2026-11-01, 30d, 2w, 12h", Destination: &f.since},
		&cli.IntFlag{Name: "last", Usage: "only the `N` latest new reflections", Destination: &f.last},
	}
}

// choice reads what the options say; ifDue is whether the dream waits until it is due.
func (f *latelyFlags) choice(c *cli.Context, ifDue bool, now time.Time) (l lately, err error) {
	if c.IsSet("last") && f.last < 1 {
		return l, exit.Usage("", "--last wants 1 or more")
	}
	if l.since, err = parseSince(f.since, now); err != nil {
		return l, err
	}
	if l.last = f.last; ifDue && l != (lately{}) {
		return l, exit.Usage("what is due are all new reflections", "--if-due goes with neither --since nor --last")
	}
	return l, nil
}

// of are the chosen ones of some reflections, which are in the order of their sessions' start.
func (l lately) of(all []record.Reflection) []record.Reflection {
	for len(all) > 0 && all[0].Started.Before(l.since) {
		all = all[1:]
	}
	if l.last > 0 {
		all = all[max(0, len(all)-l.last):]
	}
	return all
}
