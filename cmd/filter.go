package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// filter is which memories a reading command is about.
type filter struct {
	all  bool   // retired and expired ones too
	kind string // only of this kind; empty is every kind
	at   string // as the branch was at this revision; empty is now
}

// flags are the options for f. Commands that are about what is in force alone leave all out.
func (f *filter) flags(all bool) []cli.Flag {
	flags := []cli.Flag{
		kindFlag(&f.kind),
		atFlag(&f.at),
	}
	if all {
		flags = append(flags, &cli.BoolFlag{Name: "all", Usage: "retired and expired ones too", Destination: &f.all})
	}
	return flags
}

func kindFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "only of this `KIND`", Destination: to}
}

func atFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "at", Usage: "as it was at `REV`: a commit or tag of the code or of the memory branch, ~3, @{yesterday}", Destination: to}
}

// read opens the repository and runs fn on the memories that f lets through, in the order of
// ids, and for an agent without what is withheld for who changed it. Files that cannot be read are told.
func (f filter) read(ctx context.Context, env *Env, fn func(*workspace, []record.Memory, func(record.Memory) reader.Caveats) error) error {
	if f.kind != "" {
		if _, err := parseKind(f.kind); err != nil {
			return err
		}
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.ViewAt(ctx, f.at, func(all *record.View) error {
		v, err := w.ForAsker(ctx, all)
		if err != nil {
			return err
		}
		w.tellBad(v)
		if f.at == "" {
			w.tellLost(ctx)
		}
		standings, err := w.Caveats(ctx, v)
		if err != nil {
			return err
		}
		found := slices.DeleteFunc(v.Memories(), func(m record.Memory) bool {
			return !f.all && !m.Live(env.Now()) || f.kind != "" && string(m.Kind) != f.kind
		})
		if v != all {
			held, err := w.Held(ctx, all)
			if err != nil {
				return err
			}
			w.tellShielded(len(held))
		}
		return fn(w, found, standings)
	})
}

// tellBad names files of memories that cannot be read.
func (w *workspace) tellBad(v *record.View) {
	var why []string
	for _, bad := range v.Bad() {
		why = append(why, bad.Error())
	}
	w.tellPassedOver(why)
}

// tellPassedOver says why files cannot be read, a line for each. That quotes their names and what they hold, which anybody may have
// written who can push: an agent is told how many they are, and nothing of it.
func (w *workspace) tellPassedOver(why []string) {
	if len(why) > 0 && w.Shields() {
		w.env.Warn("%s cannot be read and passed over; a person sees why with 'reverie check'", term.Count(len(why), "file", "files"))
		return
	}
	for _, one := range why {
		w.env.Warn("passed over: %s", strings.ReplaceAll(one, "\n", "^J"))
	}
}

// tellLost says if the last commits made here are not in the branch or the journal any more.
func (w *workspace) tellLost(ctx context.Context) {
	for _, s := range []*gitstore.Store{w.Memory, gitstore.Open(w.Repo, clone.JournalRef)} {
		if lost, err := s.Lost(ctx); err == nil && lost != "" {
			w.env.Warn("%s does not reach %s, the last commit made here: what that added is not listed; see: reverie check", s.Ref(), lost)
		}
	}
}
