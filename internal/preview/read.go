package preview

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// studied is a session after reflection.
type studied struct {
	record.Reflection
	failed []reflect.Failed
}

// maxReaders bounds the sessions that are in memory at once.
const maxReaders = 8

// read studies sessions, the latest first, several at once, and counts them. It returns when all
// are studied or ctx ends. A reader inside a session then ends by itself, soon after.
func (p *Preview) read(ctx context.Context, from Source, scan *redact.Scanner, sessions []past.Session) (all []studied) {
	type result struct {
		of  past.Session
		got []studied
		err error
	}
	todo, results := make(chan past.Session, len(sessions)), make(chan result, len(sessions))
	for _, s := range slices.Backward(sessions) {
		todo <- s
		if s.Parent == "" {
			p.Unread++
		}
	}
	close(todo)
	for range min(runtime.GOMAXPROCS(0), maxReaders) {
		go func() {
			for s := range todo {
				r := result{of: s}
				r.err = ingest.Read(ctx, from.Clone, scan, s, func(head transcript.Session, events []transcript.Event) error {
					reflection, failed := reflect.Examine(head, events)
					r.got = append(r.got, studied{reflection, failed})
					return nil
				})
				if ctx.Err() != nil {
					return
				}
				results <- r
			}
		}()
	}
	step := func(n int, agent string) {
		if from.Step != nil && len(sessions) > 0 {
			from.Step(n, len(sessions), agent)
		}
	}
	defer func() { step(len(sessions), "") }()
	for n := range sessions {
		select {
		case <-ctx.Done():
			return all
		case r := <-results:
			step(n, r.of.Client)
			all = append(all, r.got...)
			switch {
			case r.of.Parent != "":
				continue
			case r.err != nil:
				p.Unreadable++
			default:
				p.Sessions++
			}
			p.Unread--
		}
	}
	return all
}

// order sorts sessions by their start, and finds the first and the last.
func (p *Preview) order(all []studied) {
	slices.SortFunc(all, func(a, b studied) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID(), b.ID()))
	})
	for _, s := range all {
		if s.Started.IsZero() {
			continue
		}
		if p.First.IsZero() {
			p.First = s.Started
		}
		p.Last = s.Started
	}
}

// lesson is the remedy of a failure.
type lesson struct {
	Statement
	record.Trigger
}

// fail lists the failures that came back or whose remedy is known, by the sessions that had them.
func (p *Preview) fail(all []studied, lessons []lesson) {
	type class struct {
		Failure
		in     map[string]bool // sessions
		remedy int             // index of a lesson, -1 for none
	}
	type key struct{ command, error string }
	classes := map[key]*class{}
	told := map[string]bool{} // a session that continues another begins with a copy of it
	var order []*class
	for _, s := range all {
		for _, f := range s.failed {
			copied := f.Time.String() + f.Command + f.Error
			if !f.Time.IsZero() && told[copied] {
				continue
			}
			told[copied] = true
			c := classes[key{f.Command, f.Error}]
			if c == nil {
				c = &class{Failure: Failure{Command: f.Command, Error: f.Error}, in: map[string]bool{}}
				c.remedy = slices.IndexFunc(lessons, func(l lesson) bool { return f.Matches(l.Trigger) })
				classes[key{f.Command, f.Error}] = c
				order = append(order, c)
			}
			c.Times += f.Times
			c.in[cmp.Or(s.Parent, s.Session)] = true
			c.Agent, c.Time = s.Client, f.Time
		}
	}
	shown := make([]bool, len(lessons))
	for _, c := range order {
		c.Sessions = len(c.in)
		if c.remedy >= 0 {
			c.Lesson, c.Keep, shown[c.remedy] = lessons[c.remedy].Text, lessons[c.remedy].Keep, true
		}
		if c.Sessions > 1 || c.Lesson != "" {
			p.Failures = append(p.Failures, c.Failure)
		}
	}
	for i, l := range lessons {
		if !shown[i] {
			p.Lessons = append(p.Lessons, l.Statement)
		}
	}
	slices.SortStableFunc(p.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), first(a.Lesson != "", b.Lesson != ""), cmp.Compare(b.Times, a.Times), b.Time.Compare(a.Time))
	})
}

// better puts first the statement that learn would keep, then the one that more sessions show, then
// the later.
func better(a, b Statement) int {
	return cmp.Or(first(a.Keep, b.Keep), cmp.Compare(b.Sessions, a.Sessions), b.Time.Compare(a.Time), cmp.Compare(a.Text, b.Text))
}

// first puts true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
