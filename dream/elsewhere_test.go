package dream

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// disputed returns a world with a contested memory and two sessions' statements about it.
func disputed(t *testing.T) Elsewhere {
	t.Helper()
	contested := memory("Lint the mobile app by pnpm lint before every push.")
	contested.Status, contested.Variants = record.Contested, []record.Variant{{Text: "Lint the mobile app by npm run lint before every push."}}
	in := world(memory(lintA), contested)
	in.New = newLint("s1", "s2")
	return Elsewhere{Set: loaded(t), Context: 8192, In: in}
}

const (
	keepFirst = `{"why": "it is said so", "verdict": "keep", "keep": "m1", "text": "", "body": ""}`
	nobody    = `{"operations": []}`
)

// The exported questions equal those of Consider, for any answers, and equal answers have equal
// results.
func TestImportIsConsider(t *testing.T) {
	e := disputed(t)
	edit := asks(prompts.DreamOperation{Op: "edit", Targets: []string{"m1"}, Evidence: []string{"c1"}, Text: "Lint the whole web client by just lint before every push."})
	s := &scripted{answer: func(n int, _ prompts.Rendered) string { return []string{keepFirst, edit}[n-1] }}
	want, err := Consider(t.Context(), s.model(e.Context), e.Set, e.In, e.Plan)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := e.Questions()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.asked, questions); diff != "" || len(questions) != 2 {
		t.Fatalf("%d questions: %s", len(questions), diff)
	}
	got, err := e.Import("scripted", []byte(keepFirst+"\n"+edit+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Operations) != 2 || len(got.Read) != 2 {
		t.Errorf("%+v\n%s", got, diff)
	}
	for _, o := range got.Operations {
		if o.How != record.Model || o.Model != "scripted" {
			t.Errorf("an operation that no person has to see: %+v", o)
		}
	}
}

func TestImportRefusesWhatDoesNotAnswer(t *testing.T) {
	e := disputed(t)
	for _, c := range []struct{ name, answers, want string }{
		{"nothing", "", "questions 2, answers 0"},
		{"one", keepFirst, "questions 2, answers 1"},
		{"three", keepFirst + nobody + nobody, "questions 2, answers 3"},
		{"another order", nobody + keepFirst, `answer 1: there is no field "operations"`},
		{"words", keepFirst + "\nHere it is:", "answer 2: not JSON"},
		{"cut off", keepFirst + `{"operations": [`, "answer 2: it is cut off"},
		{"no item of the right form", keepFirst + `{"operations": [{"op": "add"}]}`, "answer 2: operations[0].why: is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := e.Import("m", []byte(c.answers))
			if !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(got.Operations)+len(got.Read)+len(got.Weighed) > 0 {
				t.Errorf("something follows: %+v", got)
			}
		})
	}
}

// Private text is not in the questions, and reflections with such text stay new.
func TestQuestionsElsewhereAreWithoutWhatIsPrivate(t *testing.T) {
	taste := kind(memory("Lint the web client with loud colours before every push."), record.Preference)
	taste.Private, taste.Status = true, record.Contested
	taste.Variants = []record.Variant{{Text: "Lint the web client without colours before every push."}}
	in := world(memory(lintA), taste)
	in.New = newLint("s1")
	mixed := reflection("claude", "s2", seen("Run just lint on the web client before each push."), seen("I like the lint of the web client in loud red."))
	mixed.Candidates[1].Kind = record.Preference
	in.New = append(in.New, mixed)
	e := Elsewhere{Set: loaded(t), Context: 8192, In: in}
	questions, err := e.Questions()
	if err != nil {
		t.Fatal(err)
	}
	if len(questions) != 1 || strings.Contains(questions[0].User, "colours") || strings.Contains(questions[0].User, "loud red") || !strings.Contains(questions[0].User, lintA) {
		t.Fatalf("questions %+v", questions)
	}
	got, err := e.Import("m", []byte(nobody))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{in.New[0].ID()}, got.Read); diff != "" || len(got.Weighed) != 0 {
		t.Errorf("weighed %q, read %s", got.Weighed, diff)
	}
}

func TestNameOfQuestions(t *testing.T) {
	e := disputed(t)
	before, err := e.Questions()
	if err != nil {
		t.Fatal(err)
	}
	e.In.New = append(e.In.New, reflection("claude", "s3", seen("Lint the web client by task lint before every push.")))
	after, err := e.Questions()
	if err != nil {
		t.Fatal(err)
	}
	again, err := disputed(t).Questions()
	if err != nil {
		t.Fatal(err)
	}
	if NameOf(before) == NameOf(after) || NameOf(before) != NameOf(again) || len(NameOf(before)) != 12 {
		t.Errorf("%s, %s, %s", NameOf(before), NameOf(after), NameOf(again))
	}
}
