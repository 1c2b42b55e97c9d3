package reflect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Errors of reading a session with a model.
var (
	// ErrUnusable is returned when no answer of a model was usable, even after it was told the faults.
	ErrUnusable = errors.New("no usable answer")
	// ErrNoRoom is returned when a model's context is too small for a question about a session.
	ErrNoRoom = errors.New("no room for a session in the model's context")
)

// Reading is a model's reading of a session.
type Reading struct {
	Reflection record.Reflection // the detectors' findings, followed by the model's
	Parts      int               // number of parts of the session
	Asked      int               // questions asked, including repeated ones
	Left       int               // events without room in any part
	Found      int               // the model's candidates in Reflection
	Confirmed  int               // candidates of the model that repeat a detector's finding
	Refused    map[string]int    // refused candidates and quotes of the model, by reason
	Faults     []string          // faults of unusable answers and items
}

// Read asks a model about the lessons of a session, and joins those that the events support with
// the detectors' findings: base, which stays unchanged. known lists statements that need not be
// found again. Without a model it returns base alone.
//
// A session too large for one question is asked in parts, at most maxParts. An unusable answer is
// requested once more, with the fault. Refused counts the parts without a usable answer. If all
// parts fail, the error wraps ErrUnusable. Any other error of the model, or of the context, ends
// the reading at once. On an error the caller keeps base. Equal answers give an equal Reading.
func Read(ctx context.Context, m *prompts.Model, set prompts.Set, s transcript.Session, events []transcript.Event, base record.Reflection, known []string) (Reading, error) {
	if m == nil {
		return Reading{Reflection: base}, nil
	}
	fail := func(err error) (Reading, error) {
		return Reading{}, fmt.Errorf("read session %s/%s with %s: %w", s.Client, s.ID, m.Name, err)
	}
	q, err := askAbout(m, set, s, events, known)
	if err != nil {
		return fail(err)
	}
	r := newReader(s, events, base, known)
	r.out.Parts, r.out.Left = len(q.parts), q.left
	usable, failed := 0, 0
	for i, part := range q.parts {
		v, err := r.put(ctx, m, q.rendered[i], part)
		if err != nil {
			return fail(err)
		}
		if v.usable {
			usable++
			r.take(v)
			continue
		}
		failed++
		r.refuse(unusable, 1)
		for _, f := range v.faults {
			r.out.Faults = append(r.out.Faults, fmt.Sprintf("part %d: %s", i+1, f))
		}
		if usable == 0 && failed == hopeless {
			break
		}
	}
	if usable == 0 && failed > 0 {
		return fail(fmt.Errorf("%w in %s: %s", ErrUnusable, asked(r.out.Asked), strings.Join(r.out.Faults, "; ")))
	}
	return r.finish(m.Name, m.Digest, q.hash), nil
}

const (
	// hopeless is the number of unusable parts that ends a reading without a usable one.
	hopeless = 2

	unusable = "unusable answer"
)

func asked(n int) string {
	if n == 1 {
		return "1 answer"
	}
	return fmt.Sprintf("%d answers", n)
}

// PromptHash returns the hash of Read's prompt.
func PromptHash(set prompts.Set) (string, error) {
	frame, err := set.Reflect(prompts.Reflect{Part: 1, Parts: 1, Lines: noLines})
	return frame.Hash, err
}

// Questions returns the questions that Read would ask first. Without a model they suit one with
// openContext.
func Questions(m *prompts.Model, set prompts.Set, s transcript.Session, events []transcript.Event, known []string) ([]prompts.Rendered, error) {
	if m == nil {
		m = &prompts.Model{Context: openContext}
	}
	q, err := askAbout(m, set, s, events, known)
	if err != nil {
		return nil, fmt.Errorf("ask about session %s/%s: %w", s.Client, s.ID, err)
	}
	return q.rendered, nil
}

// openContext is the context, in tokens, of a model asked elsewhere.
const openContext = 128 << 10

// Import is Read with answers that a model of that name gave elsewhere: one JSON object, or one for
// each question in their order. Any event that a question may show can be evidence. Refused counts
// the unusable answers. An error wraps ErrUnusable if none is usable, or if they cannot be told
// apart.
func Import(set prompts.Set, s transcript.Session, events []transcript.Event, base record.Reflection, answers json.RawMessage, model string, known ...string) (Reading, error) {
	fail := func(err error) (Reading, error) {
		return Reading{}, fmt.Errorf("import an answer about session %s/%s: %w", s.Client, s.ID, err)
	}
	if model = strings.TrimSpace(model); model == "" {
		return fail(errors.New("the name of the model is missing"))
	}
	hash, err := PromptHash(set)
	if err != nil {
		return fail(err)
	}
	all, err := objects(answers)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", ErrUnusable, err))
	}
	r := newReader(s, events, base, known)
	part := make([]line, 0, len(r.shown))
	for n := range r.shown {
		part = append(part, line{Line: prompts.Line{N: n}})
	}
	r.out.Parts = len(all)
	usable := 0
	for i, answer := range all {
		v := r.judge(answer, part)
		if len(all) > 1 {
			for j, f := range v.faults {
				v.faults[j] = fmt.Sprintf("answer %d: %s", i+1, f)
			}
		}
		if v.usable {
			usable++
			r.take(v)
			continue
		}
		r.refuse(unusable, 1)
		r.out.Faults = append(r.out.Faults, v.faults...)
	}
	if usable == 0 {
		return fail(fmt.Errorf("%w: %s", ErrUnusable, strings.Join(r.out.Faults, "; ")))
	}
	return r.finish(model, "", hash), nil
}

// objects returns the JSON values of a text, or the whole text if it does not begin with one.
func objects(text json.RawMessage) (all []json.RawMessage, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		err := in.Decode(&one)
		switch {
		case err != nil && len(all) == 0:
			return []json.RawMessage{text}, nil
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("answer %d: it is cut off", len(all)+1)
		case err != nil:
			return nil, fmt.Errorf("answer %d: not JSON: %w", len(all)+1, err)
		}
		all = append(all, one)
	}
}

// asking holds the questions about a session.
type asking struct {
	parts    [][]line
	rendered []prompts.Rendered // by part
	hash     string             // of the prompt
	left     int                // events without room in any part
}

// maxTitle bounds the shown part of a session's title, in bytes.
const maxTitle = 200

// noLines replaces the lines of a session to get only the frame of a question.
var noLines = []prompts.Line{{Who: fromUser}}

// askAbout makes the questions about a session. Known statements take at most a quarter of the
// room.
func askAbout(m *prompts.Model, set prompts.Set, s transcript.Session, events []transcript.Event, known []string) (asking, error) {
	t := traced(s, events)
	in := prompts.Reflect{Title: cut.Marked(s.Title, maxTitle), Outcome: outcome(events), Part: maxParts, Parts: maxParts, Lines: noLines}
	frame, err := set.Reflect(in)
	if err != nil {
		return asking{}, err
	}
	all := m.Room(frame.Longest)
	free := all - length(frame) - prompts.AgainRoom
	in.Known = fitting(known, free/4)
	if frame, err = set.Reflect(in); err != nil {
		return asking{}, err
	}
	out := asking{hash: frame.Hash}
	if len(t.events) == 0 {
		return out, nil
	}
	// A text may grow inside a prompt, which leaves less room for it.
	for room := all - length(frame) - prompts.AgainRoom; room >= minRoom; room = room * 3 / 4 {
		lines := t.lines(room)
		out.parts, out.left = parted(lines, room)
		in.Left = missing(lines, out.parts)
		out.rendered = out.rendered[:0]
		fits := true
		for i, part := range out.parts {
			in.Part, in.Parts, in.Lines = i+1, len(out.parts), shown(part)
			q, err := set.Reflect(in)
			if err != nil {
				return asking{}, err
			}
			out.rendered = append(out.rendered, q)
			fits = fits && length(q)+prompts.AgainRoom <= all
		}
		if fits {
			return out, nil
		}
	}
	return asking{}, fmt.Errorf("%w: %d tokens", ErrNoRoom, m.Context)
}

// maxRanges bounds the ranges of missing events that a question lists.
const maxRanges = 8

// missing lists the numbers of lines that stand in no part: "12-14, 20".
func missing(lines []line, parts [][]line) string {
	in := map[int]bool{}
	for _, part := range parts {
		for _, l := range part {
			in[l.N] = true
		}
	}
	var ranges []string
	for i := 0; i < len(lines); i++ {
		if in[lines[i].N] {
			continue
		}
		from := lines[i].N
		for i+1 < len(lines) && !in[lines[i+1].N] {
			i++
		}
		if to := lines[i].N; to > from {
			ranges = append(ranges, fmt.Sprintf("%d-%d", from, to))
		} else {
			ranges = append(ranges, fmt.Sprint(from))
		}
	}
	if more := len(ranges) - maxRanges; more > 0 {
		ranges = append(ranges[:maxRanges], fmt.Sprintf("and %d more ranges", more))
	}
	return strings.Join(ranges, ", ")
}

func length(q prompts.Rendered) int { return len(q.System) + len(q.User) }

// fitting returns the first of some statements that fit.
func fitting(known []string, room int) []string {
	for i, text := range known {
		if room -= len(text) + 4; room < 0 {
			return known[:i]
		}
	}
	return known
}

// A reader collects the results of the answers about one session.
type reader struct {
	gate  *gate
	shown map[int]*transcript.Event // events that a question may show, by number
	base  record.Reflection
	found []record.Fingerprint // findings of the detectors
	known []record.Fingerprint
	said  []statementRead
	out   Reading
}

// statementRead is an accepted candidate of the model.
type statementRead struct {
	record.Candidate
	print record.Fingerprint
}

func newReader(s transcript.Session, events []transcript.Event, base record.Reflection, known []string) *reader {
	r := &reader{gate: newGate(digest(s, events)), base: base, shown: map[int]*transcript.Event{}}
	t := traced(s, events)
	for i := range t.events {
		r.shown[t.events[i].N] = &t.events[i]
	}
	for _, c := range base.Candidates {
		r.found = append(r.found, record.Print(c.Text))
	}
	for _, text := range known {
		if !strings.HasPrefix(text, Waiting) { // another session may confirm it
			r.known = append(r.known, record.Print(text))
		}
	}
	r.out.Refused = map[string]int{}
	return r
}

func (r *reader) refuse(why string, n int) {
	if n > 0 {
		r.out.Refused[why] += n
	}
}

// put asks a question, and once more about the faulty items of the answer, or all of it if it is
// unusable.
func (r *reader) put(ctx context.Context, m *prompts.Model, q prompts.Rendered, part []line) (judgement, error) {
	v, text, err := r.ask(ctx, m, q, part)
	switch {
	case err != nil || v.usable && len(v.mend) == 0:
		return v, err
	case !v.usable:
		v, _, err = r.ask(ctx, m, q.Again(v.faults, text), part)
		return v, err
	}
	better, _, err := r.ask(ctx, m, q.Mend(v.faults, v.mend), part)
	if err != nil || !better.usable {
		return v, err
	}
	for _, c := range better.passed {
		if !slices.ContainsFunc(v.passed, func(held statementRead) bool { return held.print.Same(c.print) }) {
			v.passed = append(v.passed, c)
		}
	}
	better.passed = v.passed
	for why, n := range v.refused {
		if !mendable(why) && !strings.HasPrefix(why, "quote ") {
			better.refused[why] += n
		}
	}
	return better, nil
}

// ask asks a question once. A model's error about its own answer is a fault of the answer.
func (r *reader) ask(ctx context.Context, m *prompts.Model, q prompts.Rendered, part []line) (v judgement, text string, err error) {
	if err := ctx.Err(); err != nil {
		return v, "", err
	}
	r.out.Asked++
	a, err := m.Ask(ctx, q)
	switch {
	case err == nil:
		return r.judge(a.Text, part), string(a.Text), nil
	case errors.Is(err, ErrUnusable) && ctx.Err() == nil:
		v.fault("%v", err)
		return v, string(a.Text), nil
	}
	return v, "", err
}

// take keeps the accepted candidates and merges those that say the same.
func (r *reader) take(v judgement) {
	for why, n := range v.refused {
		r.refuse(why, n)
	}
	r.out.Faults = append(r.out.Faults, v.faults...)
	for _, c := range v.passed {
		if slices.ContainsFunc(r.found, c.print.Same) {
			r.out.Confirmed++
			continue
		}
		if i := slices.IndexFunc(r.said, func(held statementRead) bool { return held.print.Same(c.print) }); i >= 0 {
			r.said[i].Evidence = mergeEvidence(r.said[i].Evidence, c.Evidence)
			r.refuse("repeated", 1)
			continue
		}
		r.said = append(r.said, c)
	}
}

// maxReflection bounds the text of a reflection to which a model's candidates are added, in bytes.
const maxReflection = record.MaxRecord * 3 / 4

// finish joins the findings: the detectors' first, then the model's.
func (r *reader) finish(model, digest, prompt string) Reading {
	room := max(0, maxCandidates-len(r.base.Candidates))
	if n := len(r.said) - room; n > 0 {
		r.refuse("too many", n)
		r.said = r.said[:room]
	}
	out := r.base
	out.Model, out.Digest, out.Prompt = model, digest, prompt
	for n := len(r.said); ; n-- {
		own := make([]record.Candidate, 0, n)
		for _, c := range r.said[:n] {
			own = append(own, c.Candidate)
		}
		for i := range own {
			slices.SortStableFunc(own[i].Evidence, func(a, b record.Evidence) int { return a.Event - b.Event })
		}
		sortCandidates(own)
		out.Candidates = append(slices.Clip(slices.Clone(r.base.Candidates)), own...)
		if text, err := out.Format(); n == 0 || err == nil && len(text) <= maxReflection {
			r.refuse("too long", len(r.said)-n)
			r.out.Found = n
			break
		}
	}
	out.Dropped = maps.Clone(r.base.Dropped)
	for why, n := range r.out.Refused {
		if out.Dropped == nil {
			out.Dropped = map[string]int{}
		}
		out.Dropped["model: "+why] += n
	}
	r.out.Reflection = out
	return r.out
}
