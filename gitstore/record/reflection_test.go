package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReflectionPath(t *testing.T) {
	r := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born}
	month := born.UTC().Format("2006-01")
	if want := "reflections/" + month + "/ab/claude-s-1-abababab.json"; r.Path() != want {
		t.Errorf("the detectors' own lies at %s, want %s", r.Path(), want)
	}
	r.Model, r.Digest, r.Prompt = "qwen2.5-coder:7b", "0d0d", strings.Repeat("cd", 32)
	// printf 'qwen2.5-coder:7b\0000d0d\000%s' $(printf 'cd%.0s' {1..32}) | sha256sum | head -c 8
	if want := "reflections/" + month + "/ab/claude-s-1-abababab-1392c77b.json"; r.Path() != want {
		t.Errorf("a model's lies at %s, want %s", r.Path(), want)
	}
}

func TestParseReflectionChecksTheModel(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Reflection)
		field  string // the faulty one, or empty
	}{
		{"the detectors' own", func(r *Reflection) { r.Model, r.Digest, r.Prompt = "", "", "" }, ""},
		{"a model's", func(r *Reflection) {}, ""},
		{"nobody told the digest", func(r *Reflection) { r.Digest = "" }, ""},
		{"a prompt for no model", func(r *Reflection) { r.Model, r.Digest = "", "" }, "prompt"},
		{"a digest of no model", func(r *Reflection) { r.Model = "" }, "digest"},
		{"no prompt", func(r *Reflection) { r.Prompt = "" }, "prompt"},
		{"a prompt that is no hash", func(r *Reflection) { r.Prompt = strings.Repeat("x", 64) }, "prompt"},
		{"a digest that is not hex", func(r *Reflection) { r.Digest = "sha256:00" }, "digest"},
		{"a name of two lines", func(r *Reflection) { r.Model = "a\nb" }, "model"},
		{"a name that hides something", func(r *Reflection) { r.Model = "a\u202eb" }, "model"},
		{"a name without end", func(r *Reflection) { r.Model = strings.Repeat("a", 300) }, "model"},
	} {
		r := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born, Model: "m:7b", Digest: "0d0d", Prompt: strings.Repeat("cd", 32)}
		test.change(&r)
		text, err := r.Format()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseReflection(r.Path(), text)
		var bad *FormatError
		switch {
		case test.field == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.field == "":
			if diff := cmp.Diff(r, got); diff != "" {
				t.Errorf("%s:\n%s", test.name, diff)
			}
		case !errors.As(err, &bad) || bad.Field != test.field:
			t.Errorf("%s: error %v, want one about %s", test.name, err, test.field)
		}
	}
}

// A model's reflection at the path of the detectors' own would replace it.
func TestReflectionsOfTwoKindsDoNotShareAPath(t *testing.T) {
	own := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born}
	read := own
	read.Model, read.Prompt = "m:7b", strings.Repeat("cd", 32)
	text, err := read.Format()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseReflection(own.Path(), text); err == nil {
		t.Error("a model's reflection was read at the path of the detectors' own")
	}
}

// Two clones accepted different statements of one reading. The merged reflection holds both and
// keeps its model.
func TestReadingsMerge(t *testing.T) {
	r := Reflection{Client: "claude", Session: "s-1", Hash: strings.Repeat("ab", 32), Started: born, Model: "m:7b", Digest: "0d0d", Prompt: strings.Repeat("cd", 32)}
	statement := func(event int, text string) Candidate {
		return Candidate{Kind: Fact, Text: text, How: Model, Detector: "model", Evidence: []Evidence{{Event: event, Quote: text}}}
	}
	all := facts{}
	for _, c := range []Candidate{statement(2, "two"), statement(1, "one")} {
		r.Candidates = []Candidate{c}
		text, err := r.Format()
		if err != nil {
			t.Fatal(err)
		}
		f, err := reflectionFacts(r.Path(), text)
		if err != nil {
			t.Fatal(err)
		}
		for field, values := range f {
			for _, v := range values {
				all.add(field, v)
			}
		}
	}
	text, dropped, err := factsReflection(r.Path(), all)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseReflection(r.Path(), text)
	if err != nil {
		t.Fatal(err)
	}
	r.Candidates = []Candidate{statement(1, "one"), statement(2, "two")}
	if diff := cmp.Diff(r, got); diff != "" || dropped {
		t.Errorf("dropped %v:\n%s", dropped, diff)
	}
}
