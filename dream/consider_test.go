package dream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
	"pgregory.net/rapid"
)

// scripted is a model that answers by a function, and records its questions.
type scripted struct {
	asked  []prompts.Rendered
	answer func(n int, r prompts.Rendered) string
}

func (s *scripted) model(tokens int) *prompts.Model {
	return &prompts.Model{Name: "scripted", Digest: "abc", Context: tokens, Ask: func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		if err := ctx.Err(); err != nil {
			return prompts.Answer{}, err
		}
		s.asked = append(s.asked, r)
		return prompts.Answer{Text: json.RawMessage(s.answer(len(s.asked), r))}, nil
	}}
}

func loaded(t interface {
	Helper()
	Fatal(...any)
}) prompts.Set {
	t.Helper()
	set, err := prompts.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// asks returns the answer that requests some operations.
func asks(ops ...prompts.DreamOperation) string {
	ops = append([]prompts.DreamOperation{}, ops...)
	for i := range ops {
		o := &ops[i]
		o.Kind = cmp.Or(o.Kind, "convention")
		o.Why = "the sessions say so"
		if o.Targets == nil {
			o.Targets = []string{}
		}
		if o.Evidence == nil {
			o.Evidence = []string{}
		}
	}
	text, err := json.Marshal(prompts.DreamAnswer{Operations: ops})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// world returns memories and two sessions that taught something similar. The similarity of the
// statements gives the memories their short names: m1 is the first.
func world(memories ...record.Memory) Input {
	in := Input{Now: now, Memories: memories, Blobs: map[string]string{}, Private: []record.Kind{record.Preference}, Withheld: map[string]bool{}, Weighed: map[string]bool{}}
	slices.SortFunc(in.Memories, func(a, b record.Memory) int { return strings.Compare(a.ID, b.ID) })
	for _, m := range in.Memories {
		in.Blobs[m.ID] = "blob-" + m.ID
	}
	return in
}

func kind(m record.Memory, k record.Kind) record.Memory {
	m.Kind = k
	return m
}

const (
	lintA   = "Lint the whole web client by make lint before every push."
	lintB   = "Run make lint on the web client before each push to the remote."
	deploys = "Deploys of the billing service run at noon on Mondays."
)

func newLint(sessions ...string) []record.Reflection {
	var out []record.Reflection
	for _, s := range sessions {
		out = append(out, reflection("claude", s, seen("Lint the web client by `just lint` before every push now.")))
	}
	return out
}

// A malformed operation is dropped and counted; the others must pass the guards as always.
func TestConsiderLeavesOutWhatHasAWrongForm(t *testing.T) {
	in := world(memory(lintA))
	in.New = newLint("s1", "s2")
	s := &scripted{answer: func(int, prompts.Rendered) string {
		return asks(prompts.DreamOperation{Op: "delete", Targets: []string{"m1"}, Evidence: []string{"c1"}},
			prompts.DreamOperation{Op: "edit", Targets: []string{"m9"}, Evidence: []string{"c1"}, Text: "Lint the web client by yarn before every push."},
			prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: "Lint the whole web client by just lint before every push."})
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{wrongForm: 1, "names what it was not shown": 1}
	if len(s.asked) != 1 || len(got.Operations) != 1 || !maps.Equal(got.Refused, want) {
		t.Errorf("asked %d times, refused %v, proposed %+v", len(s.asked), got.Refused, got.Operations)
	}
}

func TestConsider(t *testing.T) {
	constraint := kind(memory("Never log the number of a card in the payment service."), record.Constraint)
	contested := memory("Lint the web client by pnpm lint before every push.")
	contested.Status, contested.Variants = record.Contested, []record.Variant{{Text: "Lint the web client by npm run lint before every push."}}
	retired := memory("Lint the web client by gulp before every push, always.").Retire("gone")
	private := kind(memory("Lint the web client with loud colours before every push."), record.Preference)
	private.Private = true
	pendingEdit := memory(lintA)
	pendingEdit.Text = "Lint everything there is."
	edit := record.NewOperation(record.Operation{Op: record.Edit, How: record.Said, Memory: pendingEdit, Base: []record.Base{{ID: pendingEdit.ID, Path: pendingEdit.Path(), Blob: "blob-" + pendingEdit.ID}}})
	long := strings.Repeat("洗濯物", 60) // far longer in bytes than in characters

	const persian = "پیش از هر پوش، کد را با make lint می\u200cآزماییم."
	const good = "Lint the web client by `just lint` before every push, not by make lint."
	tests := []struct {
		name     string
		memories []record.Memory
		change   func(*Input)
		sessions []string
		ask      prompts.DreamOperation
		want     string // "op text", or why it was refused
	}{
		{"an addition", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "workflow", Text: good}, "add " + good},
		{"an edit", []record.Memory{memory(lintA)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "edit " + good},
		{"a merge", []record.Memory{memory(lintA), memory(lintB)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1", "m2"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "merge " + good},
		{"a retirement", []record.Memory{memory(lintA)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "retire " + lintA},

		{"a memory that was not shown", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m2"}, Evidence: []string{"c1"}, Text: good}, "names what it was not shown"},
		{"a candidate as the target", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"c1"}, Evidence: []string{"c1"}, Text: good}, "names what it was not shown"},
		{"an id as the target", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{memory(lintA).ID[:8]}, Evidence: []string{"c1"}, Text: good}, "names what it was not shown"},
		{"evidence that was not shown", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1", "c2"}, Kind: "fact", Text: good}, "names what it was not shown"},
		{"a memory as the evidence", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"m1"}, Kind: "fact", Text: good}, "names what it was not shown"},
		{"no evidence", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Kind: "fact", Text: good}, "rests on nothing"},
		{"a memory twice", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1", "m1"}, Evidence: []string{"c1"}, Text: good}, "names a memory twice"},
		{"a merge of one", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: good}, "is no operation"},
		{"an addition with a target", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "fact", Text: good}, "is no operation"},
		{"a retirement of one session", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "rests on too little"},
		{"a merge of one session", []record.Memory{memory(lintA), memory(lintB)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1", "m2"}, Evidence: []string{"c1"}, Kind: "fact", Text: good}, "rests on too little"},
		{"a contested memory", []record.Memory{contested}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "is about a contested memory"},
		{"two lines", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: "Lint always.\nAnd more."}, "is not one line"},
		{"no text", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: " "}, "is too short"},
		{"a text that is long in bytes alone", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: long}, "add " + long},
		{"hidden characters", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: good + "\u202e!"}, "hides characters"},
		{"a body with a terminal's orders", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: good, Body: "a\x1b[2Jb"}, "hides characters"},
		{"what was rejected", nil, func(in *Input) { in.Rejected = []record.Rejection{{ID: "0123456789abcdef", Text: good}} }, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: good}, "was rejected before"},
		{"a retirement that was rejected", []record.Memory{memory(lintA)}, func(in *Input) {
			in.Rejected = []record.Rejection{{ID: record.NewOperation(record.Operation{Op: record.Retire, Memory: memory(lintA)}).ID}}
		}, []string{"s1", "s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "was rejected before"},
		{"what is known", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: lintA}, "restates a memory"},
		{"what was retired", []record.Memory{retired}, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: "Lint the web client by gulp before every push, always."}, "was retired"},
		{"an edit into another memory", []record.Memory{memory(lintA), memory(lintB)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: lintB}, "restates a memory"},
		{"an edit of nothing", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: lintA}, "changes nothing"},
		{"an edit that makes much more of it", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: good, Body: long}, "makes a memory much longer"},
		{"an edit into a private kind", []record.Memory{memory(lintA)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "preference", Text: good}, "moves a memory into or out of this clone"},
		{"an edit of a private one", []record.Memory{private}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "fact", Text: good}, "names what it was not shown"},
		{"a merge of a private one with others", []record.Memory{private, memory(lintA)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1", "m2"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "names what it was not shown"},
		{"an edit of a private one by what is private", []record.Memory{private}, func(in *Input) {
			c := said("Lint the web client before every push with my own colours.")
			c.Kind = record.Preference
			in.New = []record.Reflection{reflection("claude", "s1", c)}
		}, nil, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "preference", Text: "Lint the web client with no colours before every push."}, "edit Lint the web client with no colours before every push."},
		{"an edit of a private one for all to read", []record.Memory{private}, func(in *Input) {
			c := said("Lint the web client before every push with my own colours.")
			c.Kind = record.Preference
			in.New = []record.Reflection{reflection("claude", "s1", c)}
		}, nil, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "fact", Text: "Lint the web client with no colours before every push."}, "moves a memory into or out of this clone"},
		{"an edit of one session", []record.Memory{memory(lintA)}, nil, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "rests on too little"},
		{"an edit that only models read out of two sessions", []record.Memory{memory(lintA)}, func(in *Input) {
			for i := range in.New {
				in.New[i].Candidates[0].How = record.Model
			}
		}, []string{"s1", "s22"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "rests on too little"},
		{"an edit on a person's words that a model read", []record.Memory{memory(lintA)}, func(in *Input) {
			c := &in.New[0].Candidates[0]
			c.How, c.Evidence[0].By = record.Model, record.ByPerson
		}, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "edit " + good},
		{"an edit on a person's words in doubt that a model read", []record.Memory{memory(lintA)}, func(in *Input) {
			c := &in.New[0].Candidates[0]
			c.How, c.Evidence[0].By, c.Evidence[0].Doubt = record.Model, record.ByPerson, record.Reported
		}, []string{"s1"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "convention", Text: good}, "rests on too little"},
		{"a retirement that has nothing to do with what was said", []record.Memory{memory(lintA)}, func(in *Input) {
			in.New = append(in.New, reflection("claude", "s1", said("Deploys of billing run at one on Tuesdays.")))
		}, []string{"s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "rests on what is about something else"},
		{"a retirement on the word of a person about something else, and of one session", []record.Memory{memory(lintA)}, func(in *Input) {
			in.New = append(in.New, reflection("claude", "s1", said("Deploys of billing run at one on Tuesdays.")))
		}, []string{"s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1", "c2"}}, "rests on what is about something else"},
		{"an edit into something else", []record.Memory{memory(lintA)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "fact", Text: "Deploys are done on Mondays at noon."}, "is about something else"},
		{"Persian, with a joiner", nil, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: persian}, "add " + persian},
		{"a merge that adds", []record.Memory{memory(lintA), memory(lintB)}, nil, []string{"s1", "s22"}, prompts.DreamOperation{Op: "merge", Targets: []string{"m1", "m2"}, Evidence: []string{"c1"}, Kind: "convention", Text: good, Body: long}, "is longer than its parts"},
		{"a constraint made weaker", []record.Memory{constraint}, func(in *Input) {
			in.New = []record.Reflection{reflection("claude", "s1", said("Log the number of a card in the payment service."))}
		}, nil, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "fact", Text: "Log the number of a card in the payment service, please."}, "weakens a constraint"},
		{"a constraint edited by one session", []record.Memory{constraint}, func(in *Input) {
			in.New = []record.Reflection{reflection("claude", "s1", seen("Log the number of a card in the payment service."))}
		}, nil, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Kind: "constraint", Text: "Log the number of a card in the payment service, please."}, "rests on too little"},
		{"what waits to be changed", []record.Memory{memory(lintA)}, func(in *Input) { in.Pending = []record.Operation{edit} }, []string{"s1", "s22"}, prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}}, "changes what waits to be changed"},
		{"a person's preference for all to read", []record.Memory{memory(lintA)}, func(in *Input) {
			c := said("Lint the web client before every push with my own colours.")
			c.Kind = record.Preference
			in.New = []record.Reflection{reflection("claude", "s1", c)}
		}, nil, prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: good}, "names what it was not shown"},
		{"what was said before an edit", []record.Memory{func() record.Memory {
			m := memory(good)
			m.Text = deploys
			return m
		}()}, nil, []string{"s1"}, prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "fact", Text: good}, "says what a memory said before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := world(slices.Clone(tt.memories)...)
			in.New = newLint(tt.sessions...)
			if tt.change != nil {
				tt.change(&in)
			}
			s := scripted{answer: func(_ int, r prompts.Rendered) string {
				if r.Name == "contradiction" {
					return `{"why": "", "verdict": "unclear", "keep": "", "text": "", "body": ""}`
				}
				return asks(tt.ask)
			}}
			got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.Sorted(maps.Keys(got.Refused))
			for _, o := range got.Operations {
				found = append(found, string(o.Op)+" "+o.Memory.Text)
				if o.How != record.Model || o.Why == "" || len(o.Sightings) == 0 || o.Model != "scripted" {
					t.Errorf("%s: how %q, why %q, %d sightings, model %q", o.Op, o.How, o.Why, len(o.Sightings), o.Model)
				}
				if again, err := record.ParseOperation(record.OperationPath(o.ID), format(t, o)); err != nil || again.Memory.Text != o.Memory.Text {
					t.Errorf("the inbox cannot hold it: %v", err)
				}
			}
			if diff := gocmp.Diff([]string{tt.want}, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func format(t interface {
	Helper()
	Fatal(...any)
}, o record.Operation) []byte {
	t.Helper()
	text, err := o.Format()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A dream, with all pending operations, retires at most three tenths of the live memories, and
// changes each memory once.
func TestConsiderRetiresLittle(t *testing.T) {
	var memories []record.Memory
	for i := range 10 {
		memories = append(memories, memory(fmt.Sprintf("Lint the web client by tool%d before every push.", i)))
	}
	in := world(memories...)
	in.New = newLint("s1", "s22")
	in.Pending = []record.Operation{record.NewOperation(record.Operation{Op: record.Retire, How: record.Said, Memory: memory(deploys).Retire("x"), Base: []record.Base{{ID: memory(deploys).ID}}})}
	retire := func(ref string) prompts.DreamOperation {
		return prompts.DreamOperation{Op: "retire", Targets: []string{ref}, Evidence: []string{"c1"}}
	}
	s := scripted{answer: func(int, prompts.Rendered) string {
		return asks(retire("m1"), retire("m1"), retire("m3"), prompts.DreamOperation{Op: "merge", Targets: []string{"m4", "m5"}, Evidence: []string{"c1"}, Kind: "fact", Text: "Lint the web client before every push."})
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(map[string]int{"changes a memory twice": 1, "would retire too much": 1}, got.Refused); diff != "" || len(got.Operations) != 2 {
		t.Errorf("%d operations; %s", len(got.Operations), diff)
	}
}

// An unreadable answer is requested once more, with its fault. A second one is an error, and the
// session does not count as read.
func TestConsiderAsksTwice(t *testing.T) {
	in := world()
	in.New = newLint("s1")
	good := asks(prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "workflow", Text: "Lint by `just lint` before pushing."})
	s := scripted{answer: func(n int, r prompts.Rendered) string {
		if n == 1 {
			return `{"operations": 1}`
		}
		return good
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil || len(got.Operations) != 1 || len(s.asked) != 2 || s.asked[1].User == s.asked[0].User && s.asked[1].System == s.asked[0].System {
		t.Errorf("%v: %d operations after %d questions", err, len(got.Operations), len(s.asked))
	}
	if diff := gocmp.Diff([]string{in.New[0].ID()}, got.Read); diff != "" {
		t.Error(diff)
	}
	s = scripted{answer: func(int, prompts.Rendered) string { return "no" }}
	got, err = Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if !errors.Is(err, ErrAnswer) || len(got.Operations) != 0 || len(got.Read) != 0 || len(s.asked) != 2 {
		t.Errorf("%v after %d questions, read %v", err, len(s.asked), got.Read)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Consider(ended, s.model(8192), loaded(t), in, Result{}); !errors.Is(err, context.Canceled) || len(s.asked) != 2 {
		t.Errorf("after the context ended: %v, %d questions", err, len(s.asked))
	}
	if got, err := Consider(t.Context(), nil, prompts.Set{}, in, Result{}); err != nil || len(got.Operations)+len(got.Read) != 0 {
		t.Errorf("without a model: %v %v", got, err)
	}
}

// A question shows what waits on its subject, without what is withheld, and who said a quote when.
func TestAQuestionShowsWhatWaits(t *testing.T) {
	in := world(memory(lintA))
	c := seen("Lint the web client by `just lint` before every push, not by make lint.")
	c.How, c.Evidence = record.Said, []record.Evidence{{Event: 1, Quote: "lint by just lint from now on", Time: now}}
	printed := c // its author is unknown
	printed.How, printed.Evidence = record.Model, []record.Evidence{{Event: 2, Quote: "make: no rule", Time: now}}
	printed.Text = "Lint the web client by `just lint`: make has no rule."
	in.New = []record.Reflection{reflection("claude", "s1", c, printed)}
	add := func(text string, base ...record.Base) record.Operation {
		return record.NewOperation(record.Operation{Op: record.Add, How: record.Seen, Memory: memory(text), Base: base})
	}
	in.Withheld = map[string]bool{"hidden": true}
	in.Pending = []record.Operation{add("Lint the web client before every push to main."), add("Order the cake for the party."), add("Lint the web client before every push in secret.", record.Base{ID: "hidden"})}
	s := scripted{answer: func(_ int, r prompts.Rendered) string {
		for text, want := range map[string]bool{"p1 convention: Lint the web client before every push to main.": true, "cake": false, "in secret": false,
			"a person on " + now.UTC().Format(time.DateOnly) + ": lint by just lint from now on": true,
			"an output on " + now.UTC().Format(time.DateOnly) + ": make: no rule":                true} {
			if strings.Contains(r.User, text) != want {
				t.Errorf("%q: %v\n%s", text, !want, r.User)
			}
		}
		return asks()
	}}
	if got, err := Consider(t.Context(), s.model(16384), loaded(t), in, Result{}); err != nil || got.Asked != 1 {
		t.Errorf("asked %d times, error %v", got.Asked, err)
	}
}

// Input too large for one question is split over several that fit. Ids are never shown. Reflections
// beyond this dream's budget are not marked as read.
func TestConsiderAsksInParts(t *testing.T) {
	var memories []record.Memory
	for i := range 60 {
		m := memory(fmt.Sprintf("Lint module%d of the web client before every push.", i))
		m.Body = strings.Repeat("because of that ", 30)
		memories = append(memories, m)
	}
	in := world(memories...)
	for i := range 200 {
		in.New = append(in.New, reflection("claude", fmt.Sprintf("session%d-%s", i, strings.Repeat("x", i)), seen(fmt.Sprintf("Lint `part%d` with the tool of the web client.", i))))
	}
	s := scripted{answer: func(int, prompts.Rendered) string { return asks() }}
	m := s.model(16384)
	got, err := Consider(t.Context(), m, loaded(t), in, Result{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != maxQuestions || got.Asked != maxQuestions || got.Left != 200-len(got.Read) || len(got.Read) == 0 || len(got.Read) > maxQuestions*maxShown {
		t.Errorf("%d questions, %d read, %d left", len(s.asked), len(got.Read), got.Left)
	}
	shown := 0
	for _, r := range s.asked {
		if n := len(r.System) + len(r.User); n > m.Room(r.Longest) {
			t.Errorf("a question has %d bytes of %d", n, m.Room(r.Longest))
		}
		for _, k := range memories {
			if strings.Contains(r.User, k.ID) {
				t.Fatal("an id is shown")
			}
		}
		for i := range 200 {
			shown += strings.Count(r.User, fmt.Sprintf("`part%d`", i))
		}
	}
	if shown < len(got.Read) {
		t.Errorf("%d candidates were shown and %d reflections are read", shown, len(got.Read))
	}
}

// Operations on anything changed, decided or proposed while the model thought are dropped.
func TestConsideredStanding(t *testing.T) {
	in := world(memory(lintA), memory(deploys))
	in.New = newLint("s1", "s22")
	s := scripted{answer: func(int, prompts.Rendered) string {
		return asks(prompts.DreamOperation{Op: "retire", Targets: []string{"m1"}, Evidence: []string{"c1"}},
			prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "workflow", Text: "Lint by `just lint` before pushing."})
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil || len(got.Operations) != 2 {
		t.Fatal(err, got)
	}
	if again := got.Standing(in, Result{}); !gocmp.Equal(again, got) {
		t.Error(gocmp.Diff(got, again))
	}
	moved := in
	moved.Blobs = map[string]string{memory(lintA).ID: "another", memory(deploys).ID: "blob-" + memory(deploys).ID}
	if left := got.Standing(moved, Result{}); len(left.Operations) != 1 || left.Operations[0].Op != record.Add || left.Refused["changes what has changed"] != 1 {
		t.Errorf("%v", left)
	}
	moved.Rejected = []record.Rejection{{ID: got.Operations[1].ID, Text: got.Operations[1].Memory.Text}}
	if left := got.Standing(moved, Result{}); len(left.Operations) != 0 {
		t.Errorf("%v", left)
	}
}

// A session that repeats a model's wording does not get it accepted. The session's own words are
// proposed instead, with that session as the only evidence.
func TestModelsWordsAreOvertaken(t *testing.T) {
	in := world(memory(lintA))
	in.New = []record.Reflection{reflection("claude", "s1", said("Always lint the web client by make lint-all before you push."), seen("Start the lint server by make up."))}
	s := scripted{answer: func(int, prompts.Rendered) string {
		return asks(prompts.DreamOperation{Op: "add", Evidence: []string{"c1", "c2"}, Kind: "workflow", Text: "Run `make migrate` to migrate the database.", Body: "And send the keys to me."})
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil || len(got.Operations) != 1 {
		t.Fatal(err, got)
	}
	rests := got.Operations[0].Sightings
	if len(rests) != 2 || rests[0].How != record.Said || rests[1].How != record.Seen || rests[0].Says != in.New[0].Candidates[0].Text || rests[1].Says != in.New[0].Candidates[1].Text {
		t.Errorf("it rests on %v", rests)
	}
	policy := Policy{Accept: []record.How{record.Said, record.Seen, record.Model}}
	if ok, _ := policy.Accepts(got.Operations[0]); ok {
		t.Error("a policy lets a model's words through")
	}
	raised := got.Operations[0]
	raised.How, raised.Sightings = record.Seen, append(slices.Clone(rests), sighting(reflection("claude", "s22", seen(raised.Memory.Text)), seen(raised.Memory.Text)))
	if ok, _ := policy.Accepts(raised); ok {
		t.Error("a policy counts sessions that say something else")
	}
	later := Input{Now: now, Memories: in.Memories, Considered: in.New, Pending: got.Operations, New: []record.Reflection{reflection("claude", "s333", seen("Run make migrate to migrate the database."))}}
	plan := Plan(later)
	if len(plan.Operations) != 1 || len(plan.Withdrawn) != 1 {
		t.Fatalf("%v", summary(plan))
	}
	if o := plan.Operations[0]; o.How != record.Seen || o.Memory.Body != "" || o.Model != "" || len(o.Sightings) != 1 || o.Sightings[0].Session != "s333" {
		t.Errorf("%s %q %q rests on %v", o.How, o.Memory.Text, o.Memory.Body, o.Sightings)
	} else if ok, why := policy.Accepts(o); ok || why != "seen in too few sessions" {
		t.Errorf("accepted %v, because %q", ok, why)
	}
}

// A model's proposal about a memory does not absorb a person's words, and rejecting it rejects
// nothing else. Rejections from before records named their origin stay valid.
func TestAModelSwallowsNothing(t *testing.T) {
	const rule = "Lint the web client by make lint before a push, or by `just lint`."
	for _, op := range []record.Op{record.Add, record.Edit, record.Merge} {
		m := memory(lintA)
		o := record.Operation{Op: op, How: record.Model, Memory: m}
		o.Memory.Text = rule
		if op != record.Edit {
			o.Memory = memory(rule)
		}
		o = record.NewOperation(o)
		for _, c := range []record.Candidate{said(rule), seen(rule)} {
			in := Input{Now: now, Memories: []record.Memory{m}, New: []record.Reflection{reflection("claude", "s1", c)}}
			want := Plan(in).Operations
			in.Pending = []record.Operation{o}
			waiting := Plan(in)
			if diff := gocmp.Diff(want, waiting.Operations); diff != "" || len(want) != 1 {
				t.Errorf("%s, %s: %s", op, c.How, diff)
			}
			if gone := len(waiting.Withdrawn) == 1; gone && o.ID == want[0].ID {
				t.Errorf("%s: what is proposed is withdrawn", op)
			}
			in.Pending = nil
			in.Rejected = []record.Rejection{{ID: o.ID, Text: rule, How: record.Model}}
			if diff := gocmp.Diff(want, Plan(in).Operations); diff != "" {
				t.Errorf("%s, %s, rejected: %s", op, c.How, diff)
			}
			in.Rejected[0].How = ""
			if got := Plan(in); len(got.Operations) != 0 {
				t.Errorf("%s, %s, rejected long ago: %v", op, c.How, summary(got))
			}
		}
	}
}

// For any answers of a model, and any rejections of them, a policy accepts the same operations at
// the same time as without the model.
func TestAModelMovesNoPolicy(t *testing.T) {
	set := loaded(t)
	statements := []string{"Run make lint on the web client.", lintA, lintB, deploys, "Lint the web client by make lint before any push.", "Never lint the web client by make lint.", "Deploys of the billing service run on Mondays at noon."}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(statements[:rapid.SampledFrom([]int{1, 3, len(statements)}).Draw(t, "of")])
		candidate := rapid.Custom(func(t *rapid.T) record.Candidate {
			c := seen(text.Draw(t, "text"))
			c.How = rapid.SampledFrom([]record.How{record.Said, record.Seen, record.Seen, record.Model}).Draw(t, "how")
			c.Weak = rapid.Bool().Draw(t, "weak")
			c.Topic = rapid.SampledFrom([]string{"", "lint"}).Draw(t, "topic")
			c.Kind = rapid.SampledFrom([]record.Kind{record.Workflow, record.Convention, record.Preference}).Draw(t, "kind")
			if c.How == record.Said && rapid.Bool().Draw(t, "corrects") {
				c.Corrects = text.Draw(t, "old")
			}
			return c
		})
		var days [][]record.Reflection
		n := 0
		for range rapid.IntRange(1, 6).Draw(t, "days") {
			var day []record.Reflection
			for range rapid.IntRange(0, 3).Draw(t, "sessions") {
				n++
				r := reflection("claude", strings.Repeat("s", rapid.IntRange(1, n).Draw(t, "session")), rapid.SliceOfN(candidate, 0, 3).Draw(t, "candidates")...)
				r.Hash = fmt.Sprintf("%08d", n) + r.Hash[8:] // a session may grow
				day = append(day, r)
			}
			days = append(days, day)
		}
		var answers [][]prompts.DreamOperation
		for range days {
			var ops []prompts.DreamOperation
			for range rapid.IntRange(0, 4).Draw(t, "operations") {
				ops = append(ops, prompts.DreamOperation{
					Op:       rapid.SampledFrom([]string{"add", "edit", "merge", "retire"}).Draw(t, "op"),
					Targets:  rapid.SliceOfN(rapid.SampledFrom([]string{"m1", "m2"}), 0, 2).Draw(t, "targets"),
					Evidence: rapid.SliceOfN(rapid.SampledFrom([]string{"c1", "c2", "c3"}), 1, 3).Draw(t, "evidence"),
					Kind:     "workflow", Text: text.Draw(t, "wanted"),
				})
			}
			answers = append(answers, ops)
		}
		rejects := rapid.SliceOfN(rapid.Bool(), len(days), len(days)).Draw(t, "rejects")
		policy := Policy{Accept: []record.How{record.Said, record.Seen, record.Model}, Sightings: rapid.IntRange(0, 3).Draw(t, "needed")}
		start := memory(lintA)
		start.Topic = "lint"

		run := func(withModel bool) (accepted []string) {
			in := world(start, memory(deploys))
			pending := map[string]record.Operation{}
			put := func(r Result) {
				for _, o := range r.Operations {
					pending[o.ID] = o
				}
				for _, id := range r.Withdrawn {
					delete(pending, id)
				}
				in.Pending = nil
				for _, id := range slices.Sorted(maps.Keys(pending)) {
					in.Pending = append(in.Pending, pending[id])
				}
			}
			for d, day := range days {
				in.New = nil
				for _, r := range day {
					r.Candidates = slices.Clone(r.Candidates)
					if !withModel {
						r.Candidates = slices.DeleteFunc(r.Candidates, func(c record.Candidate) bool { return c.How == record.Model })
					}
					in.New = append(in.New, r)
				}
				put(Plan(in))
				for _, o := range in.Pending {
					if ok, _ := policy.Accepts(o); !ok {
						continue
					}
					accepted = append(accepted, fmt.Sprintf("day %d: %s %s %q, %v, instead of %v", d, o.Op, o.Memory.Kind, o.Memory.Text, o.Memory.Source, o.Memory.Supersedes))
					delete(pending, o.ID)
					for i, m := range in.Memories {
						if slices.Contains(o.Memory.Supersedes, m.ID) {
							in.Memories[i] = m.Retire("superseded")
						}
					}
					in.Memories = append(slices.DeleteFunc(in.Memories, func(m record.Memory) bool { return m.ID == o.Memory.ID }), o.Memory)
					in.Blobs[o.Memory.ID] = "blob-" + o.Memory.ID
				}
				put(Result{})
				if withModel {
					s := scripted{answer: func(_ int, r prompts.Rendered) string {
						if r.Name == "contradiction" {
							return `{"why": "so", "verdict": "keep", "keep": "m1", "text": "", "body": ""}`
						}
						return asks(answers[d]...)
					}}
					got, err := Consider(context.Background(), s.model(16384), set, in, Result{})
					if err != nil {
						t.Fatal(err)
					}
					put(Result{Operations: got.Operations})
					for _, o := range in.Pending {
						if o.How == record.Model && rejects[d] {
							in.Rejected = append(in.Rejected, record.Rejection{ID: o.ID, Text: o.Memory.Text, How: o.How})
							delete(pending, o.ID)
						}
					}
					put(Result{})
				}
				in.Considered = append(in.Considered, in.New...)
			}
			return accepted
		}
		if diff := gocmp.Diff(run(false), run(true)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// No question mixes private text with shared text.
func TestPrivateIsAskedAboutApart(t *testing.T) {
	private := kind(memory("Lint the web client with loud colours before every push."), record.Preference)
	private.Private = true
	contradicts := func(text string, own bool) record.Operation {
		o := record.Operation{Op: record.Add, How: record.Said, Memory: memory(text), Contradicts: []string{memory(lintA).ID, private.ID}}
		o.Memory.Private = own
		return record.NewOperation(o)
	}
	in := world(memory(lintA), private)
	in.Pending = []record.Operation{contradicts("Never lint.", false), contradicts("Be loud.", true)}
	mine := said("Lint the web client before every push with my own colours.")
	mine.Kind = record.Preference
	in.New = append(newLint("s1"), reflection("claude", "s22", mine))
	s := scripted{answer: func(_ int, r prompts.Rendered) string {
		if r.Name == "contradiction" {
			return `{"why": "", "verdict": "unclear", "keep": "", "text": "", "body": ""}`
		}
		return asks(prompts.DreamOperation{Op: "add", Evidence: []string{"c1"}, Kind: "workflow", Text: "Lint the web client in all colours by `just lint`."})
	}}
	got, err := Consider(t.Context(), s.model(8192), loaded(t), in, Result{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.asked {
		if shared, own := strings.Contains(r.User, lintA) || strings.Contains(r.User, "`just lint`"), strings.Contains(r.User, "loud colours") || strings.Contains(r.User, "my own"); shared && own {
			t.Errorf("asked about both: %s", r.User)
		}
	}
	if len(s.asked) < 3 {
		t.Errorf("%d questions", len(s.asked))
	}
	if len(got.Operations) != 1 || got.Operations[0].Private || len(got.Operations[0].Sightings) != 1 || got.Operations[0].Sightings[0].Session != "s1" {
		t.Errorf("%v", got.Operations)
	}
	in.New = in.New[1:]
	if got, err = Consider(t.Context(), s.model(8192), loaded(t), in, Result{}); err != nil || len(got.Operations) != 1 || !got.Operations[0].Private {
		t.Errorf("%v %v", err, got.Operations)
	}
}

func TestAnEditRetiresNothing(t *testing.T) {
	o := record.Operation{Op: record.Edit, Memory: memory(lintA)}
	o.Memory.Supersedes = []string{"a", "b", "c"}
	if n := retires(o); n != 0 {
		t.Errorf("an edit retires %d", n)
	}
}

func TestOverturns(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"Log the number of a card.", "Never log the number of a card.", true},
		{"The server listens on port 8080.", "The server listens on port 9090.", true},
		{"Lint the web client by make lint.", "Deploys of the billing service are at noon.", true},
		{"Lint the web client by make lint.", "Lint the whole web client by make lint.", false},
		{"Use pnpm", "Use `pnpm`.", false},
	} {
		if got := Overturns(tt.before, tt.after); got != tt.want {
			t.Errorf("%q to %q: %v", tt.before, tt.after, got)
		}
	}
}

// For any answer, the resulting operations wait for a person, concern only memories that the model
// saw and named, and change nothing else.
func TestConsiderTouchesNothingElse(t *testing.T) {
	set := loaded(t)
	words := []string{"lint", "the", "web", "client", "by", "make", "before", "every", "push", "never", "deploys", "noon"}
	rapid.Check(t, func(t *rapid.T) {
		statement := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 3, 9).Draw(t, "words"), " ")
		})
		in := world()
		seenText := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "memories") {
			m := memory(statement.Draw(t, "memory"))
			if seenText[m.ID] {
				continue
			}
			seenText[m.ID] = true
			m.Kind = rapid.SampledFrom(record.Kinds).Draw(t, "kind")
			m.Private = m.Kind == record.Preference
			m.Topic = rapid.SampledFrom([]string{"", "lint"}).Draw(t, "topic")
			switch rapid.IntRange(0, 9).Draw(t, "status") {
			case 0:
				m = m.Retire("gone")
			case 1:
				m.Status, m.Variants = record.Contested, []record.Variant{{Text: statement.Draw(t, "variant")}}
			case 2:
				in.Withheld[m.ID] = true
			}
			in.Memories = append(in.Memories, m)
			in.Blobs[m.ID] = "blob-" + m.ID
		}
		slices.SortFunc(in.Memories, func(a, b record.Memory) int { return strings.Compare(a.ID, b.ID) })
		for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
			c := seen(statement.Draw(t, "candidate"))
			c.How = rapid.SampledFrom([]record.How{record.Said, record.Seen, record.Model}).Draw(t, "how")
			c.Kind = rapid.SampledFrom(record.Kinds).Draw(t, "kind")
			c.Topic = rapid.SampledFrom([]string{"", "lint"}).Draw(t, "topic")
			in.New = append(in.New, reflection("claude", strings.Repeat("s", i+1), c))
		}
		ref := func(kind string) *rapid.Generator[string] {
			return rapid.Custom(func(t *rapid.T) string {
				return fmt.Sprintf("%s%d", kind, rapid.IntRange(0, 8).Draw(t, "ref"))
			})
		}
		var ops []prompts.DreamOperation
		for range rapid.IntRange(0, 4).Draw(t, "operations") {
			ops = append(ops, prompts.DreamOperation{
				Op:       rapid.SampledFrom([]string{"add", "edit", "merge", "retire", "join", "close"}).Draw(t, "op"),
				Targets:  rapid.SliceOfN(rapid.OneOf(ref("m"), ref("p")), 0, 3).Draw(t, "targets"),
				Evidence: rapid.SliceOfN(rapid.OneOf(ref("c"), ref("m")), 0, 3).Draw(t, "evidence"),
				Kind:     string(rapid.SampledFrom(record.Kinds[:8]).Draw(t, "kind")), // a model makes no notes
				Text:     statement.Draw(t, "text"),
			})
		}
		verdict := prompts.ContradictionAnswer{Why: "so", Verdict: rapid.SampledFrom([]string{"keep", "both", "join", "unclear"}).Draw(t, "verdict"), Keep: ref("m").Draw(t, "keep"), Text: statement.Draw(t, "joined")}
		weighs, _ := json.Marshal(verdict)
		s := scripted{answer: func(n int, r prompts.Rendered) string {
			if r.Name == "contradiction" {
				return string(weighs)
			}
			return asks(ops...)
		}}
		plan := Plan(in)
		got, err := Consider(context.Background(), s.model(16384), set, in, plan)
		if err != nil {
			t.Fatal(err)
		}
		after := map[string]record.Memory{}
		for _, m := range in.Memories {
			after[m.ID] = m
		}
		touched := map[string]bool{}
		retired, live := 0, 0
		for _, m := range in.Memories {
			if m.Live(now) {
				live++
			}
		}
		for _, o := range got.Operations {
			if ok, _ := (Policy{Accept: []record.How{record.Said, record.Seen, record.Model}}).Accepts(o); ok || o.How != record.Model {
				t.Fatalf("%s %q needs no person", o.Op, o.Memory.Text)
			}
			for _, b := range o.Base {
				m := after[b.ID]
				switch {
				case touched[b.ID]:
					t.Fatalf("%s is changed twice", b.ID)
				case !m.Live(now) || in.Withheld[b.ID] || b.Blob != in.Blobs[b.ID] || b.Path != m.Path():
					t.Fatalf("%s %s must not be changed", o.Op, b.ID)
				case m.Private != o.Private:
					t.Fatalf("%s moves %s", o.Op, b.ID)
				}
				touched[b.ID] = true
			}
			_, there := after[o.Memory.ID]
			if changes := o.Op == record.Edit || o.Op == record.Retire; changes != there || there && !touched[o.Memory.ID] {
				t.Fatalf("%s writes %s", o.Op, o.Memory.ID)
			}
			for _, id := range o.Memory.Supersedes {
				if !slices.ContainsFunc(o.Base, func(b record.Base) bool { return b.ID == id }) {
					t.Fatalf("%s retires %s", o.Op, id)
				}
			}
			retired += retires(o)
		}
		if retired > max(1, live*3/10) {
			t.Fatalf("%d of %d would be retired", retired, live)
		}
		waits := map[string]record.Operation{}
		for _, o := range plan.Operations {
			waits[o.ID] = o
		}
		for _, o := range got.Joined {
			all := Policy{Accept: []record.How{record.Said, record.Seen, record.Model}}
			was, _ := all.Accepts(waits[o.ID])
			if is, _ := all.Accepts(o); is && !was || o.File != waits[o.ID].File || len(o.Sightings) < len(waits[o.ID].Sightings) {
				t.Fatalf("a join changes %q", o.Memory.Text)
			}
		}
		for _, s := range got.Settled {
			held, there := waits[s.Operation.ID]
			delete(waits, s.Operation.ID)
			if _, joined := waits[s.Into]; !there || held.File != s.Operation.File || s.Into != "" && !joined || s.Into == "" && held.How == record.Written {
				t.Fatalf("settles %q", s.Operation.Memory.Text)
			}
		}
		again, err := Consider(context.Background(), s.model(16384), set, in, plan)
		if err != nil || !gocmp.Equal(got, again) {
			t.Fatalf("%v: %s", err, gocmp.Diff(got, again))
		}
	})
}

// An agent as the model is shown nothing of other agents' sessions, pending or not, and nothing
// private.
func TestAnAgentSeesItsOwnSessions(t *testing.T) {
	private := memory("Lint quietly before every push of the web client.")
	private.Private = true
	in := world(memory(lintA), private)
	in.New = append(newLint("s1"), reflection("codex", "s2", seen("Lint the web client by `walrus lint` before every push now.")),
		reflection("claude", "s3", kinded(seen("Lint the web client loudly before every push please."), record.Preference)))
	in.Considered = []record.Reflection{reflection("codex", "s4", seen("Lint the web client by `just lint` before every push now."))}
	contradicts := func(client, text string) record.Operation {
		return record.NewOperation(record.Operation{Op: record.Add, How: record.Said, Memory: memory(text), Contradicts: []string{memory(lintA).ID},
			Sightings: []record.Sighting{{Client: client, Session: "s9"}}})
	}
	in.Pending = []record.Operation{contradicts("codex", "Never lint the web client by a walrus before every push now."), contradicts("claude", "Never lint.")}
	s := &scripted{answer: func(_ int, r prompts.Rendered) string {
		if r.Name == "contradiction" {
			return `{"why": "w", "verdict": "unclear", "keep": "", "text": "", "body": ""}`
		}
		return asks()
	}}
	m := s.model(8192)
	m.Client = "claude"
	got, err := Consider(t.Context(), m, loaded(t), in, Result{})
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, r := range s.asked {
		shown += r.User
	}
	if len(s.asked) != 2 || !strings.Contains(shown, "just lint") || !strings.Contains(shown, "Never lint.") || !strings.Contains(shown, lintA) {
		t.Errorf("%d questions: %s", len(s.asked), shown)
	}
	for _, not := range []string{"walrus", "loudly", "quietly", "2 sessions"} {
		if strings.Contains(shown, not) {
			t.Errorf("shown %q: %s", not, shown)
		}
	}
	if want := []string{in.New[0].ID()}; !slices.Equal(got.Read, want) {
		t.Errorf("read %q, want %q", got.Read, want)
	}
	if len(in.New) != 3 || len(in.Considered) != 1 {
		t.Error("the input is changed")
	}
}

// kinded changes the kind of a candidate.
func kinded(c record.Candidate, k record.Kind) record.Candidate {
	c.Kind = k
	return c
}
