package prompts

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

const goodReflect = `{"candidates": [{"why": "w", "kind": "fact", "text": "t", "body": "", "proof": "person", "paths": ["a/"], "evidence": [{"event": 3, "quote": "q"}]}]}`

func TestDecodeReflect(t *testing.T) {
	got, err := DecodeReflect(json.RawMessage("\n " + goodReflect + " \n"))
	if err != nil {
		t.Fatal(err)
	}
	want := ReflectAnswer{Candidates: []ReflectCandidate{{"w", "person", []ReflectAnchor{{3, "q"}}, "fact", "t", "", []string{"a/"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnswerThatDoesNotFitIsRefused(t *testing.T) {
	with := func(old, new string) string {
		if !strings.Contains(goodReflect, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(goodReflect, old, new, 1)
	}
	one := strings.TrimSuffix(strings.TrimPrefix(goodReflect, `{"candidates": [`), `]}`)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", " ", []string{"the answer is empty"}},
		{"words", "Here it is: {}", []string{"not JSON: invalid character 'H' looking for beginning of value"}},
		{"fenced", "```json\n" + goodReflect + "\n```", []string{"not JSON: invalid character '`' looking for beginning of value"}},
		{"cut", goodReflect[:len(goodReflect)-1], []string{"the answer is cut off"}},
		{"cut in a string", goodReflect[:30], []string{"the answer is cut off"}},
		{"words behind", goodReflect + "\nI hope this helps.", []string{"text follows the JSON object; there may be nothing else"}},
		{"two", goodReflect + goodReflect, []string{"text follows the JSON object; there may be nothing else"}},
		{"null", "null", []string{"the answer is null; it must be an object"}},
		{"a list", "[]", []string{"the answer is an array; it must be an object"}},
		{"not UTF-8", with(`"w"`, "\"\xff\""), []string{"the answer is not UTF-8"}},
		{"missing", with(`"why": "w", `, ""), []string{"candidates[0].why: is missing"}},
		{"unknown", with(`"why"`, `"Why": "", "why"`), []string{`candidates[0]: there is no field "Why"; there are why, proof, evidence, kind, text, body, paths`}},
		{"twice", with(`"why": "w"`, `"why": "w", "why": "x"`), []string{"candidates[0].why: stands twice"}},
		{"not in the enum", with(`"fact"`, `"note"`), []string{`candidates[0].kind: "note" is not one of constraint, convention, decision, preference, workflow, failure, pattern, fact`}},
		{"too long", with(`"t"`, `"`+strings.Repeat("é", 401)+`"`), []string{"candidates[0].text: 401 characters; it may have 200"}},
		{"too many", `{"candidates": [` + strings.Repeat(one+",", 4) + one + `]}`, []string{"candidates: 5 items; it may have 3"}},
		{"fraction", with(`3`, `3.5`), []string{"candidates[0].evidence[0].event: 3.5 is not a whole number from 0 to 999999"}},
		{"huge", with(`3`, `1e400`), []string{"candidates[0].evidence[0].event: 1e400 is not a whole number from 0 to 999999"}},
		{"very long", with(`3`, strings.Repeat("9", 60)), []string{"candidates[0].evidence[0].event: " + strings.Repeat("9", 36) + " … is not a whole number from 0 to 999999"}},
		{"negative", with(`3`, `-1`), []string{"candidates[0].evidence[0].event: -1 is not a whole number from 0 to 999999"}},
		{"not a number", with(`3`, `NaN`), []string{"not JSON: invalid character 'N' looking for beginning of value"}},
		{"text for a number", with(`3`, `"3"`), []string{"candidates[0].evidence[0].event: is a string; it must be a whole number"}},
		{"null for a list", with(`["a/"]`, `null`), []string{"candidates[0].paths: is null; it must be an array"}},
		{"several", `{"candidates": [{"why": 1, "kind": {}, "paths": ["a", "b", "c", "d", "e"], "x": [{}]}], "y": [[]]}`, []string{
			"candidates[0].why: is a number; it must be a string",
			"candidates[0].kind: is an object; it must be a string",
			"candidates[0].paths: 5 items; it may have 2",
			`candidates[0]: there is no field "x"; there are why, proof, evidence, kind, text, body, paths`,
			"candidates[0].proof: is missing", "candidates[0].evidence: is missing",
			"candidates[0].text: is missing", "candidates[0].body: is missing",
			`there is no field "y"; there are candidates`,
		}},
		{"comma", `{"candidates": [],}`, nil},
		{"deep", with(`["a/"]`, strings.Repeat("[", 20000)+strings.Repeat("]", 20000)), []string{"candidates[0].paths[0]: is an array; it must be a string"}},
		{"deep and open", strings.Repeat("[", 100000), []string{"the answer is an array; it must be an object", "the answer is cut off"}},
		{"big", `{"candidates": [` + strings.Repeat(" ", maxAnswer) + `]}`, []string{"the answer has 262162 bytes; it may have 262144"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := DecodeReflect(json.RawMessage(c.text))
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("%v, %+v", err, got)
			}
			if diff := cmp.Diff(c.want, []string(faults)); c.want != nil && diff != "" {
				t.Error(diff)
			}
			if len(got.Candidates) > 0 {
				t.Errorf("what does not fit was read all the same: %+v", got)
			}
		})
	}
}

func TestExampleIsNoAnswer(t *testing.T) {
	for _, q := range questions {
		p := Set{}.named(q.name)
		if len(p.example) == 0 {
			t.Errorf("%s: the example has no string to know it by", q.name)
		}
		for _, text := range inText(p) {
			_, err := decodeAny(q.name, text)
			if isExample := !strings.HasSuffix(text, ": []}"); isExample != (err != nil && strings.Contains(err.Error(), "is the example's")) {
				t.Errorf("%s: %v: %s", q.name, err, text)
			}
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var fields []string
	for i := range 5000 {
		fields = append(fields, fmt.Sprintf(`"f%d": 0`, i))
	}
	_, err := DecodeDream(json.RawMessage("{" + strings.Join(fields, ",") + "}"))
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != maxReported {
		t.Errorf("%d faults", len(faults))
	}
}

// A library decides whether answers fit a schema; faults that it does not check are sorted out
// first.
func FuzzDecodeAgreesWithTheLibrary(f *testing.F) {
	judges := map[string]*jsonschema.Resolved{}
	for _, q := range questions {
		var s jsonschema.Schema
		if err := json.Unmarshal(Set{}.named(q.name).raw, &s); err != nil {
			f.Fatal(err)
		}
		loosen(&s, false)
		judge, err := s.Resolve(nil)
		if err != nil {
			f.Fatal(err)
		}
		judges[q.name] = judge
	}
	for i, q := range questions {
		p := Set{}.named(q.name)
		for _, text := range inText(p) {
			f.Add(i, text)
			f.Add(i, strings.Replace(text, `"`, `"x`, 1))
			f.Add(i, strings.ReplaceAll(text, `["`, `["","","","","","","","","`))
		}
		full, err := json.Marshal(fill(p.answer, "é"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, string(full))
		f.Add(i, strings.ReplaceAll(string(full), "é", "éé"))
		f.Add(i, strings.ReplaceAll(string(full), "é", "ééé"))
		f.Add(i, strings.Replace(string(full), `"why":`, `"because":`, 1))
		f.Add(i, strings.ReplaceAll(string(full), "999999", "1000000"))
	}
	odd := regexp.MustCompile(`[0-9][.eE]|-0`)
	f.Fuzz(func(t *testing.T, which int, text string) {
		q := questions[((which%len(questions))+len(questions))%len(questions)]
		read, err := decodeAny(q.name, text)
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			if err == nil {
				t.Errorf("%s: read what is no JSON: %q", q.name, text)
			}
			return
		}
		if dropped := droppedOf(read); err == nil && len(dropped) > 0 {
			left, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(left, &v); err != nil {
				t.Fatal(err)
			}
		}
		judged := judges[q.name].Validate(v)
		if err == nil && judged != nil {
			t.Errorf("%s: %v: %q", q.name, judged, text)
		}
		var faults Faults
		if err != nil && judged == nil && errors.As(err, &faults) && !odd.MatchString(text) &&
			!slices.ContainsFunc(faults, func(s string) bool {
				return strings.HasSuffix(s, "stands twice") || strings.Contains(s, "is the example's") || strings.Contains(s, "UTF-8")
			}) {
			t.Errorf("%s: refused for %v: %q", q.name, err, text)
		}
	})
}

// loosen raises the bounds of a schema to those of an answer.
func loosen(s *jsonschema.Schema, inItem bool) {
	if s.MaxLength != nil {
		*s.MaxLength *= slack
	}
	if s.MaxItems != nil && inItem {
		*s.MaxItems *= slack
	}
	for _, p := range s.Properties {
		loosen(p, inItem)
	}
	if s.Items != nil {
		loosen(s.Items, true)
	}
}

// An invalid item is dropped, and the others are read.
func TestItemsThatDoNotFitAreLeftOut(t *testing.T) {
	candidate := func(why, kind string) string {
		return `{"why": "` + why + `", "kind": "` + kind + `", "text": "t <b>", "body": "", "proof": "person", "paths": [], "evidence": []}`
	}
	operation := `{"why": "w", "op": "add", "targets": [], "evidence": ["c1"], "kind": "fact", "text": "t", "body": ""}`
	step := strings.Repeat("x", 401)
	skill := func(steps, tools string) string {
		return `{"why": "w", "worth": true, "name": "n", "trigger": "t", "steps": [` + steps + `], "tools": [` + tools + `], "example": ""}`
	}
	example := inText(Set{}.named("reflect"))[0]
	parrot := strings.TrimSuffix(strings.TrimPrefix(example, `{"candidates": [`), `]}`)
	for _, c := range []struct {
		name, prompt, text string
		left               string // the result, as JSON; "" for a refused answer
		dropped            []string
	}{
		{"kind", "reflect", `{"candidates": [` + candidate("a", "gotcha") + `,` + candidate("b", "fact") + `]}`,
			`{"candidates": [` + candidate("b", "fact") + `]}`, []string{`candidates[0].kind: "gotcha" is not one of constraint, convention, decision, preference, workflow, failure, pattern, fact`}},
		{"field", "reflect", `{"candidates": [` + candidate("a", "fact") + `, {"why": "b"}, 7]}`,
			`{"candidates": [` + candidate("a", "fact") + `]}`, []string{
				"candidates[1].proof: is missing; candidates[1].evidence: is missing; candidates[1].kind: is missing; " +
					"candidates[1].text: is missing; candidates[1].body: is missing; candidates[1].paths: is missing",
				"candidates[2]: is a number; it must be an object"}},
		{"field twice", "reflect", `{"candidates": [` + candidate("a", "fact") + `,` + strings.Replace(candidate("b", "fact"), `{`, `{"why": "c", `, 1) + `]}`,
			`{"candidates": [` + candidate("a", "fact") + `]}`, []string{"candidates[1].why: stands twice"}},
		{"of the example", "reflect", `{"candidates": [` + parrot + `,` + candidate("a", "fact") + `]}`,
			`{"candidates": [` + candidate("a", "fact") + `]}`, []string{"candidates[0]: \"The next agent may edit generated files.\" is the example's"}},
		{"operation", "dream", `{"operations": [` + operation + `,` + strings.Replace(operation, "add", "delete", 1) + `]}`,
			`{"operations": [` + operation + `]}`, []string{`operations[1].op: "delete" is not one of add, edit, merge, retire`}},
		{"step and tool", "distill", skill(`"one", "`+step+`", "two"`, `"make", 3`),
			skill(`"one", "two"`, `"make"`), []string{"steps[1]: 401 characters; it may have 200", "tools[1]: is a number; it must be a string"}},

		{"none fits", "reflect", `{"candidates": [` + candidate("a", "gotcha") + `]}`, "", nil},
		{"a list in which none fits", "distill", skill(`"one", "`+step+`"`, `3`), "", nil},
		{"no list", "reflect", `{}`, "", nil},
		{"another field beside", "reflect", `{"candidates": [` + candidate("a", "fact") + `, 7], "summary": ""}`, "", nil},
		{"the list twice", "reflect", `{"candidates": [` + candidate("a", "fact") + `, 7], "candidates": []}`, "", nil},
		{"too many", "reflect", `{"candidates": [` + strings.Repeat(candidate("a", "fact")+`,`, 3) + `7]}`, "", nil},
		{"words behind", "dream", `{"operations": [` + operation + `, 7]} Done.`, "", nil},
		{"a field outside the lists", "distill", strings.Replace(skill(`"one", 7`, ``), "true", `"yes"`, 1), "", nil},
		{"a finding of an audit", "audit", `{"fixed": [], "findings": [{"file": "a.go"}, {"file": "a.go", "line": 1, "quote": "q", "text": "t", "scenario": "s", "severity": "bug"}]}`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeAny(c.prompt, c.text)
			if c.left == "" {
				if faults := (Faults{}); !errors.As(err, &faults) || len(faults) == 0 || len(droppedOf(got)) > 0 {
					t.Errorf("%v, %+v", err, got)
				}
				return
			}
			want, err2 := decodeAny(c.prompt, c.left)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			dropped := droppedOf(got)
			if len(dropped) != len(c.dropped) {
				t.Fatalf("left out %v, want %q", dropped, c.dropped)
			}
			for i, d := range dropped {
				if f := d.Fault; !strings.HasPrefix(f, c.dropped[i]) {
					t.Errorf("left out for %q, want %q", d.Fault, c.dropped[i])
				}
			}
			a, _ := json.Marshal(want)
			b, _ := json.Marshal(got)
			if diff := cmp.Diff(string(a), string(b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// droppedOf returns the dropped parts of an answer.
func droppedOf(answer any) []Dropped {
	switch a := answer.(type) {
	case ReflectAnswer:
		return a.Dropped
	case DreamAnswer:
		return a.Dropped
	case DistillAnswer:
		return a.Dropped
	}
	return nil
}

func decodeAny(name, text string) (any, error) {
	raw := json.RawMessage(text)
	switch name {
	case "reflect":
		return DecodeReflect(raw)
	case "dream":
		return DecodeDream(raw)
	case "distill":
		return DecodeDistill(raw)
	case "audit":
		return DecodeAudit(raw)
	}
	return DecodeContradiction(raw)
}
