package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func ingestCommand(env *Env) *cli.Command {
	format := string(transcript.Auto)
	return &cli.Command{
		Name:      "ingest",
		Usage:     "read transcripts into sessions, without learning",
		ArgsUsage: "FILE…|-",
		Flags:     []cli.Flag{formatFlag(&format)},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usage("to read standard input: reverie ingest -", "ingest wants at least one file")
			}
			as, err := parseFormat(format)
			if err != nil {
				return err
			}
			return runIngest(c.Context, env, c.Args().Slice(), as)
		},
	}
}

func runIngest(ctx context.Context, env *Env, files []string, format transcript.Format) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	kept, ingestErr := w.ingest(ctx, files, format)
	if len(kept) > 0 {
		if _, err := w.ensure(ctx); err != nil {
			return errors.Join(err, ingestErr)
		}
	}
	for _, k := range kept {
		if env.JSON {
			if err := env.Object(newSessionJSON(k)); err != nil {
				return err
			}
			continue
		}
		env.Print("%s\t%s\t%s\n", k.Name(), k.Change, term.Count(k.Events, "event", "events"))
	}
	if len(kept) > 0 && w.Asker() != "" {
		env.Say("read in a shell of %s: what is learned from it waits for a person; next: reverie learn", w.Asker())
	}
	return ingestErr
}

func parseFormat(name string) (transcript.Format, error) {
	if !slices.Contains(transcript.Formats, transcript.Format(name)) {
		return "", exit.Usage("it is one of "+joinFormats(), "%q is not a format of transcripts", name)
	}
	return transcript.Format(name), nil
}

func formatFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`FORMAT` of the transcripts: " + joinFormats(), Value: *to, Destination: to}
}

func joinFormats() string {
	var names []string
	for _, f := range transcript.Formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// ingest reads each file ("-" is standard input) into the sessions and tells what came of it. It
// goes on after a file that cannot be read, or not to its end: what was kept is returned beside the
// error, which has one line a file.
func (w *workspace) ingest(ctx context.Context, files []string, format transcript.Format) ([]reflect.Kept, error) {
	if len(files) > 0 { // before there is a folder in which anything could be noted
		w.Sessions.Scanner = redact.New(w.AllSecrets(ctx)...)
	}
	if _, err := w.Repo.StateDir(); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(w.State) }() // if nothing was kept: hooks take the folder for a memory that was started
	w.Sessions.Offered = w.Asker() != ""
	var all []reflect.Kept
	var failed []error
	for _, file := range files {
		in, err := w.ingestFile(ctx, file, format)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("ingest %s: %w", file, err))
			if len(in.Sessions) == 0 {
				continue
			}
		}
		var found redact.Report
		events := 0
		for _, k := range in.Sessions {
			found.Add(k.Redacted)
			events += k.Events
		}
		line := fmt.Sprintf("ingest   %s: %s, %s, %s", file, in.Format, term.Count(len(in.Sessions), "session", "sessions"), term.Count(events, "event", "events"))
		if found.Found > 0 {
			line += fmt.Sprintf(", %s redacted", term.Count(found.Found, "secret", "secrets"))
		}
		if in.Skipped > 0 {
			line += fmt.Sprintf(", %s skipped", term.Count(in.Skipped, "bad line", "bad lines"))
		}
		w.env.Say("%s", line)
		all = append(all, in.Sessions...)
	}
	return all, errors.Join(failed...)
}

// maxBadLines is how many bad lines of one transcript are told one by one.
const maxBadLines = 5

func (w *workspace) ingestFile(ctx context.Context, name string, format transcript.Format) (reflect.Ingested, error) {
	in := w.env.In
	if name != "-" {
		f, err := w.env.openNamed(ctx, name)
		if err != nil {
			return reflect.Ingested{}, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return reflect.Ingested{}, file.Bare(err)
		}
		if info.IsDir() {
			return reflect.Ingested{}, errors.New("is a folder; name the transcript in it")
		}
		in = f
		if !info.Mode().IsRegular() { // a FIFO may keep us waiting
			in = &term.Interruptible{Ctx: ctx, From: f}
		}
		progress := term.NewProgress(&w.env.Terminal, filepath.Base(name), in, info.Size())
		defer progress.Done()
		in = progress
	}
	bad := 0
	got, err := w.Sessions.Ingest(ctx, in, format, func(line int, err error) {
		if bad++; bad <= maxBadLines {
			w.env.Warn("%s:%d: skipped: %v", name, line, err)
		}
	})
	if bad > maxBadLines {
		w.env.Warn("%s: %d more bad lines skipped", name, bad-maxBadLines)
	}
	return got, err
}
