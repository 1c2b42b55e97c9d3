package dream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// pendingBy returns an operation that waits, with the evidence of sessions.
func pendingBy(how record.How, text string, sessions ...string) record.Operation {
	m := memory(text)
	m.Source.How = how
	o := record.Operation{Op: record.Add, How: how, Memory: m}
	for _, s := range sessions {
		c := seen(text)
		c.How = how
		o.Sightings = append(o.Sightings, sighting(reflection("claude", s, c), c))
	}
	for i := range o.Sightings {
		o.Sightings[i].Evidence = []record.Evidence{{Event: 1, Quote: text, Time: now.Add(-time.Hour)}}
	}
	return record.NewOperation(o)
}

const (
	lintSaid    = "Always lint the web client before every push."
	lintSeen    = "Lint the web client before you push."
	lintRead    = "Before a push, lint the web client."
	lintGuessed = "Lint the web client before every push to main."
)

// settles runs a Consider in which a model asks for one change of what waits.
func settles(t *testing.T, in Input, ask prompts.DreamOperation) Considered {
	t.Helper()
	s := scripted{answer: func(int, prompts.Rendered) string { return asks(ask) }}
	got, err := Consider(t.Context(), s.model(16384), loaded(t), in, Result{})
	if err != nil || got.Asked != 1 {
		t.Fatalf("asked %d times: %v", got.Asked, err)
	}
	return got
}

// ref returns the short name of a pending operation in a question.
func ref(t *testing.T, in Input, text string) string {
	t.Helper()
	found := ""
	s := scripted{answer: func(_ int, r prompts.Rendered) string {
		for line := range strings.Lines(r.User) {
			if name, rest, ok := strings.Cut(line, " "); ok && strings.HasSuffix(strings.TrimSpace(rest), ": "+text) && name[0] == 'p' {
				found = name
			}
		}
		return asks()
	}}
	if _, err := Consider(t.Context(), s.model(16384), loaded(t), in, Result{}); err != nil || found == "" {
		t.Fatalf("%q is not shown: %v", text, err)
	}
	return found
}

// A join keeps the best proven words, and all quotes with the words of their sessions. It leaves
// the policy's verdict as it was.
func TestJoinKeepsWordsAndEvidence(t *testing.T) {
	in := world()
	in.New = newLint("s1")
	said, seen, read := pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Seen, lintSeen, "b1"), pendingBy(record.Model, lintRead, "c1")
	in.Pending = []record.Operation{read, seen, said}
	got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, lintRead), ref(t, in, lintSeen), ref(t, in, lintSaid)}, Text: "Never lint."})
	if len(got.Joined) != 1 || len(got.Settled) != 2 || len(got.Operations) != 0 {
		t.Fatalf("%+v", got)
	}
	kept := got.Joined[0]
	if kept.File != said.File || kept.ID != said.ID || kept.How != record.Said {
		t.Errorf("kept %q, %s", kept.Memory.Text, kept.How)
	}
	says := map[string]string{}
	for _, s := range kept.Sightings {
		says[s.Evidence[0].Quote] = s.Says
	}
	if want := map[string]string{lintSaid: "", lintSeen: lintSeen, lintRead: lintRead}; !maps.Equal(says, want) {
		t.Error(gocmp.Diff(want, says))
	}
	for _, s := range got.Settled {
		if s.Into != said.ID || !strings.Contains(s.Reason(), lintSaid) || s.Operation.File != seen.File && s.Operation.File != read.File {
			t.Errorf("%+v", s)
		}
	}
	all := Policy{Accept: []record.How{record.Said, record.Seen, record.Model}}
	before, _ := all.Accepts(said)
	if after, _ := all.Accepts(kept); before != after {
		t.Errorf("accepted before %v, now %v", before, after)
	}

	// The next dream knows the joined words: they add evidence, and no new proposal. A person who
	// returns an operation keeps it.
	in.Pending = got.Joined
	in.New = []record.Reflection{reflection("claude", "later", candidate(record.Seen, lintSeen))}
	plan := Plan(in)
	if plan.Proposed != 0 || len(plan.Operations) != 1 || len(plan.Operations[0].Sightings) != 4 || plan.Operations[0].How != record.Said {
		t.Errorf("%+v", plan)
	}
	in.Pending, in.New = []record.Operation{read, seen, said}, newLint("s1")
	for _, key := range got.Weighed {
		in.Weighed[key] = true
	}
	again := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, lintSeen), ref(t, in, lintSaid)}})
	if again.Refused["settles what was settled before"] != 1 || len(again.Settled) != 0 {
		t.Errorf("%+v", again)
	}
}

// A join keeps the statement that says more or holds in more places, if the proof is equal.
func TestJoinKeepsTheWiderStatement(t *testing.T) {
	wide := "Run `make lint` before every push."
	for _, c := range [][2]record.Operation{
		{pendingBy(record.Model, wide, "a1"), pendingBy(record.Model, "Run `make lint` and `make vet` before every push.", "b1")},
		{within(pendingBy(record.Model, wide, "a1"), "web/"), pendingBy(record.Model, "Before every push, run `make lint`.", "b1")},
	} {
		in := world()
		in.New, in.Pending = newLint("s1"), c[:]
		got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, c[0].Memory.Text), ref(t, in, c[1].Memory.Text)}})
		if len(got.Joined) != 1 || got.Joined[0].ID != c[1].ID {
			t.Errorf("kept %+v, refused %v", got.Joined, got.Refused)
		}
	}
}

// A rejection stops the joined words too, also as a person's.
func TestRejectionStopsJoinedWords(t *testing.T) {
	const other = "Run the linter of the web client before each push."
	in := world()
	in.New = newLint("s1")
	in.Pending = []record.Operation{pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Seen, other, "b1")}
	got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, lintSaid), ref(t, in, other)}})
	if len(got.Joined) != 1 {
		t.Fatalf("%+v", got)
	}
	in.Pending, in.New = nil, []record.Reflection{reflection("claude", "later", candidate(record.Said, other))}
	for _, rejected := range []record.Rejection{{ID: got.Joined[0].ID, Text: lintSaid}, got.Joined[0].Reject("", "", now)} {
		in.Rejected = []record.Rejection{rejected}
		if plan := Plan(in); plan.Proposed != 1-len(rejected.Says) {
			t.Errorf("%+v: proposed %d", rejected, plan.Proposed)
		}
	}
}

func candidate(how record.How, text string) record.Candidate {
	c := seen(text)
	c.How = how
	return c
}

// Two sessions that each state another value, and a wider proof than each had, are no join.
func TestJoinIsRefused(t *testing.T) {
	tests := []struct {
		name string
		a, b record.Operation
		want string
	}{
		{"another value", pendingBy(record.Said, "Lint the web client by make lint before every push.", "a1"), pendingBy(record.Said, "Lint the web client by just lint before every push.", "b1"), "joins what says something else"},
		{"a negation", pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Said, "Never lint the web client before every push.", "b1"), "joins what says something else"},
		{"a person's edit", pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Written, lintSeen, "b1"), "settles what a person wrote"},
		{"another place", within(pendingBy(record.Said, lintSaid, "a1"), "api/"), within(pendingBy(record.Said, lintSeen, "b1"), "web/"), "joins what holds in different places"},
		{"a constraint", pendingBy(record.Said, lintSaid, "a1"), ofKind(pendingBy(record.Seen, lintSeen, "b1"), record.Constraint), "weakens a constraint"},
		{"two sessions that count once", pendingBy(record.Seen, lintGuessed, "a1"), pendingBy(record.Seen, "Before every push to main, lint the web client.", "b1"), "raises what is proven"},
		{"a change", pendingBy(record.Said, lintSaid, "a1"), based(pendingBy(record.Said, lintSeen, "b1")), "settles a change of a memory"},
	}
	for _, test := range tests {
		in := world()
		in.New = newLint("s1")
		in.Pending = []record.Operation{test.a, test.b}
		got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, test.a.Memory.Text), ref(t, in, test.b.Memory.Text)}})
		if got.Refused[test.want] != 1 || len(got.Joined)+len(got.Settled)+len(got.Weighed) != 0 {
			t.Errorf("%s: refused %v, settled %v", test.name, got.Refused, got.Settled)
		}
	}
	in := world()
	in.New = newLint("s1")
	a, b := pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Said, lintSeen, "b1")
	in.Pending, in.Proposed = []record.Operation{a, b}, map[string]string{b.ID: "reverie/proposal/1"}
	for targets, want := range map[string]string{"p1 p2": "settles what is proposed to the team", "p1 p1": "names an operation twice", "p1 p9": "names what it was not shown", "p1 m1": "names what it was not shown", "p1": "is no operation"} {
		got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: strings.Fields(targets)})
		if got.Refused[want] != 1 || len(got.Settled) != 0 {
			t.Errorf("%s: refused %v", targets, got.Refused)
		}
	}
}

func within(o record.Operation, path string) record.Operation {
	o.Memory.Paths = []string{path}
	return record.NewOperation(o)
}

// passing returns an operation whose quotes, each of another time, do not claim to last.
func passing(o record.Operation) record.Operation {
	for n, s := range o.Sightings {
		for i := range s.Evidence {
			s.Evidence[i].Doubt, s.Evidence[i].Time = record.Passing, now.Add(-time.Duration(n+1)*time.Hour)
		}
	}
	return record.NewOperation(o)
}

func ofKind(o record.Operation, k record.Kind) record.Operation {
	o.Memory.Kind = k
	return record.NewOperation(o)
}

func based(o record.Operation) record.Operation {
	o.Base = []record.Base{{ID: "0123456789abcdef"}}
	return o
}

// A close needs a memory that says it, or later words that made it untrue. A person's words give
// way only to a person's later words that oppose them.
func TestClose(t *testing.T) {
	known := kind(memory("Always lint the whole web client before every push."), record.Convention)
	here := known
	here.Paths = []string{"web/"}
	other := memory("Always lint the billing service by just lint before every push.")
	later := func(how record.How, text string) []record.Reflection {
		return []record.Reflection{reflection("claude", "s1", candidate(how, text)), reflection("claude", "s22", candidate(how, text))}
	}
	const opposite = "Never lint the web client before every push."
	quoted := later(record.Model, opposite)
	for i := range quoted {
		quoted[i].Candidates[0].Evidence[0].By = record.ByPerson
	}
	earlier := later(record.Said, opposite)
	for i := range earlier {
		earlier[i].Candidates[0].Evidence[0].Time = now.Add(-2 * time.Hour)
	}
	tests := []struct {
		name     string
		memories []record.Memory
		waits    record.Operation
		heard    []record.Reflection
		evidence string
		want     string // "" if it is closed
	}{
		{"a memory says it", []record.Memory{known}, pendingBy(record.Said, lintSaid, "a1"), newLint("s1"), "m1", ""},
		{"a memory says it of one place", []record.Memory{here}, pendingBy(record.Said, lintSaid, "a1"), newLint("s1"), "m1", "closes what holds in other places"},
		{"a memory says something else", []record.Memory{other}, pendingBy(record.Said, lintSaid, "a1"), newLint("s1"), "m1", "closes what is not known"},
		{"a weaker memory", []record.Memory{known}, ofKind(pendingBy(record.Said, lintSaid, "a1"), record.Constraint), newLint("s1"), "m1", "weakens a constraint"},
		{"a person corrected it", nil, pendingBy(record.Said, lintSaid, "a1"), later(record.Said, opposite), "c1", ""},
		{"a model read the correction", nil, pendingBy(record.Said, lintSaid, "a1"), quoted, "c1", ""},
		{"the correction is older", nil, pendingBy(record.Said, lintSaid, "a1"), earlier, "c1", "rests on too little"},
		{"commands against a person", nil, pendingBy(record.Said, lintSaid, "a1"), later(record.Seen, opposite), "c1", "rests on too little"},
		{"a model against a person", nil, pendingBy(record.Said, lintSaid, "a1"), later(record.Model, opposite), "c1", "rests on too little"},
		{"a person who does not oppose it", nil, pendingBy(record.Said, lintSaid, "a1"), later(record.Said, "Lint the web client with colours."), "c1", "rests on too little"},
		{"commands of two later sessions", nil, pendingBy(record.Seen, lintSeen, "a1"), later(record.Seen, opposite), "c1", ""},
		{"commands of one later session", nil, pendingBy(record.Seen, lintSeen, "a1"), later(record.Seen, opposite)[:1], "c1", "rests on too little"},
		{"another subject", nil, pendingBy(record.Seen, lintSeen, "a1"), append(later(record.Seen, deploys), newLint("s1")...), "c1", "rests on what is about something else"},
		{"no evidence", nil, pendingBy(record.Seen, lintSeen, "a1"), newLint("s1"), "", "rests on nothing"},
		{"an order of one task", nil, passing(pendingBy(record.Said, lintSaid, "a1")), newLint("s1"), "", ""},
		{"an order of two sessions", nil, passing(pendingBy(record.Said, lintSaid, "a1", "b1")), newLint("s1"), "", "rests on nothing"},
		{"a constraint", nil, ofKind(passing(pendingBy(record.Said, lintSaid, "a1")), record.Constraint), newLint("s1"), "", "rests on nothing"},
		{"a person's rule", nil, pendingBy(record.Said, lintSaid, "a1"), newLint("s1"), "", "rests on nothing"},
		{"a model's reading in passing", nil, passing(pendingBy(record.Model, lintSaid, "a1")), newLint("s1"), "", "rests on nothing"},
		{"an edited order", nil, passing(pendingBy(record.Written, lintSaid, "a1")), newLint("s1"), "", "settles what a person wrote"},
		{"a person's edit", []record.Memory{known}, pendingBy(record.Written, lintSaid, "a1"), newLint("s1"), "m1", "settles what a person wrote"},
	}
	for _, test := range tests {
		in := world(test.memories...)
		in.New, in.Pending = test.heard, []record.Operation{test.waits}
		got := settles(t, in, prompts.DreamOperation{Op: "close", Targets: []string{"p1"}, Evidence: strings.Fields(test.evidence)})
		switch {
		case test.want != "" && (got.Refused[test.want] != 1 || len(got.Settled) != 0):
			t.Errorf("%s: refused %v, settled %v", test.name, got.Refused, got.Settled)
		case test.want == "" && (len(got.Settled) != 1 || got.Settled[0].Into != "" || got.Settled[0].Reason() == ""):
			t.Errorf("%s: refused %v", test.name, got.Refused)
		}
	}
}

// One dream closes a third of what waits at most, and always one.
func TestCloseIsBounded(t *testing.T) {
	in := world(memory("Always lint the whole web client before every push."))
	in.New = newLint("s1")
	in.Pending = []record.Operation{pendingBy(record.Seen, lintSeen, "a1"), pendingBy(record.Said, lintSaid, "a1")}
	s := scripted{answer: func(int, prompts.Rendered) string {
		return asks(prompts.DreamOperation{Op: "close", Targets: []string{"p1"}, Evidence: []string{"m1"}}, prompts.DreamOperation{Op: "close", Targets: []string{"p2"}, Evidence: []string{"m1"}})
	}}
	got, err := Consider(t.Context(), s.model(16384), loaded(t), in, Result{})
	if err != nil || len(got.Settled) != 1 || got.Refused["would close too much"] != 1 {
		t.Errorf("%v: %+v", err, got)
	}
}

// A change of the inbox or of the memory, while the model thinks, leaves what waits as it is.
func TestSettledStanding(t *testing.T) {
	m := memory("Always lint the whole web client before every push.")
	in := world(m)
	in.New = newLint("s1")
	said, seen := pendingBy(record.Said, lintSaid, "a1"), pendingBy(record.Seen, lintSeen, "b1")
	in.Pending = []record.Operation{said, seen}
	closed := settles(t, in, prompts.DreamOperation{Op: "close", Targets: []string{ref(t, in, lintSaid)}, Evidence: []string{"m1"}})
	joined := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{"p1", "p2"}})
	for _, got := range []Considered{closed, joined} {
		if len(got.Settled) != 1 {
			t.Fatalf("%+v", got)
		}
		if again := got.Standing(in, Result{}); !gocmp.Equal(again, got) {
			t.Error(gocmp.Diff(got, again))
		}
	}
	edited := said
	edited.File += "\nMore."
	for name, change := range map[string]func(*Input){
		"decided": func(in *Input) { in.Pending = nil },
		"edited":  func(in *Input) { in.Pending = []record.Operation{edited, seen} },
	} {
		now := in
		change(&now)
		for _, got := range []Considered{closed, joined} {
			if left := got.Standing(now, Result{}); len(left.Settled)+len(left.Joined) != 0 || slices.ContainsFunc(left.Weighed, func(k string) bool { return strings.HasPrefix(k, settledKey("")) }) {
				t.Errorf("%s: %+v", name, left)
			}
		}
	}
	moved := in
	moved.Blobs = map[string]string{m.ID: "another"}
	if left := closed.Standing(moved, Result{}); len(left.Settled) != 0 || left.Refused["rests on what has changed"] != 1 {
		t.Errorf("%+v", left)
	}
}

// A proposal that a model settled comes back when a person says it again, or commands show it.
func TestSettledStopsNoPerson(t *testing.T) {
	for how, want := range map[record.How]int{record.Said: 1, record.Seen: 1, record.Model: 0} {
		in := world()
		in.Rejected = []record.Rejection{{ID: pendingBy(record.Said, lintSaid).ID, Text: lintSaid, How: record.Said, Model: "scripted"}}
		in.New = []record.Reflection{reflection("claude", "s1", candidate(how, lintSaid))}
		if plan := Plan(in); plan.Proposed != want {
			t.Errorf("%s: proposed %d", how, plan.Proposed)
		}
	}
}

// An answer that joins proposals changes no later question, and an agent's answer joins none.
func TestJoinChangesNoLaterQuestion(t *testing.T) {
	in := world()
	in.Pending = []record.Operation{pendingBy(record.Said, lintSaid, "a"), pendingBy(record.Seen, lintSeen, "b")}
	for i := range maxShown + 2 {
		c := seen(fmt.Sprintf("Before you push, lint part%d of the web client with tool%d.", i, i))
		in.New = append(in.New, reflection("claude", fmt.Sprint("s", i), c))
	}
	for _, agent := range []bool{false, true} {
		in.Agent = agent
		e := Elsewhere{Set: loaded(t), Context: 16384, In: in}
		questions, err := e.Questions()
		if err != nil || len(questions) < 2 || !strings.Contains(questions[1].User, lintSaid) {
			t.Fatalf("%d questions: %v", len(questions), err)
		}
		join := asks(prompts.DreamOperation{Op: "join", Targets: []string{"p1", "p2"}, Why: "they say one thing"})
		got, err := e.Import("m", []byte(join+strings.Repeat("\n"+nobody, len(questions)-1)))
		if err != nil || len(got.Settled) == 1 == agent || agent && got.Refused["needs a person"] != 1 {
			t.Errorf("agent %t: %d are settled, refused %v: %v", agent, len(got.Settled), got.Refused, err)
		}
	}
}

// Rules that share some words say different things.
func TestJoinIsRefusedForAnotherRule(t *testing.T) {
	const one, other = "Always ask the security team before you change the login form.", "Always ask the security team before you delete customer records."
	in := world()
	in.Pending = []record.Operation{pendingBy(record.Said, one, "a"), pendingBy(record.Said, other, "b")}
	in.New = []record.Reflection{reflection("claude", "n", seen("Ask the security team before each release."))}
	got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, one), ref(t, in, other)}, Why: "same"})
	if len(got.Settled) > 0 || len(got.Refused) == 0 {
		t.Errorf("%+v, refused %v", got.Settled, got.Refused)
	}
}

// The guards let pass what the prompt gives as an example.
func TestExampleOfThePromptIsSettled(t *testing.T) {
	set := loaded(t)
	r, err := set.Dream(prompts.Dream{Candidates: []prompts.Sight{{Ref: "c1", Sessions: 1, Kind: "fact", Text: "The cache is warm."}}})
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(r.System, "\nExample 2, ")
	example, _, _ = strings.Cut(example, "\n\n")
	in := world()
	texts, answer := map[string]string{}, prompts.DreamAnswer{}
	for line := range strings.Lines(example) {
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatal(err)
			}
		}
		label, text, found := strings.Cut(strings.TrimSpace(line), ": ")
		label, kindOf, _ := strings.Cut(label, " ")
		switch {
		case !found || strings.Trim(label[1:], "0123456789") != "":
			continue
		case label[0] == 'm':
			in = world(kind(memory(text), record.Kind(kindOf)))
		case label[0] == 'p':
			in.Pending = append(in.Pending, ofKind(pendingBy(record.Seen, text, label), record.Kind(kindOf)))
			in.New = append(in.New, reflection("claude", "new "+label, seen(text+" Now.")))
		}
		texts[label] = text
	}
	if len(in.Memories) != 1 || len(in.Pending) != 3 || len(answer.Operations) != 2 {
		t.Fatalf("the example has changed: %s", example)
	}
	for i := range answer.Operations {
		o := &answer.Operations[i]
		for j, label := range o.Targets {
			o.Targets[j] = ref(t, in, texts[label])
		}
		if o.Op == "close" {
			o.Evidence = []string{"m1"}
		}
	}
	s := scripted{answer: func(int, prompts.Rendered) string { return asks(answer.Operations...) }}
	got, err := Consider(t.Context(), s.model(16384), set, in, Result{})
	if err != nil || len(got.Joined) != 1 || len(got.Settled) != 2 || len(got.Refused) != 0 {
		t.Errorf("joined %d, settled %d, refused %v: %v", len(got.Joined), len(got.Settled), got.Refused, err)
	}
}

// Proposals that rest on the same words of a session may differ in more words than others.
func TestJoinOfOneProof(t *testing.T) {
	const one, other = "Start the search index before the crawler tests.", "The crawler suite needs the index started."
	for _, shared := range []bool{false, true} {
		a, b := pendingBy(record.Seen, one, "a1"), pendingBy(record.Seen, other, "b1")
		if shared {
			b.Sightings = a.Sightings
			b = record.NewOperation(b)
		}
		in := world()
		in.Pending = []record.Operation{a, b}
		in.New = []record.Reflection{reflection("claude", "n", seen("The index and the crawler run in one container."))}
		got := settles(t, in, prompts.DreamOperation{Op: "join", Targets: []string{ref(t, in, one), ref(t, in, other)}})
		if len(got.Settled) == 1 != shared {
			t.Errorf("shared %t: settled %v, refused %v", shared, got.Settled, got.Refused)
		}
	}
}
