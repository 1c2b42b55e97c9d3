package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/internal/period"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func kvCommand(env *Env) *cli.Command {
	var ttl, prefix string
	return &cli.Command{
		Name:      "kv",
		Usage:     "keep short-lived values for the next session",
		ArgsUsage: "COMMAND",
		Description: "Keeps notes from one session to the next for some days: a stopping point, a port, a list of files.\n" +
			"They stay in this clone, without secrets, and nothing is learned from them. For lasting knowledge:\n" +
			"reverie remember.",
		Subcommands: []*cli.Command{
			{Name: "set", ArgsUsage: "KEY TEXT|-", Usage: "store a value; - reads standard input",
				Flags: []cli.Flag{&cli.StringFlag{Name: "ttl", Usage: "keep it for `TIME`: 90m, 12h, 7d, 2w", Value: period.Short(kv.TTL), Destination: &ttl}},
				Action: usage.Takes(2, 2, func(c *cli.Context, words, _ []string) error {
					value, err := value(env, words[1])
					if err != nil {
						return err
					}
					return runKVSet(c.Context, env, words[0], value, ttl)
				})},
			{Name: "get", ArgsUsage: "KEY", Usage: "print a value; exit 1 if it is missing",
				Action: usage.One(func(c *cli.Context, word string) error {
					return env.with(c.Context, func(w *workspace) error { return runKVGet(w, word) })
				})},
			{Name: "list", Usage: "list the values, newest first",
				Flags: []cli.Flag{&cli.StringFlag{Name: "prefix", Usage: "list only keys that begin with `TEXT`, taken literally", Destination: &prefix}},
				Action: usage.Alone(func(c *cli.Context) error {
					return env.paged(c.Context, func(w *workspace) error { return runKVList(w, prefix) })
				})},
			{Name: "delete", ArgsUsage: "KEY…", Usage: "delete values; exit 1 if they are missing",
				Action: usage.Takes(1, kv.MaxKeys, func(c *cli.Context, words, _ []string) error {
					return env.with(c.Context, func(w *workspace) error { return runKVDelete(c.Context, w, words) })
				})},
		},
		Action: usage.NoVerb,
	}
}

func (w *workspace) kv() kv.Store { return kv.Store{Repo: w.Repo, Scanner: w.Scanner, Now: w.env.Now} }

// value returns an argument, or standard input if it is "-".
func value(env *Env, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	const most = 2 * kv.MaxValue // before redaction it may be longer than kept text
	data, err := io.ReadAll(io.LimitReader(env.In, most+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > most {
		return "", exit.Usage(fmt.Sprintf("the limit is %d", kv.MaxValue), "the value on standard input has more than %d bytes", most)
	}
	return string(data), nil
}

func runKVSet(ctx context.Context, env *Env, key, value, ttl string) error {
	keep, ok := period.Parse(ttl)
	if !ok {
		return exit.Usage("use 90m, 12h, 7d or 2w", "--ttl: %q is not a time", ttl)
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if !w.Started() { // a note does not undo an uninstall
		return gitstore.ErrNoStore
	}
	e, err := w.kv().Set(ctx, key, value, keep)
	if err != nil {
		return err
	}
	if e.Redacted > 0 {
		env.Warn("%s redacted; 'reverie kv get %s' shows what was kept", plural.Count(e.Redacted, "secret was", "secrets were"), e.Key)
	}
	if env.JSON {
		return env.Object(e)
	}
	env.Say("kept until %s", e.Expires.Local().Format("2006-01-02 15:04"))
	return nil
}

func runKVGet(w *workspace, key string) error {
	e, err := w.kv().Get(key)
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(e)
	}
	w.env.Raw(e.Value)
	return nil
}

func runKVList(w *workspace, prefix string) error {
	all, err := w.kv().List(prefix)
	if err != nil && !errors.Is(err, kv.ErrDamaged) {
		return err
	}
	for _, one := range record.Errors(err) {
		w.env.Warn("passed over: %v", one)
	}
	width := 0
	for _, e := range all {
		width = max(width, min(len(e.Key), 40))
	}
	if len(all) == 0 {
		w.env.Say("nothing is kept")
	}
	return rows(w.env, all, itself, func(e kv.Entry) {
		left := period.Short(e.Expires.Sub(w.env.Now()))
		w.env.Lay(width+2, term.Span(term.Bold, term.Pad(term.Visible(e.Key), width)), term.Span(term.Dim, fmt.Sprintf("  %5s  ", left)), term.Span("", term.OneLine(e.Value, 50)))
	})
}

func runKVDelete(ctx context.Context, w *workspace, keys []string) error {
	var failed []error
	for _, key := range keys {
		if err := w.kv().Delete(ctx, key); err != nil {
			failed = append(failed, err)
			continue
		}
		if w.env.JSON {
			failed = append(failed, w.env.Object(map[string]string{"key": key}))
		}
	}
	return kv.Join(failed...)
}
