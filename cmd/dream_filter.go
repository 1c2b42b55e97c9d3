package cmd

import (
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/urfave/cli/v2"
)

// filterFlags are the flags that select new reflections by their sessions.
type filterFlags struct {
	since string
	last  int
}

func (f *filterFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "since", Usage: "use only new reflections on sessions begun since `WHEN`: 2026-11-01, 30d, 2w, 12h", Destination: &f.since},
		&cli.IntFlag{Name: "last", Usage: "use only the `N` latest new reflections", Destination: &f.last},
	}
}

// filter reads the flags. With ifDue the dream waits until it is due.
func (f *filterFlags) filter(c *cli.Context, ifDue bool, now time.Time) (which dreams.SessionFilter, err error) {
	if c.IsSet("last") && f.last < 1 {
		return which, exit.Usage("", "--last must be 1 or more")
	}
	if which.Since, err = parseSince(f.since, now); err != nil {
		return which, err
	}
	if which.Last = f.last; ifDue && which != (dreams.SessionFilter{}) {
		return which, exit.Usage("--if-due uses all new reflections", "--if-due excludes --since and --last")
	}
	return which, nil
}
