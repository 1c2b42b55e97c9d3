// Command replay measures what would have been learned of failing commands, over real sessions and
// without labels:
//
//	go run ./bench/replay DIR
//
// DIR is a folder of transcripts, in folders of any depth; each folder with transcripts counts as
// one repository. Its sessions are gone through in the order of time. A class is a command, by
// program and subcommand, with the error that it printed. It is
//
//   - recurring if it failed in two sessions or more,
//   - learnable if it failed again after a session that had got the command to pass,
//   - covered if a memory that came of earlier sessions has that command and error as its trigger, waiting for review or not,
//   - given if such a memory was accepted by the policy, so that agents are given it.
//
// A session that goes on with another begins with a copy of it, whose failures count once. Each is
// counted by class, and the last three also by the sessions in which the class failed again.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func main() {
	verbose := flag.Bool("v", false, "print each class that is learnable, and each failure memory")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/replay [-v] DIR")
		os.Exit(2)
	}
	total, err := replay(context.Background(), flag.Arg(0))
	if err == nil {
		err = total.print(os.Stdout, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// session holds the findings in one session.
type session struct {
	started time.Time
	failed  []reflect.Failed
	learned record.Reflection
}

// class counts the fate of one command's error.
type class struct {
	command, error            string
	sessions                  int  // in which it failed
	repaired                  bool // in one of those so far
	learnable, covered, given int  // sessions in which it failed again
}

type result struct {
	sessions, unread int
	classes          []*class
	memories         []record.Memory // of failures, waiting or not
}

// replay processes the transcripts below a folder.
func replay(ctx context.Context, root string) (result, error) {
	files := map[string][]string{} // by folder
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[filepath.Dir(name)] = append(files[filepath.Dir(name)], name)
		}
		return err
	})
	if err != nil {
		return result{}, err
	}
	var total result
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		var sessions []session
		for _, name := range files[dir] {
			read, err := sessionsOf(ctx, name)
			if err != nil {
				if ctx.Err() != nil {
					return total, err
				}
				total.unread++
				continue
			}
			sessions = append(sessions, read...)
		}
		slices.SortStableFunc(sessions, func(a, b session) int { return a.started.Compare(b.started) })
		total.sessions += len(sessions)
		total.repository(sessions)
	}
	return total, nil
}

// sessionsOf reads the sessions of a transcript.
func sessionsOf(ctx context.Context, name string) ([]session, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []session
	var events []transcript.Event
	_, err = transcript.Decode(ctx, f, transcript.Auto, transcript.Sink{
		Session: func(transcript.Session) error { events = nil; return nil },
		Event:   func(e transcript.Event) error { events = append(events, e); return nil },
		Done: func(s transcript.Session) error {
			learned, failed := reflect.Examine(s, events)
			out = append(out, session{started: s.Started, failed: failed, learned: learned})
			return nil
		},
	})
	return out, err
}

// policy is the default policy of repositories.
var policy = dream.Policy{Accept: []record.How{record.Said, record.Seen}, Sightings: 2}

// repository replays the sessions of one repository, in order: first the failures, then the lessons
// of each session.
func (r *result) repository(sessions []session) {
	type key struct{ command, error string }
	classes := map[key]*class{}
	var memories []record.Memory // accepted
	var pending []record.Operation
	var past []record.Reflection
	told := map[string]bool{} // a session that continues another begins with a copy of it
	for _, s := range sessions {
		for _, f := range s.failed {
			at := f.Time.String() + f.Command + f.Error
			if !f.Time.IsZero() && told[at] {
				continue
			}
			told[at] = true
			c := classes[key{f.Command, f.Error}]
			if c == nil {
				c = &class{command: f.Command, error: f.Error}
				classes[key{f.Command, f.Error}] = c
				r.classes = append(r.classes, c)
			}
			about := func(m record.Memory) bool { return f.Matches(m.Trigger()) }
			if c.repaired {
				c.learnable++
				waits := slices.ContainsFunc(pending, func(o record.Operation) bool { return about(o.Memory) })
				gives := slices.ContainsFunc(memories, about)
				if waits || gives {
					c.covered++
				}
				if gives {
					c.given++
				}
			}
			c.sessions++
			c.repaired = c.repaired || f.Repaired
		}
		plan := dream.Plan(dream.Input{Now: s.started, Memories: memories, Pending: pending, Considered: past, New: []record.Reflection{s.learned}})
		past = append(past, s.learned)
		for _, o := range plan.Operations {
			pending = slices.DeleteFunc(pending, func(p record.Operation) bool { return p.ID == o.ID })
			if ok, _ := policy.Accepts(o); ok {
				memories = append(memories, o.Memory)
			} else {
				pending = append(pending, o)
			}
		}
		pending = slices.DeleteFunc(pending, func(p record.Operation) bool { return slices.Contains(plan.Withdrawn, p.ID) })
	}
	for _, o := range pending {
		memories = append(memories, o.Memory)
	}
	for _, m := range memories {
		if m.Kind == record.Failure {
			r.memories = append(r.memories, m)
		}
	}
}

// print prints the counts and, with verbose, the counted items.
func (r result) print(w io.Writer, verbose bool) error {
	var n struct{ recurring, learnable, covered, given, again, coveredAgain, givenAgain int }
	for _, c := range r.classes {
		if c.sessions > 1 {
			n.recurring++
		}
		if c.learnable > 0 {
			n.learnable++
		}
		if c.covered > 0 {
			n.covered++
		}
		if c.given > 0 {
			n.given++
		}
		n.again, n.coveredAgain, n.givenAgain = n.again+c.learnable, n.coveredAgain+c.covered, n.givenAgain+c.given
	}
	if verbose {
		slices.SortStableFunc(r.classes, func(a, b *class) int { return cmp.Compare(b.learnable, a.learnable) })
		for _, c := range r.classes {
			if c.sessions > 1 {
				fmt.Fprintf(w, "%d sessions, %d learnable, %d covered, %d given: %s: %s\n", c.sessions, c.learnable, c.covered, c.given, c.command, c.error)
			}
		}
		for _, m := range r.memories {
			fmt.Fprintf(w, "memory: %s\n", m.Text)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tclasses\tsessions\n")
	fmt.Fprintf(t, "failing\t%d\t%d\n", len(r.classes), r.sessions)
	fmt.Fprintf(t, "recurring\t%d\t\n", n.recurring)
	fmt.Fprintf(t, "learnable\t%d\t%d\n", n.learnable, n.again)
	fmt.Fprintf(t, "covered\t%d\t%d\n", n.covered, n.coveredAgain)
	fmt.Fprintf(t, "given\t%d\t%d\n", n.given, n.givenAgain)
	if err := t.Flush(); err != nil {
		return err
	}
	if r.unread > 0 {
		fmt.Fprintf(w, "%d files are no transcripts\n", r.unread)
	}
	_, err := fmt.Fprintf(w, "%d failure memories: %.2f a session\n", len(r.memories), float64(len(r.memories))/float64(max(1, r.sessions)))
	return err
}
