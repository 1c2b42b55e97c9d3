// Command updates measures whether a later instruction replaces the earlier one that it updates:
//
//	go run ./bench/updates [-v] [-json] FOLDER
//
// FOLDER holds *.jsonl or *.jsonl.xz files (the latter need xz). A line is one session: dialogue
// and session number it, messages lists what was said as {role, text}, adds lists new instructions,
// and updates lists {text, replaces}. Each dialogue counts as one repository, whose sessions are
// learned in order, twice: with every proposal left waiting, and with every proposal accepted after
// its session. An instruction is recognised by the literal that it quotes, so instructions without
// one are skipped. An update is
//
//   - learned if a statement of it waits or is accepted,
//   - known before if that also holds for an instruction that it replaces,
//   - replacing if, in addition, no such earlier instruction stays beside it without a word: it was
//     withdrawn, or the later operation names it.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func main() {
	verbose := flag.Bool("v", false, "print each update and what became of it")
	asJSON := flag.Bool("json", false, "print figures as JSON lines")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/updates [-v] [-json] FOLDER")
		os.Exit(2)
	}
	lab.Exit("updates", run(os.Stdout, flag.Arg(0), *verbose, *asJSON))
}

// line is one session of a dialogue.
type line struct {
	Dialogue, Session int
	Started           time.Time
	Messages          []struct{ Role, Text string }
	Adds              []string
	Updates           []update
}

type update struct {
	Text     string
	Replaces []string
}

func run(w io.Writer, folder string, verbose, asJSON bool) error {
	lines, err := read(folder)
	if err != nil {
		return err
	}
	waiting, accepted := replay(lines, false), replay(lines, true)
	if verbose {
		for i, f := range waiting.fates {
			fmt.Fprintf(w, "%-9s waiting, %-9s accepted: %s\n", f.what, accepted.fates[i].what, f.update)
			for _, text := range f.texts {
				fmt.Fprintf(w, "    %s\n", text)
			}
		}
	}
	return figure.Print(w, slices.Concat(waiting.figures("left waiting"), accepted.figures("accepted")), asJSON)
}

// read returns the lines of a folder's files, by dialogue and session.
func read(folder string) ([]line, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no *.jsonl or *.jsonl.xz", folder)
	}
	var all []line
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil && strings.HasSuffix(name, ".xz") {
			data, err = exec.Command("xz", "-dc", "--", name).Output()
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		lines, err := lab.Lines[line](bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, lines...)
	}
	slices.SortStableFunc(all, func(a, b line) int {
		return cmp.Or(a.Dialogue-b.Dialogue, a.Session-b.Session)
	})
	return all, nil
}

// The fates of an update.
const (
	missed   = "missed"    // none of its statements
	unknown  = "first"     // learned, but none that it replaces was
	beside   = "beside"    // learned, and an earlier one is still in force beside it
	replaces = "replacing" // learned, and every earlier one that was known is out, or named
)

type fate struct {
	what, update string
	texts        []string
}

type tally struct {
	instructions, learned int
	fates                 []fate
	lost                  int // statements displaced by an update of something else
}

func (t tally) figures(set string) []figure.Figure {
	n := map[string]int{}
	for _, f := range t.fates {
		n[f.what]++
	}
	known := n[beside] + n[replaces]
	return []figure.Figure{
		figure.Share(set, "instructions learned", t.learned, t.instructions, "instructions"),
		figure.Share(set, "updates learned", known+n[unknown], len(t.fates), "updates"),
		figure.Share(set, "learned updates of a known instruction that replace it", n[replaces], known, "updates"),
		figure.Count(set, "statements displaced by an update of something else", t.lost, len(t.fates), "updates"),
	}
}

// replay learns the dialogues in order.
func replay(lines []line, accept bool) (t tally) {
	var r repository
	last := -1
	for _, l := range lines {
		if l.Dialogue != last {
			r, last = repository{}, l.Dialogue
		}
		before := r.known()
		r.learn(l)
		after := r.known()
		var due []string
		for _, u := range l.Updates {
			t.fates = append(t.fates, judge(u, before, after))
			due = append(due, u.Replaces...)
		}
		for _, text := range l.Adds {
			if _, ok := literal(text); ok {
				t.instructions++
				if slices.ContainsFunc(after, func(s statement) bool { return states(s.text, text) }) {
					t.learned++
				}
			}
		}
		for _, old := range before {
			gone := !slices.ContainsFunc(after, func(s statement) bool { return s.id == old.id && !named(after, s) })
			if gone && !slices.ContainsFunc(due, func(text string) bool { return states(old.text, text) }) {
				t.lost++
				fmt.Fprintln(os.Stderr, "gave way:", l.Dialogue, l.Session, old.text)
			}
		}
		if accept {
			r.acceptAll()
		}
	}
	return t
}

// judge returns the fate of an update.
func judge(u update, before, after []statement) fate {
	f := fate{what: missed, update: u.Text}
	for _, s := range after {
		if !states(s.text, u.Text) {
			continue
		}
		f.texts = append(f.texts, "+ "+s.text)
		if f.what == missed {
			f.what = unknown
		}
	}
	if f.what == missed {
		return f
	}
	for _, old := range before {
		if !slices.ContainsFunc(u.Replaces, func(text string) bool { return states(old.text, text) }) {
			continue
		}
		f.texts = append(f.texts, "- "+old.text)
		if f.what == unknown {
			f.what = replaces
		}
		if slices.ContainsFunc(after, func(s statement) bool { return s.id == old.id && !named(after, s) }) {
			f.what = beside
		}
	}
	return f
}

// named reports whether an operation among some statements names another as contradicted or
// superseded.
func named(all []statement, s statement) bool {
	return slices.ContainsFunc(all, func(o statement) bool { return slices.Contains(o.over, s.id) })
}

// statement is a pending or accepted one.
type statement struct {
	id, text string
	over     []string // ids of memories that accepting it retires
}

// repository holds the memories learned so far.
type repository struct {
	memories []record.Memory
	pending  []record.Operation
	past     []record.Reflection
}

// known lists the statements in force and the pending ones.
func (r *repository) known() (out []statement) {
	for _, m := range r.memories {
		if m.Status == record.Active {
			out = append(out, statement{id: m.ID, text: m.Text})
		}
	}
	for _, o := range r.pending {
		out = append(out, statement{o.Memory.ID, o.Memory.Text, slices.Concat(o.Memory.Supersedes, o.Contradicts)})
	}
	return out
}

// learn reflects on a session and dreams.
func (r *repository) learn(l line) {
	s := transcript.Session{Client: "bench", ID: fmt.Sprintf("%d-%d", l.Dialogue, l.Session), Started: l.Started}
	var events []transcript.Event
	for i, m := range l.Messages {
		e := transcript.Event{N: i, Time: l.Started.Add(time.Duration(i) * time.Minute), Kind: transcript.Assistant, Text: m.Text}
		if m.Role == "user" {
			e.Kind, e.Origin = transcript.User, transcript.Typed
		}
		events = append(events, e)
	}
	learned := reflect.Study(s, events)
	plan := dream.Plan(dream.Input{Now: l.Started.Add(time.Hour), Memories: r.memories, Pending: r.pending, Considered: r.past, New: []record.Reflection{learned}})
	r.past = append(r.past, learned)
	for _, o := range plan.Operations {
		r.pending = append(slices.DeleteFunc(r.pending, func(p record.Operation) bool { return p.ID == o.ID }), o)
	}
	r.pending = slices.DeleteFunc(r.pending, func(p record.Operation) bool { return slices.Contains(plan.Withdrawn, p.ID) })
}

// acceptAll accepts all pending operations, oldest first.
func (r *repository) acceptAll() {
	for _, o := range r.pending {
		for i := range r.memories {
			if slices.Contains(o.Memory.Supersedes, r.memories[i].ID) || slices.Contains(o.Contradicts, r.memories[i].ID) {
				r.memories[i].Status = record.Retired
			}
		}
		r.memories = append(r.memories, o.Memory)
	}
	r.pending = nil
}

var (
	quoted  = pattern.New(`'([^']+)'`)
	element = pattern.New(`\b(function argument|function|method|variable|attribute|class)s?\b`)
)

// literal returns the literal that an instruction quotes.
func literal(instruction string) (string, bool) {
	if m := quoted.FindStringSubmatch(instruction); m != nil {
		return m[1], true
	}
	return "", false
}

// states reports whether a statement matches an instruction: it has its literal, and is about the
// same element.
func states(statement, instruction string) bool {
	lit, ok := literal(instruction)
	if !ok {
		return false
	}
	at := regexp.MustCompile(`(?:^|[^\w])` + regexp.QuoteMeta(lit) + `(?:[^\w]|$)`)
	of := element.FindString(strings.ToLower(instruction))
	names := element.FindAllString(strings.ToLower(statement), -1)
	return at.MatchString(statement) && (len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.TrimSuffix(n, "s") == strings.TrimSuffix(of, "s") }))
}
