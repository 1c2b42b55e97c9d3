// Package report renders a preview of past sessions, for a terminal and as a web page, and the
// scenes of the demo. Begin with Word. It holds no state.
package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/preview"
)

// Report is a preview in words. Its texts may hold any characters.
type Report struct {
	Headline string
	Remarks  []string // limits of the reading
	Sections []Section
	Next     []Step
}

// Section lists the best findings of one sort.
type Section struct {
	Title string
	Note  string
	Items []Item
	More  int // findings that are not listed
}

// Item is a finding: its words, and lines about them.
type Item struct {
	Text  string
	About []string
}

// Step is a command to type next, with its purpose.
type Step struct{ Command, Does string }

// Word makes a report with at most most items a section. started reports whether the clone has
// Reverie already.
func Word(p *preview.Preview, most int, started bool) Report {
	r := Report{Headline: headline(p)}
	if p.Unread > 0 {
		r.Remarks = append(r.Remarks, fmt.Sprintf("time ran out before the oldest %s; to read more: --within 1m", plural.Count(p.Unread, "session", "sessions")))
	}
	if p.Partial {
		r.Remarks = append(r.Remarks, "time ran out before every folder was searched; to search more: --within 1m")
	}
	if p.Unreadable > 0 {
		r.Remarks = append(r.Remarks, plural.Count(p.Unreadable, "session has", "sessions have")+" no conversation that can be read")
	}
	add := func(title, note string, items []Item) {
		if len(items) > 0 {
			n := min(most, len(items))
			r.Sections = append(r.Sections, Section{title, note, items[:n], len(items) - n})
		}
	}
	add("Rules that you said", kept(p.Rules), statements(p.Rules, true))
	var failures []Item
	remedies := 0
	for _, f := range p.Failures {
		if failures = append(failures, failure(f)); f.Lesson != "" {
			remedies++
		}
	}
	add("Failures", fmt.Sprintf("%d with a known remedy", remedies), failures)
	add("Orders that you repeat", "", statements(p.Orders, true))
	add("Ways of working", kept(p.Workflows), statements(p.Workflows, false))
	add("Other lessons", kept(p.Lessons), statements(p.Lessons, false))
	var clashes []Item
	for _, c := range p.Contradictions {
		clashes = append(clashes, Item{c.One.Text, []string{c.One.At, "against: " + c.Other.Text, c.Other.At}})
	}
	add("Contradictions", "", clashes)
	r.Next = next(p, started)
	return r
}

// headline counts everything in one sentence.
func headline(p *preview.Preview) string {
	if p.Sessions == 0 {
		return "no session of this repository was read"
	}
	var by, found []string
	for _, a := range p.Agents {
		if a.Sessions > 0 {
			by = append(by, fmt.Sprintf("%s %d", a.Name, a.Sessions))
		}
	}
	count := func(n int, one, many string) {
		if n > 0 {
			found = append(found, plural.Count(n, one, many))
		}
	}
	count(len(p.Rules), "rule you said", "rules you said")
	if n, times := p.Returns(); n > 0 {
		again := "once"
		if times > 1 {
			again = plural.Count(times, "time", "times")
		}
		found = append(found, plural.Count(n, "failure", "failures")+" that came back "+again)
	}
	count(len(p.Orders), "order you repeat", "orders you repeat")
	count(len(p.Workflows), "way of working", "ways of working")
	count(len(p.Lessons), "other lesson", "other lessons")
	count(len(p.Contradictions), "contradiction in what your agents are told", "contradictions in what your agents are told")
	if len(found) == 0 {
		found = []string{"nothing that lasts"}
	}
	sessions := plural.Count(p.Sessions, "session", "sessions")
	if p.Unread > 0 {
		sessions = fmt.Sprintf("the latest %d of %d sessions", p.Sessions, p.Sessions+p.Unread+p.Unreadable)
	}
	return fmt.Sprintf("in %s (%s): %s", sessions, strings.Join(by, ", "), strings.Join(found, ", "))
}

// kept counts the statements that learn would keep without a question.
func kept(all []preview.Statement) string {
	n := 0
	for _, s := range all {
		if s.Keep {
			n++
		}
	}
	return fmt.Sprintf("%d would be kept at once, %d would wait for your review", n, len(all)-n)
}

// statements words findings. It quotes a person.
func statements(all []preview.Statement, quoted bool) (items []Item) {
	for _, s := range all {
		i := Item{Text: s.Text}
		if quoted {
			i.Text = "“" + strings.Join(strings.Fields(cmp.Or(s.Quote, s.Text)), " ") + "”"
		}
		about := origin(s.Agent, s.Time)
		if s.Sessions > 1 {
			about += fmt.Sprintf(", in %d sessions", s.Sessions)
		}
		if !s.Keep && s.Why != "" {
			about += "; waits: " + s.Why
		}
		i.About = []string{about}
		items = append(items, i)
	}
	return items
}

func failure(f preview.Failure) Item {
	about := fmt.Sprintf("%s in %s, the last: %s", plural.Count(f.Times, "time", "times"), plural.Count(f.Sessions, "session", "sessions"), origin(f.Agent, f.Time))
	return Item{f.Command + ": " + f.Error, []string{about, cmp.Or(f.Lesson, "no remedy was seen")}}
}

// origin names an agent and a day.
func origin(agent string, t time.Time) string {
	if t.IsZero() {
		return agent
	}
	return agent + ", " + t.Format(time.DateOnly)
}

// next returns the commands that follow.
func next(p *preview.Preview, started bool) (steps []Step) {
	if !started {
		steps = append(steps, Step{"reverie init --agent all", "connect your agents to a memory"})
	}
	if p.Sessions > 0 {
		steps = append(steps, Step{"reverie learn", "keep what these sessions show"})
	} else {
		steps = append(steps, Step{"reverie learn FILE", "learn from a transcript elsewhere"}, Step{"reverie demo", "see it work on a recorded session"})
	}
	if len(p.Contradictions) > 0 {
		steps = append(steps, Step{"reverie import --from instructions", "review the statements of these files"})
	}
	return steps
}
