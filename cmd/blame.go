package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func blameCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "blame",
		Usage:     "show who last changed each line of a memory",
		ArgsUsage: "ID",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Usage("'reverie list' shows the ids", "blame wants exactly one id")
			}
			return env.Paged(c.Context, func() error { return runBlame(c.Context, env, c.Args().First()) })
		},
	}
}

func runBlame(ctx context.Context, env *Env, id string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	ref, path, err := reader.Place(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	models, err := reader.ModelCommits(ctx, w.Reader, id)
	if err != nil {
		return err
	}
	args := []string{"blame", "--no-textconv", "--date=short"}
	if env.JSON {
		byModel := map[string]string{}
		for _, c := range models {
			byModel[c.ID] = strings.Join(c.Models, " ")
		}
		return stream(ctx, w, func(out *bufio.Reader) error { return w.blameJSON(out, byModel) }, append(args, "--line-porcelain", ref, "--", path[0])...)
	}
	if err := show(ctx, w, 0, append(args, ref, "--", path[0])...); err != nil {
		return err
	}
	for _, c := range models {
		env.Say("%s was proposed by %s, a model", c.ID[:8], term.Visible(strings.Join(c.Models, ", ")))
	}
	return nil
}

type blameJSON struct {
	Line   int       `json:"line"` // of the file, from 1
	Commit string    `json:"commit"`
	Author string    `json:"author"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
	Model  string    `json:"model,omitempty"` // that proposed it; several are separated by spaces
}

// blameJSON writes one line of the file a line. Git gives each as its commit, fields in lines of
// their own, and the text after a tab.
func (w *workspace) blameJSON(out *bufio.Reader, byModel map[string]string) error {
	var now blameJSON
	for {
		text, err := out.ReadString('\n')
		if err == io.EOF && text == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read git blame: %w", err)
		}
		text = strings.TrimSuffix(text, "\n")
		if line, ok := strings.CutPrefix(text, "\t"); ok {
			now.Text, now.Model = line, byModel[now.Commit]
			if err := w.env.Object(now); err != nil {
				return err
			}
			now = blameJSON{Line: now.Line}
			continue
		}
		name, value, _ := strings.Cut(text, " ")
		switch {
		case now.Commit == "":
			now.Commit = name
			now.Line++
		case name == "author":
			now.Author = value
		case name == "author-time":
			at, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("read git blame: author-time: %w", err)
			}
			now.Time = time.Unix(at, 0).UTC()
		}
	}
}
