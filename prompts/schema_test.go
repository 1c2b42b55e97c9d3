package prompts

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// answers are the types that the answers are read into.
var answers = map[string]any{
	"reflect": ReflectAnswer{}, "dream": DreamAnswer{}, "distill": DistillAnswer{}, "audit": AuditAnswer{}, "contradiction": ContradictionAnswer{},
}

// allowed lists the keywords that a server's grammar enforces, by type.
var allowed = map[string][]string{
	"object":  {"type", "properties", "required", "additionalProperties"},
	"array":   {"type", "items", "maxItems"},
	"string":  {"type", "maxLength", "enum"},
	"integer": {"type", "minimum", "maximum"},
	"boolean": {"type"},
}

// plainName matches names and values that each server takes as they are.
var plainName = regexp.MustCompile(`^[a-z_]+$`)

func TestSchemasStayInTheSafeSubset(t *testing.T) {
	for _, q := range questions {
		var s any
		if err := json.Unmarshal(Set{}.named(q.name).raw, &s); err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		walkSchema(t, q.name, s)
	}
}

func walkSchema(t *testing.T, at string, v any) {
	s := v.(map[string]any)
	kind, _ := s["type"].(string)
	for key := range s {
		if !slices.Contains(allowed[kind], key) {
			t.Errorf("%s: %q has %s", at, kind, key)
		}
	}
	number := func(key string, low, high float64) {
		if n, ok := s[key].(float64); !ok || n < low || n > high {
			t.Errorf("%s: %s is %v, want %v to %v", at, key, s[key], low, high)
		}
	}
	switch kind {
	case "object":
		var required []string
		for _, r := range s["required"].([]any) {
			required = append(required, r.(string))
		}
		properties := s["properties"].(map[string]any)
		if s["additionalProperties"] != false || len(required) != len(properties) {
			t.Errorf("%s: open, or not everything is required", at)
		}
		for name, p := range properties {
			if !plainName.MatchString(name) {
				t.Errorf("%s: servers differ on the name %q", at, name)
			}
			if !slices.Contains(required, name) {
				t.Errorf("%s: %s is not required", at, name)
			}
			walkSchema(t, at+"."+name, p)
		}
	case "array":
		number("maxItems", 1, 50)
		walkSchema(t, at+"[]", s["items"])
	case "string":
		if enum, ok := s["enum"].([]any); !ok {
			number("maxLength", 1, 1000)
		} else if len(enum) == 0 || slices.ContainsFunc(enum, func(v any) bool { return !plainName.MatchString(v.(string)) }) {
			t.Errorf("%s: the enum %q", at, enum)
		}
	case "integer":
		number("minimum", 0, 0)
		number("maximum", 1, 1e6)
	case "boolean":
	default:
		t.Errorf("%s: type %v", at, s["type"])
	}
}

func TestAnswersAndSchemasAgree(t *testing.T) {
	for _, q := range questions {
		same(t, q.name, Set{}.named(q.name).answer, reflect.TypeOf(answers[q.name]))
	}
}

// same compares a schema and a type, both ways.
func same(t *testing.T, at string, s *schema, typ reflect.Type) {
	want := map[reflect.Kind]string{
		reflect.Struct: "object", reflect.Slice: "array", reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean",
	}[typ.Kind()]
	if s.Type != want {
		t.Errorf("%s: the schema says %s, the type is %s", at, s.Type, typ)
		return
	}
	switch s.Type {
	case "array":
		same(t, at+"[]", s.Items, typ.Elem())
	case "object":
		var names []string
		for _, f := range reflect.VisibleFields(typ) {
			name := f.Tag.Get("json")
			if name == "-" {
				continue // the reader's own
			}
			names = append(names, name)
			if p := s.Properties[name]; p == nil {
				t.Errorf("%s: the schema has no %q", at, name)
			} else {
				same(t, at+"."+name, p, f.Type)
			}
		}
		if !slices.Equal(names, s.Required) {
			t.Errorf("%s: the type has %v, the schema requires %v in this order", at, names, s.Required)
		}
	}
}

// inText returns the JSON objects in a prompt's texts: its example, and the empty answer.
func inText(p *prompt) (found []string) {
	for _, l := range strings.Split(p.system, "\n") {
		if strings.HasPrefix(l, "{") {
			found = append(found, l)
		}
	}
	text := p.system
	for _, l := range p.user {
		text += "\n" + l.text
	}
	for _, empty := range []string{`{"candidates": []}`, `{"operations": []}`, `{"findings": []}`} {
		if strings.Contains(text, empty) {
			found = append(found, empty)
		}
	}
	return found
}

func TestExamplesFitTheirSchemas(t *testing.T) {
	for _, q := range questions {
		p := Set{}.named(q.name)
		found := inText(p)
		if len(found) == 0 {
			t.Errorf("%s has no example", q.name)
		}
		for _, text := range found {
			if err := p.answer.check([]byte(text)); err != nil {
				t.Errorf("%s: %v: %s", q.name, err, text)
			}
			into := reflect.New(reflect.TypeOf(answers[q.name]))
			if err := json.Unmarshal([]byte(text), into.Interface()); err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
		}
		for name := range properties(p.answer) {
			if !strings.Contains(p.system, "\n- "+name+":") && !strings.Contains(p.system, " "+name+": ") {
				t.Errorf("%s: no line explains %s", q.name, name)
			}
		}
	}
}

// properties returns the names of all fields of an answer, except those that only hold others.
func properties(s *schema) map[string]bool {
	all := map[string]bool{}
	if s == nil {
		return all
	}
	for name, p := range s.Properties {
		if p.Items == nil || p.Items.Type != "object" {
			all[name] = true
		}
		for n := range properties(p) {
			all[n] = true
		}
	}
	for n := range properties(s.Items) {
		all[n] = true
	}
	return all
}

// A token of English is about four bytes. A small model forgets some of a prompt beyond 700 tokens;
// the examples of reflect and dream, which it forgets last, take 300 more.
func TestPromptsAreShort(t *testing.T) {
	for _, q := range questions {
		p := Set{}.named(q.name)
		t.Logf("%-14s system %5d bytes, longest answer %5d bytes, schema %5d bytes", q.name, len(p.system), p.longest, len(p.raw))
		if len(p.system) > 3700 || q.name != "reflect" && q.name != "dream" && len(p.system) > 2800 {
			t.Errorf("%s: the system part has %d bytes", q.name, len(p.system))
		}
		if p.longest > 6000 {
			t.Errorf("%s: the longest answer has %d bytes", q.name, p.longest)
		}
	}
}

// The longest answer has every value at its maximum length.
func TestLongestIsNoShorterThanAnAnswer(t *testing.T) {
	for _, q := range questions {
		p := Set{}.named(q.name)
		for _, char := range []string{"x", "é", `"`} {
			text, err := json.Marshal(fill(p.answer, char))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.answer.check(text); err != nil {
				t.Fatalf("%s: %v", q.name, err)
			}
			if len(text) > p.longest {
				t.Errorf("%s: an answer of %q has %d bytes, the longest %d", q.name, char, len(text), p.longest)
			}
			if char == "é" && len(text)*5 < p.longest*4 {
				t.Errorf("%s: an answer of %q has %d bytes, the longest is said to have %d", q.name, char, len(text), p.longest)
			}
		}
	}
}

// fill returns an answer with every value at its maximum length.
func fill(s *schema, char string) any {
	switch s.Type {
	case "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			out[name] = fill(p, char)
		}
		return out
	case "array":
		var out []any
		for range s.MaxItems {
			out = append(out, fill(s.Items, char))
		}
		return out
	case "string":
		if len(s.Enum) > 0 {
			return slices.MaxFunc(s.Enum, func(a, b string) int { return utf8.RuneCountInString(a) - utf8.RuneCountInString(b) })
		}
		return strings.Repeat(char, s.MaxLength)
	case "integer":
		return s.Maximum
	}
	return false
}

func ExampleFaults() {
	_, err := DecodeContradiction(json.RawMessage(`{"why": "", "verdict": "maybe", "keep": null, "text": ""}`))
	for _, f := range err.(Faults) {
		fmt.Println(f)
	}
	// Output:
	// verdict: "maybe" is not one of keep, both, join, unclear
	// keep: is null; it must be a string
	// body: is missing
}
