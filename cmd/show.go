package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

func showCommand(env *Env) *cli.Command {
	var at string
	return &cli.Command{
		Name:      "show",
		Usage:     "show one memory, one operation that waits, or one skill, whole",
		ArgsUsage: "ID|skills/NAME",
		Flags:     []cli.Flag{atFlag(&at)},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("'reverie list' shows the ids", "show wants exactly one id")
			}
			return runShow(c.Context, env, c.Args().First(), at)
		},
	}
}

func runShow(ctx context.Context, env *Env, id, at string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.viewAt(ctx, at, func(v *record.View) error {
		if name, ok := strings.CutPrefix(id, record.SkillDir+"/"); ok {
			return w.showSkill(v, strings.TrimSuffix(name, "/SKILL.md"))
		}
		m, err := v.Find(id)
		if err == nil {
			standings, err := w.standings(ctx, v)
			if err != nil {
				return err
			}
			if env.JSON {
				return env.object(standingJSON(m, standings(m)))
			}
			w.showMemory(m, standings(m))
			return w.showCommits(ctx, m)
		}
		pending, perr := w.pending(v)
		if perr != nil {
			return perr
		}
		o, operr := record.FindOperation(pending, id)
		if operr != nil {
			return err
		}
		if env.JSON {
			return env.object(newOperationJSON(o, ""))
		}
		w.showOperation(o, "")
		return nil
	})
}

// showSkill writes a skill's file as it is.
func (w *workspace) showSkill(v *record.View, name string) error {
	text, err := v.SkillText(name)
	if errors.Is(err, gitstore.ErrNotFound) {
		return fmt.Errorf("skill %s: %w", name, record.ErrNoMemory)
	}
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.object(map[string]string{"path": record.SkillFile{Name: name}.Path(), "text": string(text)})
	}
	w.env.indent("", strings.TrimSuffix(string(text), "\n"))
	return nil
}

func (w *workspace) showMemory(m record.Memory, s standing) {
	env := w.env
	env.print("%s %s%s\n", env.paint(bold, m.ID), m.Kind, remarks(m))
	for _, why := range s.Why {
		if why == string(m.Status) { // the first line says it
			continue
		}
		env.print("%s\n", env.paint(red, visible(why)))
	}
	for _, l := range env.wrap(visible(m.Text), 0) {
		env.print("%s\n", env.paint(bold, l))
	}
	if m.Body != "" {
		env.print("\n")
		env.indent("", m.Body)
	}
	for _, v := range m.Variants {
		env.print("\nor: %s\n", env.paint(bold, visible(v.Text)))
		if v.Body != "" {
			env.indent("", v.Body)
		}
	}
	env.print("\n")
	field := func(name, value string) {
		if value != "" {
			env.print("%s %s\n", env.paint(dim, pad(name+":", 12)), visible(value))
		}
	}
	field("source", m.Source.String())
	field("paths", strings.Join(m.Paths, " "))
	field("tags", strings.Join(m.Tags, " "))
	field("topic", m.Topic)
	field("ref", m.Ref)
	field("branch", sideText(m))
	for _, anchor := range m.Anchors {
		field("anchor", anchor)
	}
	field("supersedes", strings.Join(m.Supersedes, " "))
	if !m.Expires.IsZero() {
		field("expires", m.Expires.Format("2006-01-02"))
	}
	field("file", m.Path())
}

// showCommits tells which commits of the code the session made that a memory comes from.
func (w *workspace) showCommits(ctx context.Context, m record.Memory) error {
	links, err := w.linked(ctx)
	if err != nil || len(links[m.Source.By]) == 0 {
		return err
	}
	for _, line := range w.commitLines(ctx, links[m.Source.By]) {
		w.env.print("%s %s\n", w.env.paint(dim, pad("its commit:", 12)), oneLine(line, max(40, w.env.Width-14)))
	}
	return nil
}

func remarks(m record.Memory) string {
	out := ""
	if m.Status != record.Active {
		out += " · " + string(m.Status)
	}
	if m.Private {
		out += " · private"
	}
	return out
}

// maxSightings is how many sightings of an operation are shown; JSON has them all.
const maxSightings = 4

// showOperation writes an operation with what it rests on.
func (w *workspace) showOperation(o record.Operation, waits string) {
	env := w.env
	m := o.Memory
	env.print("%s %s %s · %s, %s\n", env.paint(bold, o.ID[:8]), opVerb(o), m.Kind, o.How, count(record.Sessions(o.Sightings), "session", "sessions"))
	for _, l := range env.wrap(visible(m.Text), 2) {
		env.print("  %s\n", env.paint(bold, l))
	}
	if m.Body != "" {
		env.indent("  ", m.Body)
	}
	if o.Op == record.Skill {
		env.print("  %s %s\n", env.paint(dim, "file:"), visible(o.Path))
		env.indent("    ", strings.TrimSuffix(o.File, "\n"))
	}
	if len(m.Paths) > 0 {
		env.print("  %s %s\n", env.paint(dim, "paths:"), visible(strings.Join(m.Paths, " ")))
	}
	if m.Branch != "" {
		env.print("  %s %s\n", env.paint(dim, "only on:"), visible(sideText(m)))
	}
	for i, s := range o.Sightings {
		if i == maxSightings {
			env.print("  %s\n", env.paint(dim, fmt.Sprintf("… and %s", count(len(o.Sightings)-i, "more sighting", "more sightings"))))
			break
		}
		for _, e := range s.Evidence {
			env.print("  %s %s\n", env.paint(dim, fmt.Sprintf("%s/%s #%d:", s.Client, short(s.Session), e.Event)), oneLine(e.Quote, max(40, env.Width-30)))
		}
	}
	if o.Why != "" {
		env.print("  %s %s\n", env.paint(dim, "because:"), visible(o.Why))
	}
	for _, base := range o.Base {
		env.print("  %s %s\n", env.paint(dim, "takes the place of:"), base.ID[:8])
	}
	for _, id := range o.Contradicts {
		env.print("  %s %s\n", env.paint(red, "contradicts:"), id[:8])
	}
	for _, id := range o.Alike {
		env.print("  %s %s\n", env.paint(dim, "much like:"), id[:8])
	}
	if waits != "" {
		env.print("  %s %s\n", env.paint(dim, "waits because:"), waits)
	}
}

// short is a session's id as people can tell it apart.
func short(id string) string { return visible(id[:min(12, len(id))]) }
