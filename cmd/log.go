package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

type logOptions struct {
	limit int
	patch bool
}

func logCommand(env *Env) *cli.Command {
	var o logOptions
	return &cli.Command{
		Name:      "log",
		Usage:     "show the history of the memory, or of one statement",
		ArgsUsage: "[ID]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "print at most `N` commits; 0: no limit", Destination: &o.limit},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "also print what each commit changed", Destination: &o.patch},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return exit.Usage("", "log takes at most one id")
			}
			return env.Paged(c.Context, func() error { return runLog(c.Context, env, c.Args().First(), o) })
		},
	}
}

func runLog(ctx context.Context, env *Env, id string, o logOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	ref, path, err := reader.Place(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	args := []string{"log", colourFlag(env), "--no-ext-diff", "--no-textconv"}
	if o.limit > 0 {
		args = append(args, fmt.Sprintf("--max-count=%d", o.limit))
	}
	if env.JSON {
		args = append(args, "-z", "--format="+logFormat)
		return stream(ctx, w, w.logJSON, append(append(args, ref, "--"), path...)...)
	}
	hang := subjectAt
	if o.patch {
		args, hang = append(args, "--patch"), 0
	}
	args = append(args, "--format=%C(yellow)%h%C(reset) %C(dim)%ad%C(reset) %s %C(dim)(%an)%C(reset)", "--date=short")
	return show(ctx, w, hang, append(append(args, ref, "--"), path...)...)
}

// subjectAt is the column of a subject, with ids in git's shortest form.
const subjectAt = len("0123456 2006-01-02 ")

// logFormat gives logFields texts a commit, each ended by NUL, which none of them can hold; -z ends
// the last.
const (
	logFormat = "%H%x00%aI%x00%an%x00%s%x00%(trailers:key=Reverie-Op,valueonly,separator=%x20)%x00%(trailers:key=Reverie-Session,valueonly,separator=%x20)"
	logFields = 6
)

// logJSON writes one commit a line.
func (w *workspace) logJSON(out *bufio.Reader) error {
	for {
		var f [logFields]string
		for i := range f {
			text, err := out.ReadString(0)
			if err == io.EOF && i == 0 && text == "" {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read git log: %w", err)
			}
			f[i] = strings.TrimSuffix(text, "\x00")
		}
		at, err := time.Parse(time.RFC3339, f[1])
		if err != nil {
			return fmt.Errorf("read git log: commit %s: %w", f[0], err)
		}
		err = w.env.Object(struct {
			Commit  string    `json:"commit"`
			Time    time.Time `json:"time"`
			Author  string    `json:"author"`
			Subject string    `json:"subject"`
			Op      string    `json:"op"`
			Session []string  `json:"sessions"`
		}{f[0], at.UTC(), f[2], f[3], f[4], list(strings.Fields(f[5]))})
		if err != nil {
			return err
		}
	}
}
