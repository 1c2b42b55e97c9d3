package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A schema is the part of JSON Schema that small servers reliably turn into a grammar: objects with
// only required properties, arrays, strings, integers, booleans, and enums of strings, all bounded.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	More       *bool              `json:"additionalProperties"`
	Items      *schema            `json:"items"` // nil in a frame: of any kind
	MaxItems   int                `json:"maxItems"`
	MaxLength  int                `json:"maxLength"` // in code points
	Enum       []string           `json:"enum"`
	Minimum    int64              `json:"minimum"`
	Maximum    int64              `json:"maximum"`
}

func parseSchema(text []byte) (*schema, error) {
	s := new(schema)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

const (
	// bytesPerRune is the weight of a string's character in the longest answer. Latin letters take one
	// byte, or two if every other one is escaped. Other scripts take up to four, but need far fewer
	// characters than maxLength.
	bytesPerRune = 2
	// space is the blanks that a server may add to a value: one on each side of a colon or after a
	// comma.
	space = 2
)

// longest returns the length of the longest answer, in bytes.
func (s *schema) longest() int {
	switch s.Type {
	case "object":
		n := len("{}") + space
		for name, p := range s.Properties {
			n += len(`"":,`) + len(name) + space + p.longest()
		}
		return n
	case "array":
		return len("[]") + space + s.MaxItems*(s.Items.longest()+len(",")+space)
	case "string":
		n := bytesPerRune * s.MaxLength
		for _, e := range s.Enum {
			n = max(n, len(e))
		}
		return len(`""`) + n
	case "integer":
		return max(len(strconv.FormatInt(s.Minimum, 10)), len(strconv.FormatInt(s.Maximum, 10)))
	}
	return len("false")
}

// frame returns the schema of an object without the items of its lists.
func (s *schema) frame() *schema {
	f := *s
	f.Properties = map[string]*schema{}
	for name, p := range s.Properties {
		if p.Type == "array" {
			list := *p
			list.Items = nil
			p = &list
		}
		f.Properties[name] = p
	}
	return &f
}

// Faults lists the faults of an answer, each with its field, worded for the author of the answer.
// Every error of the Decode functions is a Faults.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "; ") }

// slack multiplies the bounds of texts, and of lists in items, in an examined answer. Models that
// no grammar holds to the schema count badly; the readers of answers have bounds of their own.
const slack = 2

// maxAnswer bounds an examined answer, in bytes. It is far more than any schema allows.
const maxAnswer = 256 << 10

// maxReported bounds the reported faults of one answer.
const maxReported = 20

// check compares an answer with the schema. It reports every fault, but nothing after a syntax
// error.
func (s *schema) check(text []byte) error {
	c := checker{in: json.NewDecoder(bytes.NewReader(text))}
	c.in.UseNumber()
	switch {
	case len(text) > maxAnswer:
		return Faults{fmt.Sprintf("the answer has %d bytes; it may have %d", len(text), maxAnswer)}
	case !utf8.Valid(text):
		return Faults{"the answer is not UTF-8"}
	case len(bytes.TrimSpace(text)) == 0:
		return Faults{"the answer is empty"}
	}
	err := c.value(s, "")
	if err == nil {
		if _, err = c.in.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else {
			c.fault("", "text follows the JSON object; there may be nothing else")
			return c.faults
		}
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		c.fault("", "the answer is cut off")
	case err != nil:
		c.fault("", "not JSON: %v", err)
	}
	if len(c.faults) > 0 {
		return c.faults
	}
	return nil
}

// faults returns the faults of one value, which is JSON, at a path.
func (s *schema) faults(value json.RawMessage, at string) Faults {
	c := checker{in: json.NewDecoder(bytes.NewReader(value))}
	c.in.UseNumber()
	if err := c.value(s, at); err != nil {
		c.fault(at, "not JSON: %v", err)
	}
	return c.faults
}

// A checker walks through an answer.
type checker struct {
	in     *json.Decoder
	faults Faults
}

// fault records a fault of the field at a path, up to a limit.
func (c *checker) fault(at, format string, args ...any) {
	if len(c.faults) == maxReported {
		return
	}
	text := fmt.Sprintf(format, args...)
	if at != "" {
		text = at + ": " + text
	}
	c.faults = append(c.faults, text)
}

// value reads one value. An error means that the text is not JSON.
func (c *checker) value(s *schema, at string) error {
	t, err := c.in.Token()
	if err != nil {
		return err
	}
	switch v := t.(type) {
	case json.Delim:
		switch {
		case v == '{' && s.Type == "object":
			return c.object(s, at)
		case v == '[' && s.Type == "array":
			return c.array(s, at)
		}
		c.wrong(s, at, map[json.Delim]string{'{': "an object", '[': "an array"}[v])
		return c.skip()
	case string:
		if s.Type != "string" {
			c.wrong(s, at, "a string")
		} else if n := utf8.RuneCountInString(v); len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			c.fault(at, "%s is not one of %s", strconv.Quote(cut(v, 40)), strings.Join(s.Enum, ", "))
		} else if len(s.Enum) == 0 && n > slack*s.MaxLength {
			c.fault(at, "%d characters; it may have %d", n, s.MaxLength)
		}
	case json.Number:
		if s.Type != "integer" {
			c.wrong(s, at, "a number")
		} else if n, err := strconv.ParseInt(v.String(), 10, 64); err != nil || n < s.Minimum || n > s.Maximum {
			c.fault(at, "%s is not a whole number from %d to %d", cut(v.String(), 40), s.Minimum, s.Maximum)
		}
	case bool:
		if s.Type != "boolean" {
			c.wrong(s, at, "true or false")
		}
	default:
		c.wrong(s, at, "null")
	}
	return nil
}

// article describes a value of a type.
func article(of string) string {
	switch of {
	case "object", "array":
		return "an " + of
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	}
	return "a " + of
}

func (c *checker) wrong(s *schema, at, is string) {
	if at == "" {
		is = "the answer is " + is
	} else {
		is = "is " + is
	}
	c.fault(at, "%s; it must be %s", is, article(s.Type))
}

func (c *checker) object(s *schema, at string) error {
	seen := map[string]bool{}
	for c.in.More() {
		t, err := c.in.Token()
		if err != nil {
			return err
		}
		name := t.(string) // the decoder accepts only strings as keys
		p, known := s.Properties[name]
		field := strings.TrimPrefix(at+"."+name, ".")
		switch {
		case !known:
			c.fault(at, "there is no field %s; there are %s", strconv.Quote(cut(name, 40)), strings.Join(s.Required, ", "))
		case seen[name]:
			c.fault(field, "stands twice")
		}
		seen[name] = true
		if known {
			err = c.value(p, field)
		} else {
			err = c.any()
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.in.Token(); err != nil {
		return err
	}
	for _, name := range s.Required {
		if !seen[name] {
			c.fault(strings.TrimPrefix(at+"."+name, "."), "is missing")
		}
	}
	return nil
}

func (c *checker) array(s *schema, at string) error {
	n, most := 0, s.MaxItems
	if strings.Contains(at, ".") { // of an item
		most *= slack
	}
	for ; c.in.More(); n++ {
		var err error
		if n < most && s.Items != nil {
			err = c.value(s.Items, fmt.Sprintf("%s[%d]", at, n))
		} else {
			err = c.any()
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.in.Token(); err != nil {
		return err
	}
	if n > most {
		c.fault(at, "%d items; it may have %d", n, s.MaxItems)
	}
	return nil
}

// any reads a value of any kind.
func (c *checker) any() error {
	t, err := c.in.Token()
	if d, opens := t.(json.Delim); err == nil && opens && (d == '{' || d == '[') {
		err = c.skip()
	}
	return err
}

// skip reads to the end of the opened value.
func (c *checker) skip() error {
	for depth := 1; depth > 0; {
		t, err := c.in.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}
