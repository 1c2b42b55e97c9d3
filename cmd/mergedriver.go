package cmd

import (
	"bytes"
	"fmt"
	"os"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/urfave/cli/v2"
)

func mergeDriverCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "merge-driver",
		Usage:     "merge one file for git",
		ArgsUsage: "BASE OURS THEIRS PATH",
		Description: "git calls it in a clone with this setup:\n" +
			"   git config merge.reverie.driver 'reverie merge-driver %O %A %B %P'\n" +
			"   echo '* merge=reverie' >> .git/info/attributes     (in a clone whose worktree is the memory branch)\n" +
			"The result replaces OURS. It needs no repository.",
		Action: func(c *cli.Context) error {
			if c.NArg() != 4 {
				return exit.Usage("git config merge.reverie.driver 'reverie merge-driver %O %A %B %P'", "merge-driver takes the three files and the path from git")
			}
			a := c.Args()
			return runMergeDriver(env, a.Get(0), a.Get(1), a.Get(2), a.Get(3))
		},
	}
}

func runMergeDriver(env *Env, base, ours, theirs, path string) error {
	var texts [3][]byte
	for i, file := range []string{base, ours, theirs} {
		text, err := os.ReadFile(env.path(file))
		if err != nil {
			return err
		}
		texts[i] = text
	}
	if len(texts[0]) == 0 {
		texts[0] = nil // git gives an empty file where there was none
	}
	merged, dropped, err := record.MergeFiles(path, texts[0], texts[1], texts[2])
	if err != nil {
		return err
	}
	if dropped && !bytes.Equal(texts[1], texts[2]) {
		return exit.New(exit.Negative, fmt.Errorf("%s: one file cannot hold both texts", path), "choose one, as with any git conflict")
	}
	return os.WriteFile(env.path(ours), merged, 0o644)
}
