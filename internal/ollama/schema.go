package ollama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	maxInteger  = 1_000_000
	maxLength   = 1000 // characters of a string in a schema; past 2000 a server's runner crashes
	maxItems    = 50   // of an array in a schema
	maxNesting  = 8    // objects and arrays in one another
	maxSchema   = 16 << 10
	maxProperty = 64 // properties of one object
)

// CheckSchema returns an error wrapping ErrSchema unless every server enforces s. The schema is an
// object of objects, arrays, strings, integers and booleans, each with only these keys:
//
//	object:  properties, required (all of them), additionalProperties (false)
//	array:   items, maxItems (at most 50), minItems
//	string:  maxLength (at most 1000), minLength; or enum, of strings
//	integer: minimum, maximum (a million at most, either way)
//
// Names and enum values are printable ASCII without quotation marks and backslashes, because
// servers differ on others. Servers silently ignore many other parts of a schema, and some parts
// crash them. Without bounds, they may write until the tokens run out.
func CheckSchema(s json.RawMessage) error {
	if len(s) > maxSchema {
		return fmt.Errorf("%w: more than %d bytes", ErrSchema, maxSchema)
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(s, &root); err != nil || root.Type != "object" {
		return fmt.Errorf("%w: not an object's", ErrSchema)
	}
	if err := checkSchema(s, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return nil
}

func checkSchema(s json.RawMessage, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("nested more than %d deep", maxNesting)
	}
	var words map[string]json.RawMessage
	if err := json.Unmarshal(s, &words); err != nil {
		return fmt.Errorf("a schema that is no object")
	}
	var kind string
	if json.Unmarshal(words["type"], &kind) != nil { // beside a list of types, servers ignore bounds
		return fmt.Errorf("type %.40s", words["type"])
	}
	only := func(allowed ...string) error {
		for word := range words {
			if word != "type" && !slices.Contains(allowed, word) {
				return fmt.Errorf("%.40q beside type %s", word, kind)
			}
		}
		return nil
	}
	switch kind {
	case "object":
		return checkObject(words, only, depth)
	case "array":
		if err := only("items", "maxItems", "minItems"); err != nil {
			return err
		}
		if err := bounded(words, "minItems", "maxItems", maxItems); err != nil {
			return err
		}
		return within("items", checkSchema(words["items"], depth+1))
	case "string":
		if _, found := words["enum"]; found {
			var values []string
			if err := only("enum"); err != nil {
				return err
			}
			if json.Unmarshal(words["enum"], &values) != nil || len(values) == 0 || !plainNames(values) {
				return fmt.Errorf("enum %.40s", words["enum"])
			}
			return nil
		}
		if err := only("maxLength", "minLength"); err != nil {
			return err
		}
		return bounded(words, "minLength", "maxLength", maxLength)
	case "integer":
		lo, hi := -maxInteger, maxInteger
		for word, n := range map[string]*int{"minimum": &lo, "maximum": &hi} {
			if v, found := words[word]; found && (json.Unmarshal(v, n) != nil || *n < -maxInteger || *n > maxInteger) {
				return fmt.Errorf("%s %.40s", word, v)
			}
		}
		if lo > hi {
			return fmt.Errorf("minimum over maximum")
		}
		return only("minimum", "maximum")
	case "boolean":
		return only()
	}
	return fmt.Errorf("type %.40q", kind)
}

func checkObject(words map[string]json.RawMessage, only func(...string) error, depth int) error {
	if err := only("properties", "required", "additionalProperties"); err != nil {
		return err
	}
	var properties map[string]json.RawMessage
	var required []string
	if json.Unmarshal(words["properties"], &properties) != nil || len(properties) == 0 || len(properties) > maxProperty {
		return fmt.Errorf("an object without properties, or with more than %d", maxProperty)
	}
	if string(words["additionalProperties"]) != "false" {
		return fmt.Errorf("an object without additionalProperties false")
	}
	if json.Unmarshal(words["required"], &required) != nil || len(required) != len(properties) {
		return fmt.Errorf("an object with properties that are not required")
	}
	if !plainNames(required) {
		return fmt.Errorf("a name that is empty, or has more than printable ASCII in it")
	}
	for _, name := range required {
		property, found := properties[name]
		if !found {
			return fmt.Errorf("required %.40q is no property, or named twice", name)
		}
		if err := checkSchema(property, depth+1); err != nil {
			return within(name, err)
		}
		delete(properties, name)
	}
	return nil
}

// plainNames reports whether no name is empty or has a character that JSON can write in several
// ways.
func plainNames(names []string) bool {
	for _, name := range names {
		odd := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		if name == "" || strings.ContainsFunc(name, odd) {
			return false
		}
	}
	return true
}

// bounded requires an upper bound of at most limit, and a lower one no higher than it, if any.
func bounded(words map[string]json.RawMessage, lower, upper string, limit int) error {
	var lo, hi int
	if json.Unmarshal(words[upper], &hi) != nil || hi < 1 || hi > limit {
		return fmt.Errorf("%s is not 1 to %d", upper, limit)
	}
	if v, found := words[lower]; found && (json.Unmarshal(v, &lo) != nil || lo < 0 || lo > hi) {
		return fmt.Errorf("%s is not 0 to %d", lower, hi)
	}
	return nil
}

func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
