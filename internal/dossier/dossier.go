// Package dossier collects everything known about one memory: its history, evidence and use, and
// the memories beside it. Begin with Collect. A filled Dossier is plain data, and safe to share.
package dossier

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
)

const (
	// MaxVersions bounds the history of a memory, in commits.
	MaxVersions = 50

	maxRelated = 5
	minShared  = 0.4 // of the words of two related statements
)

// Dossier holds what is known about a memory besides its own file.
type Dossier struct {
	Given    *record.Memory // agents are given this older version
	Next     string         // how to decide about that
	Anchors  []record.Anchor
	Replaces []record.Memory // by its text
	Related  []record.Memory // in force: on its topic, or much like it
	Evidence []Quote
	History  []Version   // the newest first
	Uses     []brief.Use // the latest first
	Sessions int         // that were given it
	Heed     brief.Heed
	Doubt    string // why history or evidence may be missing
}

// Quote is a passage of a session that supports a memory.
type Quote struct {
	Session string
	How     record.How
	Model   string
	record.Evidence
}

// Version is a memory as one commit left it.
type Version struct {
	history.Commit
	Was, Now *record.Memory // nil: it did not exist, or it is Unclear
	Words    []inbox.Run    // change of the statement
	Body     []inbox.Run    // change of the body
	Fields   []string       // other changes, each "name: before → after"
	Unclear  string         // why it cannot be read
}

// Gone reports whether the commit removed the memory.
func (v Version) Gone() bool { return v.Now == nil && v.Unclear == "" }

// Collect returns the dossier of a memory in a view, as the asker may see it. Parts that damage
// hides are missing, and Doubt says why: the memory itself is whole. An error is the context's.
func Collect(ctx context.Context, r *reader.Reader, v *record.View, m record.Memory) (d Dossier, err error) {
	for _, part := range []func(context.Context, *reader.Reader, *record.View, record.Memory) error{d.use, d.past, d.held} {
		err := part(ctx, r, v, m)
		switch {
		case ctx.Err() != nil:
			return d, ctx.Err()
		case errors.Is(err, record.ErrNoMemory): // only another state has it
			return d, nil
		case err != nil:
			d.Doubt = err.Error()
		}
		if m.Own { // another repository has the rest
			break
		}
	}
	return d, nil
}

// use adds the sessions that were given the memory.
func (d *Dossier) use(ctx context.Context, r *reader.Reader, _ *record.View, m record.Memory) error {
	u, err := brief.UsesOf(ctx, r, brief.Ledger{Repo: r.Repo}.All(0), m.ID)
	if err == nil {
		d.Uses, d.Sessions, d.Heed = u.Times, u.Sessions(), u.Heed
		slices.Reverse(d.Uses)
	}
	return err
}

// past adds history, evidence and related memories.
func (d *Dossier) past(ctx context.Context, r *reader.Reader, v *record.View, m record.Memory) error {
	ref, path, err := reader.Place(ctx, r, m.ID)
	if err != nil {
		return err
	}
	versions, doubt := history.Versions(ctx, r.Repo, ref, MaxVersions, path...)
	asked, err := r.ForAsker(ctx, v)
	if err != nil {
		return errors.Join(doubt, err)
	}
	d.Fill(m, asked)
	sessions := []string{m.Source.By}
	for _, one := range versions[path[0]] {
		d.History = append(d.History, Compare(one))
		sessions = append(sessions, one.Behind(m.ID)...)
	}
	for _, records := range []record.Records{v.Branch(), v.Journal()} {
		some, err := records.ReflectionsOf(sessions...)
		doubt = errors.Join(doubt, r.Tolerate(err))
		for _, r := range some {
			d.quote(m, r)
		}
	}
	d.relate(m, asked, r)
	return doubt
}

// held adds the version that agents are given of a memory that was changed since.
func (d *Dossier) held(ctx context.Context, r *reader.Reader, v *record.View, m record.Memory) error {
	held, err := r.Held(ctx, v)
	for _, h := range held {
		if h.ID == m.ID && h.Private == m.Private {
			d.Given, d.Next = h.Given, h.Next()
		}
	}
	return err
}

// Fill adds the code that the memory rests on, and the memories that it replaces.
func (d *Dossier) Fill(m record.Memory, v *record.View) {
	for _, text := range m.Anchors {
		if a, err := record.ParseAnchor(text); err == nil {
			d.Anchors = append(d.Anchors, a)
		}
	}
	for _, id := range m.Supersedes {
		if old, err := v.Find(id); err == nil {
			d.Replaces = append(d.Replaces, old)
		}
	}
}

// Compare describes what a commit changed of a memory.
func Compare(v history.Version) Version {
	out := Version{Commit: v.Commit}
	for _, side := range []struct {
		text []byte
		of   **record.Memory
	}{{v.Before, &out.Was}, {v.After, &out.Now}} {
		if side.text == nil {
			continue
		}
		m, err := record.ParseMemory(v.Path, side.text)
		if err != nil {
			return Version{Commit: v.Commit, Unclear: "a version cannot be read"}
		}
		*side.of = &m
	}
	if a, b := out.Was, out.Now; a != nil && b != nil {
		if a.Text != b.Text {
			out.Words = inbox.Words(a.Text, b.Text)
		}
		if a.Body != b.Body {
			out.Body = inbox.Words(a.Body, b.Body)
		}
		out.Fields = inbox.Compare(*a, *b).Lost
	}
	return out
}

// Some of the verbs that Version.Verb returns.
const (
	Changed = "changed"
	Retired = "retired"

	contested = "left two texts of"
)

// Verb names what the commit did to the memory, in the past tense.
func (v Version) Verb() string {
	was := func(s record.Status) bool { return v.Was != nil && v.Was.Status == s }
	switch {
	case v.Unclear != "":
		return Changed
	case v.Now == nil:
		return "removed"
	case v.Now.Status == record.Retired && !was(record.Retired):
		return Retired
	case v.Was == nil:
		return "added"
	case was(record.Retired) && v.Now.Status != record.Retired:
		return "restored"
	case v.Now.Status == record.Contested && !was(record.Contested):
		return contested
	}
	return Changed
}

// Tally counts changes by their verbs, such as "2 added, 1 changed".
func Tally(all []Version) string {
	n := map[string]int{}
	for _, v := range all {
		verb := v.Verb()
		if verb == contested {
			verb = "contested"
		}
		n[verb]++
	}
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, plural.Count(n[verb], verb, verb))
	}
	return strings.Join(parts, ", ")
}

// quote adds the evidence of a reflection for one of the memory's texts.
func (d *Dossier) quote(m record.Memory, r record.Reflection) {
	for _, c := range r.Candidates {
		print := record.Print(c.Text)
		if !slices.ContainsFunc(m.Texts(), func(t record.Variant) bool { return record.Print(t.Text).Same(print) }) {
			continue
		}
		for _, e := range c.Evidence {
			q := Quote{r.Client + "/" + r.Session, c.How, r.Model, e}
			if !slices.ContainsFunc(d.Evidence, func(o Quote) bool { return o.Session == q.Session && o.Event == q.Event && o.Quote == q.Quote }) {
				d.Evidence = append(d.Evidence, q)
			}
		}
	}
}

// relate adds the memories that replace this one, those on its topic, and those much like it.
func (d *Dossier) relate(m record.Memory, v *record.View, r *reader.Reader) {
	var replacing, topic []record.Memory
	for _, o := range v.Memories() {
		switch {
		case slices.Contains(o.Supersedes, m.ID):
			replacing = append(replacing, o)
		case m.Topic != "" && o.Topic == m.Topic:
			topic = append(topic, o)
		}
	}
	for _, o := range slices.Concat(replacing, topic, v.Alike(m.Text, minShared)) {
		if o.ID != m.ID && o.Live(r.Now()) && len(d.Related) < maxRelated && !slices.ContainsFunc(d.Related, func(x record.Memory) bool { return x.ID == o.ID }) {
			d.Related = append(d.Related, o)
		}
	}
}

// Edits counts the changes of a memory since it was added. It returns their authors, each once, and
// the last change. The history has MaxVersions commits at most.
func (d Dossier) Edits() (n int, by []string, last *Version) {
	for i, v := range d.History {
		if v.Was == nil && v.Unclear == "" {
			continue
		}
		if n++; last == nil {
			last = &d.History[i]
		}
		if !slices.Contains(by, v.Author) {
			by = append(by, v.Author)
		}
	}
	return n, by, last
}

// Author returns the commit that added the memory, or nil if the history lacks it.
func (d Dossier) Author() *Version {
	for i := len(d.History) - 1; i >= 0; i-- {
		if d.History[i].Was == nil && d.History[i].Now != nil {
			return &d.History[i]
		}
	}
	return nil
}
