package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/unseen"
)

const (
	marker   = ".reverie-web" // a file in a folder that Export may write again
	perKind  = 500            // memories on a page of a kind
	newest   = 100            // memories on the first page
	maxFound = 300            // characters of a body that the script searches
)

// Export writes the pages about shared memories that agents are given into a folder: a new one, an
// empty one, or one of an earlier export. It returns their number. They hold neither history nor
// evidence, and nothing of the journal, the inbox or the sessions.
func Export(ctx context.Context, r *reader.Reader, dir string) (n int, err error) {
	to, err := openSite(dir)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	err = r.View(ctx, func(v *record.View) error {
		given, _, err := brief.Shared(ctx, r, v, r.Now())
		if err != nil {
			return err
		}
		agents, err := r.ForAgents(ctx, v)
		if err != nil {
			return err
		}
		n = len(given)
		return site{to, views(), given}.write(agents, r.Now())
	})
	return n, err
}

// openSite makes a folder for an export, and removes the pages of an earlier one.
func openSite(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	to, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		if _, there := to.Lstat(marker); there != nil {
			err = exit.New(exit.NeedsPerson, fmt.Errorf("%s: holds other files; nothing was written", dir), "name a new folder")
		}
	}
	for _, folder := range []string{"memory", "kind"} {
		if err == nil {
			err = to.RemoveAll(folder)
		}
		if err == nil {
			err = to.Mkdir(folder, 0o755)
		}
	}
	if err == nil {
		err = to.WriteFile(marker, []byte("'reverie web --export' may write this folder again\n"), 0o644)
	}
	if err != nil {
		to.Close()
		return nil, err
	}
	return to, nil
}

// site is an export.
type site struct {
	to    *os.Root
	views *template.Template
	given []brief.Item
}

// found is a memory as the search of an export knows it.
type found struct {
	ID   string   `json:"id"`
	Kind string   `json:"kind"`
	Text string   `json:"text"`
	Body string   `json:"body,omitempty"`
	Tags []string `json:"tags,omitempty"`
	By   string   `json:"by"`
}

// write writes all files of the site.
func (s site) write(v *record.View, now time.Time) error {
	kinds := map[record.Kind][]row{}
	var rows []row
	var contested, all []record.Memory
	for _, item := range s.given {
		m := &memory{row: row{Memory: item.Memory}}
		if client, _, ok := strings.Cut(m.Source.By, "/"); ok && client != "import" {
			m.Source.By = client // without the session
		}
		if item.Stale {
			m.Marks = append(m.Marks, stale)
		}
		if m.Status == record.Contested {
			m.Marks = append(m.Marks, string(record.Contested))
			contested = append(contested, m.Memory)
		}
		m.Fill(m.Memory, v)
		m.Replaces = slices.DeleteFunc(m.Replaces, func(old record.Memory) bool { return !s.has(old.ID) })
		if err := s.page("memory/"+m.ID+".html", page{View: "memory", Title: m.Text, Root: "../", Data: m}); err != nil {
			return err
		}
		rows, all = append(rows, m.row), append(all, m.Memory)
		kinds[m.Kind] = append(kinds[m.Kind], m.row)
	}
	latest := func(a, b row) int { return cmp.Or(b.Source.Time.Compare(a.Source.Time), strings.Compare(a.ID, b.ID)) }
	slices.SortFunc(rows, latest)
	for kind, of := range kinds {
		slices.SortFunc(of, latest)
		if err := s.kind(kind, of); err != nil {
			return err
		}
	}
	first := struct {
		Kinds []tally
		Rows  []row
		Total int
	}{drawn(all, now).Kinds, rows[:min(newest, len(rows))], len(rows)}
	for name, p := range map[string]page{
		"index.html":     {View: "first", Title: "Memories", Root: "./", Data: first},
		"conflicts.html": {View: "conflicts", Title: "Conflicts", Root: "./", Data: conflicts{list{}, contested}},
		"growth.html":    {View: "growth", Title: "Growth", Root: "./", Data: drawn(all, now)},
	} {
		if err := s.page(name, p); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "script.js"} {
		text, err := files.ReadFile(name)
		if err == nil {
			err = s.to.WriteFile(name, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return s.index(rows)
}

// has reports whether the site has a page about a memory.
func (s site) has(id string) bool {
	_, ok := slices.BinarySearchFunc(s.given, id, func(i brief.Item, id string) int { return strings.Compare(i.Memory.ID, id) })
	return ok
}

// kind writes the pages that list the memories of a kind.
func (s site) kind(kind record.Kind, rows []row) error {
	name := func(n int) string {
		if n == 0 {
			return string(kind) + ".html"
		}
		return fmt.Sprintf("%s-%d.html", kind, n+1)
	}
	for n := 0; n*perKind < len(rows); n++ {
		data := struct {
			list
			Rows []row
		}{list{Total: len(rows)}, rows[n*perKind : min(len(rows), (n+1)*perKind)]}
		if n > 0 {
			data.Newer = name(n - 1)
		}
		if (n+1)*perKind < len(rows) {
			data.Older = name(n + 1)
		}
		if err := s.page("kind/"+name(n), page{View: "kind", Title: "Kind: " + string(kind), Root: "../", Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// page writes a page.
func (s site) page(name string, p page) error {
	p.Static = true
	text, err := render(s.views, p)
	if err != nil {
		return err
	}
	return s.to.WriteFile(name, text, 0o644)
}

// index writes the memories for the search: a script, because a browser reads no other file for a
// page without a server.
func (s site) index(rows []row) error {
	all := make([]found, 0, len(rows))
	for _, m := range rows {
		f := found{m.ID, string(m.Kind), unseen.Visible(m.Text), unseen.OneLine(m.Body, maxFound), nil, unseen.Visible(m.Source.By)}
		for _, t := range m.Tags {
			f.Tags = append(f.Tags, unseen.Visible(t))
		}
		all = append(all, f)
	}
	var out bytes.Buffer
	out.WriteString("const memories = ")
	if err := json.NewEncoder(&out).Encode(all); err != nil {
		return err
	}
	return s.to.WriteFile("index.js", out.Bytes(), 0o644)
}
