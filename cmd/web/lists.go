package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/approval"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// conflicts lists memories of which a merge kept several texts.
type conflicts struct {
	list
	Contested []record.Memory
}

// showConflicts lists them.
func showConflicts(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	var data conflicts
	err := d.Reader.View(ctx, func(v *record.View) error {
		data.Contested = slices.DeleteFunc(v.Memories(), func(m record.Memory) bool { return m.Status != record.Contested || !m.Live(d.Reader.Now()) })
		data.Contested, data.list = part(r, data.Contested)
		return nil
	})
	return page{View: "conflicts", Title: "Conflicts", Data: data}, err
}

// showTrust lists the authors, and the changes that are withheld from agents.
func showTrust(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	o, err := approval.List(ctx, d.Reader, false)
	return page{View: "trust", Title: "Trust", Data: o}, err
}

// session is a kept session with the results of learning from it.
type session struct {
	reflect.Kept
	Prompt   string // the first
	Memories int
}

// showSessions lists the kept sessions, the latest first.
func showSessions(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	kept, err := d.Reader.Sessions.List()
	p := page{View: "sessions", Title: "Sessions"}
	if err != nil {
		p.Notes = append(p.Notes, err.Error())
	}
	slices.SortStableFunc(kept, func(a, b reflect.Kept) int { return b.Started.Compare(a.Started) })
	data := struct {
		list
		Sessions []session
	}{}
	kept, data.list = part(r, kept)
	from := map[string]int{}
	err = d.Reader.View(ctx, func(v *record.View) error {
		for _, m := range v.Memories() {
			from[m.Source.By]++
		}
		return nil
	})
	if clone.NoMemory(err) {
		err = nil
	}
	for _, k := range kept {
		data.Sessions = append(data.Sessions, session{k, unseen.OneLine(d.Reader.Sessions.Prompt(k), 240), from[k.Name()]})
	}
	p.Data = data
	return p, err
}

// maxEvent bounds a shown event, in cells.
const maxEvent = 2000

// event is a line of a session.
type event struct {
	N          int
	Kind, Text string
}

// learned is a candidate of a session.
type learned struct {
	record.Candidate
	Memory *record.Memory // that says it, or nil
}

// showSession shows the events of a session, and the statements found in it.
func showSession(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	kept, events, err := d.Reader.Sessions.Load(r.PathValue("client") + "/" + r.PathValue("id"))
	if err != nil {
		return page{}, err
	}
	data := struct {
		reflect.Kept
		list
		Learned []learned
		Lines   []event
	}{Kept: kept}
	if n, err := strconv.Atoi(r.URL.Query().Get("event")); err == nil {
		at := slices.IndexFunc(events, func(e transcript.Event) bool { return e.N == n })
		r.URL.RawQuery = "page=" + strconv.Itoa(at/perPage+1)
	}
	events, data.list = part(r, events)
	for _, e := range events {
		data.Lines = append(data.Lines, event{e.N, string(e.Kind), unseen.OneLine(e.Brief(), maxEvent)})
	}
	err = d.Reader.View(ctx, func(v *record.View) error {
		all, err := v.Journal().ReflectionsOf(kept.Name())
		for _, r := range all {
			for _, c := range r.Candidates {
				l := learned{Candidate: c}
				if m, ok := v.Same(c.Text); ok {
					l.Memory = &m
				}
				if !slices.ContainsFunc(data.Learned, func(o learned) bool { return o.Text == c.Text }) {
					data.Learned = append(data.Learned, l)
				}
			}
		}
		return d.Reader.Tolerate(err)
	})
	if clone.NoMemory(err) {
		err = nil
	}
	title := kept.Title
	if title == "" {
		title = kept.Name()
	}
	return page{View: "session", Title: title, Data: data}, err
}

// showLoops lists the loops, the last changed first.
func showLoops(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	all, bad, err := status.All(ctx, d.Reader.Clone)
	p := page{View: "loops", Title: "Loops", Live: slices.ContainsFunc(all, running), Data: all}
	for _, b := range bad {
		p.Notes = append(p.Notes, b.Name+": "+b.Err.Error())
	}
	return p, err
}

func running(s status.Status) bool { return s.Holder != nil && !s.Phase.Over() }

// maxOutput is the number of lines that a page shows of a loop's output.
const maxOutput = 40

// showLoop shows a loop with its findings and the end of its output.
func showLoop(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	s, err := status.Read(ctx, d.Reader.Clone, r.PathValue("name"))
	if err != nil {
		return page{}, err
	}
	_, l, err := status.Open(ctx, d.Reader.Clone, s.Name)
	if err != nil {
		return page{}, err
	}
	data := struct {
		status.Status
		All   []worktree.Finding
		Lines string
	}{Status: s, All: l.Findings}
	if s.Live != nil {
		lines := strings.Split(strings.TrimRight(agent.Readable(s.Live.Text+s.Live.Rest, unseen.OneLine), "\n"), "\n")
		data.Lines = strings.Join(lines[max(0, len(lines)-maxOutput):], "\n")
	}
	return page{View: "loop", Title: s.Name, Live: running(s), Data: data}, nil
}

// maxUses bounds the shown times that a memory was given.
const maxUses = 50

// memory is a memory with everything known about it.
type memory struct {
	row
	dossier.Dossier
	Models   []string
	MoreUses int
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
		if m.Dossier, err = dossier.Collect(ctx, d.Reader, v, f.Memory); err != nil {
			return err
		}
		m.MoreUses = max(0, len(m.Uses)-maxUses)
		m.Uses = m.Uses[:len(m.Uses)-m.MoreUses]
		p = page{View: "memory", Title: m.Text, Data: m}
		return nil
	})
	return p, err
}
