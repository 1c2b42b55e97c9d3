package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

const (
	maxVersions = 50
	maxUses     = 50
)

// memory is a memory with everything known about it.
type memory struct {
	row
	Models   []string
	Given    *record.Memory // agents are given this older version
	Next     string         // how to decide about that
	Anchors  []record.Anchor
	Replaces []record.Memory // by its text
	Evidence []quote
	History  []version
	Uses     []brief.Use // the latest first
	MoreUses int
	Doubt    string // why history or evidence may be missing
	Heed     *brief.Heed
}

// quote is a passage of a session that supports a memory.
type quote struct {
	Session string
	How     record.How
	Model   string
	record.Evidence
}

// version is a memory as one commit left it.
type version struct {
	history.Commit
	Gone    bool        // the commit removed it
	Words   []inbox.Run // change of the statement
	Body    []inbox.Run // change of the body
	Fields  []string    // other changes
	Unclear string      // why it cannot be read
}

// showMemory shows the memory of an id.
func showMemory(ctx context.Context, d *Desk, r *http.Request) (p page, err error) {
	id := r.PathValue("id")
	err = d.Reader.View(ctx, func(v *record.View) error {
		f, err := reader.Find(ctx, d.Reader, v, id)
		if err != nil {
			return err
		}
		if f.Operation != nil {
			return record.ErrNoMemory
		}
		m := &memory{row: row{f.Memory, marks(f.Memory, f.Caveats, d.Reader.Now()), ""}, Models: f.ModelNames()}
		ref, path, err := reader.Place(ctx, d.Reader, m.ID)
		if err != nil {
			return err
		}
		versions, err := history.Versions(ctx, d.Reader.Repo, ref, maxVersions, path...)
		if err != nil && ctx.Err() == nil { // damaged history; the memory itself is whole
			m.Doubt, err = err.Error(), nil
		}
		if err != nil {
			return err
		}
		m.fill(v, versions[path[0]], func(sessions []string) (all []record.Reflection) {
			for _, records := range []record.Records{v.Branch(), v.Journal()} {
				some, err := records.ReflectionsOf(sessions...)
				if err := d.Reader.Tolerate(err); err != nil {
					m.Doubt = err.Error()
				}
				all = append(all, some...)
			}
			return all
		})
		held, err := d.Reader.Held(ctx, v)
		for _, h := range held {
			if h.ID == m.ID && h.Private == m.Private {
				m.Given, m.Next = h.Given, h.Next()
			}
		}
		p = page{View: "memory", Title: m.Text, Data: m}
		return err
	})
	if err == nil {
		err = p.Data.(*memory).use(ctx, d.Reader)
	}
	return p, err
}

// fill adds the history, and the evidence in the reflections of sessions.
func (m *memory) fill(v *record.View, versions []history.Version, reflections func(sessions []string) []record.Reflection) {
	for _, text := range m.Memory.Anchors {
		if a, err := record.ParseAnchor(text); err == nil {
			m.Anchors = append(m.Anchors, a)
		}
	}
	for _, id := range m.Supersedes {
		if old, err := v.Find(id); err == nil {
			m.Replaces = append(m.Replaces, old)
		}
	}
	sessions := []string{m.Source.By}
	for _, one := range versions {
		m.History = append(m.History, compared(one, m.Path()))
		sessions = append(sessions, one.Sessions...)
	}
	for _, r := range reflections(sessions) {
		m.quote(r)
	}
}

// compared describes what a commit changed.
func compared(v history.Version, path string) version {
	out := version{Commit: v.Commit, Gone: v.After == nil}
	if v.Before == nil || v.After == nil {
		return out
	}
	a, err := record.ParseMemory(path, v.Before)
	b, err2 := record.ParseMemory(path, v.After)
	if err != nil || err2 != nil {
		out.Unclear = "a version cannot be read"
		return out
	}
	if a.Text != b.Text {
		out.Words = inbox.Words(a.Text, b.Text)
	}
	if a.Body != b.Body {
		out.Body = inbox.Words(a.Body, b.Body)
	}
	out.Fields = inbox.Compare(a, b).Lost
	return out
}

// quote adds the evidence of a reflection for one of the memory's texts.
func (m *memory) quote(r record.Reflection) {
	for _, c := range r.Candidates {
		print := record.Print(c.Text)
		if !slices.ContainsFunc(m.Texts(), func(t record.Variant) bool { return record.Print(t.Text).Same(print) }) {
			continue
		}
		for _, e := range c.Evidence {
			q := quote{r.Client + "/" + r.Session, c.How, r.Model, e}
			if !slices.ContainsFunc(m.Evidence, func(o quote) bool { return o.Session == q.Session && o.Event == q.Event && o.Quote == q.Quote }) {
				m.Evidence = append(m.Evidence, q)
			}
		}
	}
}

// use adds when the memory was given, and whether agents heeded it at their calls.
func (m *memory) use(ctx context.Context, r *reader.Reader) error {
	u, err := brief.UsesOf(ctx, r, brief.Ledger{Repo: r.Repo}.All(0), m.ID)
	if err != nil {
		return err
	}
	slices.Reverse(u.Times)
	m.MoreUses = max(0, len(u.Times)-maxUses)
	m.Uses = u.Times[:len(u.Times)-m.MoreUses]
	var at []brief.Injection // of this memory alone
	for _, use := range u.Times {
		use.Injection.Items = []brief.Given{use.Given}
		at = append(at, use.Injection)
	}
	table, err := brief.ReadGuards(ctx, r)
	if err != nil {
		return err
	}
	heeds := brief.Heeds(at, table, r.Repo.WorkTree, func(session string) []transcript.Event {
		_, events, _ := r.Sessions.Load(session) // it may have expired
		return events
	})
	if h, ok := heeds[m.ID]; ok {
		m.Heed = &h
	}
	return nil
}
