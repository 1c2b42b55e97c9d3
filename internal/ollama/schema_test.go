package ollama

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestCheckSchema(t *testing.T) {
	object := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"],"additionalProperties":false}`
	}
	deep := object(`{"type":"boolean"}`)
	for range 8 {
		deep = object(deep)
	}
	for _, s := range []string{
		object(`{"type":"boolean"}`),
		object(`{"type":"integer"}`),
		object(`{"type":"integer","minimum":0,"maximum":100}`),
		object(`{"type":"string","maxLength":1000,"minLength":1}`),
		object(`{"type":"string","enum":["low","high and higher"]}`),
		object(`{"type":"array","items":{"type":"string","maxLength":9},"maxItems":50}`),
		object(`{"type":"array","items":` + object(`{"type":"boolean"}`) + `,"maxItems":3,"minItems":1}`),
	} {
		if err := CheckSchema(json.RawMessage(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		"", "null", "true", "{}", "[]", `"json"`, `{"type":"object"}`, `{"type":"string","maxLength":9}`, `{"type":"object"`,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":true}`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":[],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"required":["a","a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["b"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":false,"title":"x"}`,
		object(`true`),
		object(`{}`),
		object(`{"type":"null"}`),
		object(`{"type":"number","minimum":0,"maximum":1}`),
		object(`{"type":["integer","null"]}`),
		object(`{"type":["string","null"],"maxLength":9}`),
		object(`{"maxLength":9}`),
		object(`{"type":"string"}`),
		object(`{"type":"string","maxLength":1001}`),
		object(`{"type":"string","maxLength":0}`),
		object(`{"type":"string","maxLength":9,"minLength":10}`),
		object(`{"type":"string","maxLength":9,"pattern":"^a$"}`),
		object(`{"type":"string","maxLength":9,"format":"date"}`),
		object(`{"type":"string","enum":[]}`),
		object(`{"type":"string","enum":["a",""]}`),
		object(`{"type":"string","enum":["a\u000b"]}`),
		object(`{"type":"string","enum":["é"]}`),
		object(`{"type":"string","enum":["a\"b"]}`),
		`{"type":"object","properties":{"a\\b":{"type":"boolean"}},"required":["a\\b"],"additionalProperties":false}`,
		`{"type":"object","properties":{"":{"type":"boolean"}},"required":[""],"additionalProperties":false}`,
		object(`{"type":"string","enum":[1]}`),
		object(`{"enum":["a"]}`),
		object(`{"type":"integer","multipleOf":2}`),
		object(`{"type":"integer","minimum":0.5}`),
		object(`{"type":"integer","minimum":2,"maximum":1}`),
		object(`{"type":"integer","maximum":2147483648}`),
		object(`{"type":"array","maxItems":9}`),
		object(`{"type":"array","items":{"type":"boolean"}}`),
		object(`{"type":"array","items":{"type":"boolean"},"maxItems":51}`),
		object(`{"type":"array","items":{"type":"boolean"},"maxItems":9,"uniqueItems":true}`),
		object(`{"anyOf":[{"type":"boolean"}]}`),
		object(`{"$ref":"#/$defs/a"}`),
		object(`{"type":"boolean","description":"x"}`),
		object(`{"type":"boolean","not":{}}`),
		object(strings.Repeat(" ", maxSchema) + `{"type":"boolean"}`),
		deep,
	} {
		if err := CheckSchema(json.RawMessage(s)); !errors.Is(err, ErrSchema) {
			t.Errorf("%.200s: %v", s, err)
		}
	}
}

// FuzzCheckSchema looks for an accepted schema that uses more than the subset.
func FuzzCheckSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","maxLength":9},"maxItems":5}},"required":["a"],"additionalProperties":false}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"],"additionalProperties":false}`))
	f.Fuzz(func(t *testing.T, s []byte) {
		if CheckSchema(s) != nil {
			return
		}
		var schema any
		if err := json.Unmarshal(s, &schema); err != nil {
			t.Fatal(err)
		}
		var walk func(any)
		walk = func(s any) {
			m := s.(map[string]any)
			switch m["type"] {
			case "object":
				for _, p := range m["properties"].(map[string]any) {
					walk(p)
				}
				return
			case "array":
				walk(m["items"])
			}
			for word := range m {
				switch word {
				case "type", "items", "maxItems", "minItems", "maxLength", "minLength", "enum", "minimum", "maximum":
				default:
					t.Errorf("%q in %s", word, s)
				}
			}
		}
		walk(schema)
	})
}
