// Package web shows a clone's memory as web pages. Listen serves them to a browser on this machine,
// and Export writes those about shared memories as files. A Server answers several requests at
// once, each with a Desk of its own.
//
// No page holds an inline script or style, and every stored text is escaped. A door checks each
// request before a page sees it.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/worktree"
)

//go:embed pages.html style.css script.js
var files embed.FS

// Desk is the clone as one request sees it.
type Desk struct {
	Reader  *reader.Reader
	Learner *learn.Learner
	Keeper  *remember.Keeper
	Done    func(context.Context) // does the upkeep after a decision

	since time.Time // decisions from then on can be undone
}

// Server serves the pages of one clone.
type Server struct {
	URL string // to open once

	open   func(ctx context.Context, notes io.Writer) (*Desk, error)
	listen net.Listener
	door   *door
	parent int // the process that started this one
	views  *template.Template
	said   atomic.Pointer[string] // about the last decision, until a page shows it
	since  time.Time              // of the start
}

// Listen takes a free port of the loopback address. open opens the clone for one request; its notes
// appear on the page.
func Listen(open func(ctx context.Context, notes io.Writer) (*Desk, error)) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := newDoor(l.Addr().String())
	return &Server{URL: d.origin() + "/enter?ticket=" + d.ticket, open: open, listen: l, door: d, parent: os.Getppid(), views: views(), since: time.Now()}, nil
}

// Serve answers requests until ctx or the parent of this process ends. With open it opens the
// user's browser, and reports if that fails.
func (s *Server) Serve(ctx context.Context, open bool, failed func(error)) error {
	ctx, cancel := withParent(ctx, s.parent)
	defer cancel()
	if open {
		go func() {
			if err := browse(s.URL); err != nil {
				failed(err)
			}
		}()
	}
	server := &http.Server{Handler: s.door.before(s.pages()), ReadTimeout: 10 * time.Second, WriteTimeout: maxReply + 5*time.Second, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() {
		ctx, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pages routes requests.
func (s *Server) pages() http.Handler {
	mux := http.NewServeMux()
	for path, show := range map[string]func(context.Context, *Desk, *http.Request) (page, error){
		"/{$}":                   showSearch,
		"/memory/{id}":           showMemory,
		"/inbox":                 showInbox,
		"/conflicts":             showConflicts,
		"/trust":                 showTrust,
		"/sessions":              showSessions,
		"/session/{client}/{id}": showSession,
		"/loops":                 showLoops,
		"/loop/{name}":           showLoop,
		"/growth":                showGrowth,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, show) })
	}
	mux.HandleFunc("POST /inbox/{id}/{verb}", s.deciding(decide))
	mux.HandleFunc("POST /inbox/{verb}", s.deciding(decide))
	mux.HandleFunc("POST /undo", s.deciding(takeBack))
	for _, name := range []string{"style.css", "script.js"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) })
	}
	return mux
}

// page holds the contents of a template.
type page struct {
	View    string // name of the template
	Title   string
	Problem string
	Hint    string
	Data    any
	Live    bool // it changes by itself

	Root    string // path of the first page, relative to this one or absolute
	Static  bool   // a file, without a server behind it
	Form    string // see door.form
	Notes   []string
	Said    string // about the last decision
	Waiting int    // pending operations
}

// With returns the page with other data, for a part of it.
func (p page) With(data any) page {
	p.Data = data
	return p
}

// Here reports whether the page is one of the menu.
func (p page) Here(view string) bool { return p.View == view }

// Session returns the address of a session "<client>/<id>".
func (p page) Session(name string) string {
	client, id, _ := strings.Cut(name, "/")
	return p.Link("session", client, id)
}

// Home returns the address of the first page.
func (p page) Home() string {
	if p.Static {
		return p.Root + "index.html"
	}
	return p.Root
}

// Policy is the Content-Security-Policy of a file, which has no headers.
func (p page) Policy() string { return policy }

// Link returns the address of a page about something, such as a memory.
func (p page) Link(about string, ids ...string) string {
	for _, id := range ids {
		about += "/" + url.PathEscape(id)
	}
	if p.Static {
		about += ".html"
	}
	return p.Root + about
}

// desk opens the clone for a request. Only a person gets it.
func (s *Server) desk(ctx context.Context, notes io.Writer) (*Desk, error) {
	d, err := s.open(ctx, notes)
	if err == nil {
		d.since = s.since
		err = d.Reader.WantPerson("web")
	}
	return d, err
}

// serve opens the clone and shows a page.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, show func(context.Context, *Desk, *http.Request) (page, error)) {
	var notes bytes.Buffer
	var p page
	d, err := s.desk(r.Context(), &notes)
	if err == nil {
		if p, err = show(r.Context(), d, r); err == nil || p.View != "" {
			p.Waiting = record.CountOperations(r.Context(), gitstore.Open(d.Reader.Repo, clone.InboxRef))
		}
	}
	s.answer(w, p, err, notes.String())
}

// deciding carries out a decision, and leads back to the inbox.
func (s *Server) deciding(decide func(context.Context, *Desk, *http.Request) (said string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var notes bytes.Buffer
		var said string
		d, err := s.desk(r.Context(), &notes)
		if err == nil {
			if said, err = decide(r.Context(), d, r); err == nil {
				d.Done(r.Context())
			}
		}
		if err != nil {
			s.answer(w, page{}, err, notes.String())
			return
		}
		said = strings.TrimSpace(said + "\n" + notes.String())
		s.said.Store(&said)
		http.Redirect(w, r, s.door.place+"inbox", http.StatusSeeOther)
	}
}

// answer writes a page, or an error without one.
func (s *Server) answer(w http.ResponseWriter, p page, err error, notes string) {
	code := http.StatusOK
	if err != nil {
		if p.View == "" {
			p.View, p.Title, code = "problem", "Problem", statusOf(err)
		}
		_, p.Hint = hint.For(err)
		p.Problem = err.Error()
	}
	p.Root, p.Form = s.door.place, s.door.form
	if said := s.said.Swap(nil); said != nil {
		p.Said = *said
	}
	p.Notes = append(p.Notes, strings.FieldsFunc(notes, func(r rune) bool { return r == '\n' })...)
	text, err := render(s.views, p)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(text)
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	var known *exit.Error
	switch {
	case errors.Is(err, record.ErrNoMemory), errors.Is(err, reflect.ErrNoSession), errors.Is(err, worktree.ErrNoLoop):
		return http.StatusNotFound
	case record.Undecidable(err), errors.Is(err, errOther):
		return http.StatusConflict
	case errors.As(err, &known) && known.Code == exit.BadUsage:
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// views parses the templates.
func views() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"day":   func(t time.Time) string { return dated(t, time.DateOnly) },
		"time":  func(t time.Time) string { return dated(t, "2006-01-02 15:04") },
		"count": plural.Count,
		"join":  strings.Join,
		"next":  func(n int) int { return n + 1 },
		"short": func(id string) string { return id[:min(8, len(id))] },
		"side":  func(branch string) string { return record.ParseSide(branch).Label() },
	}).ParseFS(files, "pages.html"))
}

func dated(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(layout)
}

// render fills the template of a page.
func render(views *template.Template, p page) ([]byte, error) {
	var out bytes.Buffer
	if err := views.ExecuteTemplate(&out, p.View, p); err != nil {
		return nil, fmt.Errorf("page %s: %w", p.View, err)
	}
	return visible(out.Bytes()), nil
}

// visible replaces the characters of a page that could hide or reverse text by their names. The
// templates have none.
func visible(page []byte) []byte {
	text := string(page)
	if unseen.Visible(text) == text {
		return page
	}
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if name := unseen.Visible(string(r)); name != string(r) && !unseen.Joins(runes, i) {
			b.WriteString(template.HTMLEscapeString(name))
		} else {
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}
