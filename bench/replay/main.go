// Command replay measures what would have been learned of failing commands, over real sessions and
// without labels:
//
//	go run ./bench/replay DIR
//
// DIR is a folder of transcripts, in folders of any depth; each folder with transcripts counts as
// one repository. Its help defines the counts.
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
	"time"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

const usage = `usage: go run ./bench/replay [-v | -json] DIR

Replays the transcripts below DIR in the order of time. A class is a command, by program and
subcommand, with the error that it printed. It is

recurring  if it failed in two sessions or more
repaired   if it failed again after a session that had got the command to pass in any way
learnable  if that session changed no file for it: it passed another form of the command, or in
           another folder or environment, or after another command
covered    if by then a memory of earlier sessions had that command and error as its trigger
given      if that memory was accepted by the policy, so that agents are given it

A red test that an edit turns green teaches nothing about its command, so it is repaired only. A
narrower run, or one with a check taken away, is no repair. The last four are also counted by the
sessions in which the class failed again. A session that goes on with another begins with a copy
of it, whose failures count once.

`

func main() {
	asJSON := flag.Bool("json", false, "print figures as JSON lines")
	verbose := flag.Bool("v", false, "print each class that recurs, and each failure memory")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	total, err := replay(context.Background(), flag.Arg(0))
	if err == nil && *verbose {
		total.list(os.Stdout)
	}
	if err == nil {
		err = figure.Print(os.Stdout, total.figures(), *asJSON)
	}
	lab.Exit("replay", err)
}

// session holds the findings in one session.
type session struct {
	started time.Time
	failed  []reflect.Failed
	learned record.Reflection
}

// class counts the fate of one command's error.
type class struct {
	command, error      string
	sessions            int  // in which it failed
	passed, taught      bool // in one of those so far
	repaired, learnable again
}

// again counts the sessions in which a class failed again.
type again struct{ all, covered, given int }

func (a *again) count(all, covered, given bool) {
	for counted, yes := range map[*int]bool{&a.all: all, &a.covered: covered, &a.given: given} {
		if yes {
			*counted++
		}
	}
}

func (a *again) add(b again) {
	a.all, a.covered, a.given = a.all+b.all, a.covered+b.covered, a.given+b.given
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
	err = transcript.Whole(ctx, f, transcript.Auto, func(s transcript.Session, events []transcript.Event) error {
		learned, failed := reflect.Examine(s, events)
		out = append(out, session{started: s.Started, failed: failed, learned: learned})
		return nil
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
			if c.passed {
				given := slices.ContainsFunc(memories, about)
				covered := given || slices.ContainsFunc(pending, func(o record.Operation) bool { return about(o.Memory) })
				c.repaired.count(true, covered, given)
				if c.taught {
					c.learnable.count(true, covered, given)
				}
			}
			c.sessions++
			c.passed, c.taught = c.passed || f.Repaired, c.taught || f.Taught
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

func (r result) figures() (all []figure.Figure) {
	recurring := 0
	var repaired, learnable, repairedAgain, learnableAgain again
	for _, c := range r.classes {
		if c.sessions > 1 {
			recurring++
		}
		repaired.count(c.repaired.all > 0, c.repaired.covered > 0, c.repaired.given > 0)
		learnable.count(c.learnable.all > 0, c.learnable.covered > 0, c.learnable.given > 0)
		repairedAgain.add(c.repaired)
		learnableAgain.add(c.learnable)
	}
	shares := func(name string, c again, of string) {
		all = append(all, figure.Share("replay", name+", covered by an earlier lesson", c.covered, c.all, of),
			figure.Share("replay", name+", of which agents are given the lesson", c.given, c.all, of))
	}
	shares("repaired", repaired, "classes")
	shares("repaired", repairedAgain, "failures again")
	shares("learnable", learnable, "classes")
	shares("learnable", learnableAgain, "failures again")
	return append(all, figure.Count("replay", "recurring classes of failures", recurring, len(r.classes), "classes"),
		figure.Count("replay", "files that are no transcripts", r.unread, r.sessions, "sessions"),
		figure.Count("replay", "failure memories", len(r.memories), r.sessions, "sessions"))
}

// list prints the counted classes that recur, and the memories.
func (r result) list(w io.Writer) {
	slices.SortStableFunc(r.classes, func(a, b *class) int { return cmp.Compare(b.repaired.all, a.repaired.all) })
	for _, c := range r.classes {
		if c.sessions > 1 {
			fmt.Fprintf(w, "%d sessions, %d repaired, %d learnable, %d covered, %d given: %s: %s\n",
				c.sessions, c.repaired.all, c.learnable.all, c.repaired.covered, c.repaired.given, c.command, c.error)
		}
	}
	for _, m := range r.memories {
		fmt.Fprintf(w, "memory: %s\n", m.Text)
	}
}
