package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
			models, err := w.modelsOf(ctx, m)
			if err != nil {
				if ctx.Err() != nil {
					return err
				}
				env.warn("whether a model proposed it cannot be told: %v", err) // of a damaged history, say; the memory itself is whole
			}
			if env.JSON {
				j := standingJSON(m, standings(m))
				for _, c := range models {
					j.Models = append(j.Models, c.models...)
				}
				slices.Sort(j.Models)
				j.Models = slices.Compact(j.Models)
				return env.object(j)
			}
			w.showMemory(m, standings(m))
			for _, c := range models {
				env.print("%s %s %s, in %s\n", env.paint(dim, pad("a model's:", 12)), c.day, visible(strings.Join(c.models, ", ")), c.id[:10])
			}
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
			return env.object(lookJSON(o, "", w.looker(v).look(o)))
		}
		w.showOperation(o, "", w.looker(v).look(o))
		return nil
	})
}

// modelsCommit is a commit that brought in what a model proposed, and a person accepted.
type modelsCommit struct {
	id     string
	day    string
	models []string
}

// modelsOf are the commits to a memory's file, the newest first, that brought in what a model proposed. The source of a
// memory never changes, so that only they tell.
func (w *workspace) modelsOf(ctx context.Context, m record.Memory) ([]modelsCommit, error) {
	ref, path, err := w.place(ctx, m.ID)
	if errors.Is(err, record.ErrNoMemory) { // it was there, and is no more
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := w.repo.Git(ctx, nil, append([]string{"log", "--no-show-signature", "--encoding=UTF-8", "--date=short",
		"--format=%H%x09%ad%x09%(trailers:key=Reverie-Model,valueonly,separator=%x09)", ref, "--"}, path...)...)
	if err != nil {
		return nil, err
	}
	var all []modelsCommit
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\t\n"), "\t")
		if len(f) > 2 {
			all = append(all, modelsCommit{f[0], f[1], f[2:]})
		}
	}
	return all, nil
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

// eventMark is an event's place in its session.
func eventMark(n int) string { return fmt.Sprintf("#%d", n) }

// short is a session's id as people can tell it apart.
func short(id string) string { return visible(id[:min(12, len(id))]) }
