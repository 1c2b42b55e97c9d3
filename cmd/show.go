package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func showCommand(env *Env) *cli.Command {
	var at string
	return &cli.Command{
		Name:      "show",
		Usage:     "show one memory, operation or skill in full",
		ArgsUsage: "ID|skills/NAME",
		Flags:     []cli.Flag{atFlag(&at)},
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.Paged(c.Context, func() error { return runShow(c.Context, env, word, at) })
		}),
	}
}

func runShow(ctx context.Context, env *Env, id, at string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.ViewAt(ctx, at, func(v *record.View) error {
		if name, ok := strings.CutPrefix(id, record.SkillDir+"/"); ok {
			return showSkill(w, v, strings.TrimSuffix(name, "/SKILL.md"))
		}
		f, err := reader.Find(ctx, w.Reader, v, id)
		if err != nil {
			return err
		}
		if o := f.Operation; o != nil {
			if env.JSON {
				return env.Object(lookJSON(*o, "", inbox.NewViewer(w.Clone, v).Look(*o)))
			}
			showOperation(w, *o, "", inbox.NewViewer(w.Clone, v).Look(*o))
			return nil
		}
		if f.Unknown != nil { // because of damaged history; the memory itself is whole
			env.Warn("cannot tell if a model proposed it: %v", f.Unknown)
		}
		if env.JSON {
			j := wire.WithCaveats(f.Memory, f.Caveats)
			j.Models = f.ModelNames()
			return env.Object(j)
		}
		if err := showMemory(ctx, w, f); err != nil || f.Shadow {
			return err
		}
		return showGiven(ctx, w, v, f.Memory)
	})
}

// showGiven shows the version that agents are given of a memory that was changed since, and the
// commands that decide.
func showGiven(ctx context.Context, w *workspace, v *record.View, m record.Memory) error {
	held, err := w.Held(ctx, v)
	if err != nil {
		return err
	}
	for _, h := range held {
		if h.ID != m.ID || h.Private != m.Private {
			continue
		}
		if g := h.Given; g != nil {
			w.env.Print("\n")
			w.env.Lay(2, term.Span(term.Bold, "given to agents meanwhile"), term.Span("", " "+string(g.Kind)+remarks(*g)))
			statement(w.env, "", g.Text)
			if g.Body != "" {
				w.env.Print("\n")
				w.env.Indent("", g.Body)
			}
		}
		w.env.Say("%s", h.Next())
	}
	return nil
}

// showSkill writes a skill's file as it is.
func showSkill(w *workspace, v *record.View, name string) error {
	text, err := v.Branch().SkillText(name)
	if errors.Is(err, gitstore.ErrNotFound) {
		return fmt.Errorf("skill %s: %w", name, record.ErrNoMemory)
	}
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(map[string]string{"path": record.SkillFile{Name: name}.Path(), "text": string(text)})
	}
	w.env.Indent("", strings.TrimSuffix(string(text), "\n"))
	return nil
}

// showMemory writes a memory as a block of facts and its text.
func showMemory(ctx context.Context, w *workspace, f reader.Found) error {
	env, m := w.env, f.Memory
	env.Lay(2, term.Span(term.Bold, m.ID), term.Span("", " "+string(m.Kind)+remarks(m)))
	for _, why := range f.Caveats.Why {
		if why != string(m.Status) { // the first line says it
			env.Lay(2, term.Span(term.Red, term.Visible(why)))
		}
	}
	failed := showFacts(ctx, w, m, f.Models)
	env.Print("\n")
	statement(env, "", m.Text)
	if m.Body != "" {
		env.Print("\n")
		env.Indent("", m.Body)
	}
	for _, v := range m.Variants {
		env.Print("\n")
		statement(env, "or: ", v.Text)
		if v.Body != "" {
			env.Indent("", v.Body)
		}
	}
	return failed
}

// statement writes a statement that is shown whole.
func statement(env *Env, lead, text string) {
	env.LayIn(min(env.Width, term.MaxMeasure), len(lead), "", []term.Styled{term.Span("", lead), term.Span(term.Bold, term.Visible(text))})
}

// showFacts writes what else is known of a memory, and which commits of the code the session made
// that it comes from. An error is about those.
func showFacts(ctx context.Context, w *workspace, m record.Memory, models []reader.ModelCommit) error {
	field := func(name, value string) {
		if value != "" {
			w.env.Row(12, name+":", value)
		}
	}
	field("source", m.Source.String())
	field("paths", strings.Join(m.Paths, " "))
	field("guards", triggerLine(m))
	field("tags", strings.Join(m.Tags, " "))
	field("topic", m.Topic)
	field("ref", m.Ref)
	field("branch", record.ParseSide(m.Branch).Label())
	for _, anchor := range m.Anchors {
		field("anchor", anchor)
	}
	field("supersedes", strings.Join(m.Supersedes, " "))
	if !m.Expires.IsZero() {
		field("expires", m.Expires.Format("2006-01-02"))
	}
	field("file", m.Path())
	for _, c := range models {
		field("a model's", c.Day+" "+strings.Join(c.Models, ", ")+", in "+c.ID[:10])
	}
	links, err := linked(ctx, w)
	if err != nil || len(links[m.Source.By]) == 0 {
		return err
	}
	for _, line := range githook.Lines(ctx, w.Local, links[m.Source.By]) {
		field("its commit", w.env.Beside(13, line))
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
	if m.Own {
		out += " · " + reader.OwnLabel
	}
	return out
}

// eventMark is an event's place in its session.
func eventMark(n int) string { return fmt.Sprintf("#%d", n) }

// short is a session's id as people can tell it apart.
func short(id string) string { return term.Visible(id[:min(12, len(id))]) }
