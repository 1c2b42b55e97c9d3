package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/tailscale/hujson"
)

// A settingsError locates the uneditable part of a settings file.
type settingsError struct {
	Line   int // from 1
	Reason string
}

func (e *settingsError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// settings holds the text of a settings file. It is a JSON object with an object "hooks", which has
// an array of groups for each event, each with an array "hooks" of commands, or of commands alone.
// Edits cut and insert text, so that everything else keeps its bytes.
type settings struct {
	bom  []byte
	text []byte // without bom
	root hujson.Value
}

// versioned is the file of an agent without groups that has no hooks.
const versioned = "{\n  \"version\": 1\n}"

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseSettings parses a file with hooks. An empty file equals an empty object.
func parseSettings(text []byte, a hooks.Agent) (*settings, error) {
	if a.Ungrouped && len(bytes.TrimSpace(text)) == 0 {
		text = []byte(versioned + "\n")
	}
	s, err := parseObject(text, a)
	if err != nil {
		return nil, err
	}
	_, err = s.entries(a)
	return s, err
}

// parseObject parses a file, whatever its members.
func parseObject(text []byte, a hooks.Agent) (*settings, error) {
	s := &settings{}
	if rest, ok := bytes.CutPrefix(text, byteOrderMark); ok {
		if a.Unmarked {
			return nil, &settingsError{1, "a byte order mark: " + a.Title + " ignores the whole file"}
		}
		s.bom, text = byteOrderMark, rest
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if err := s.set(slices.Clone(text)); err != nil { // the parser's values share the bytes
		return nil, err
	}
	if err := readable(text, a); err != nil {
		return nil, err
	}
	if _, ok := s.root.Value.(*hujson.Object); !ok {
		return nil, s.fault(s.root.StartOffset, "not a JSON object")
	}
	return s, nil
}

// readable refuses a text that we can parse and the agent cannot.
func readable(text []byte, a hooks.Agent) error {
	if !a.Strict {
		return nil
	}
	var v any
	err := json.Unmarshal(text, &v)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		line := 1 + bytes.Count(text[:max(0, syntax.Offset-1)], []byte("\n"))
		return &settingsError{line, "a comment or a trailing comma, which is no strict JSON: " + a.Title + " ignores the whole file"}
	}
	return err
}

var parserPlace = pattern.New(`^hujson: line (\d+), column \d+: `)

// set stores and parses a text.
func (s *settings) set(text []byte) error {
	root, err := hujson.Parse(text)
	if err != nil {
		line := 1
		reason := err.Error()
		if m := parserPlace.FindStringSubmatch(reason); m != nil {
			line, _ = strconv.Atoi(m[1])
			reason = reason[len(m[0]):]
		}
		return &settingsError{line, reason}
	}
	s.text, s.root = text, root
	return nil
}

func (s *settings) fault(offset int, format string, args ...any) error {
	return &settingsError{1 + bytes.Count(s.text[:offset], []byte("\n")), fmt.Sprintf(format, args...)}
}

func (s *settings) bytes() []byte { return slices.Concat(s.bom, s.text) }

// hooks returns the object "hooks" of the file, or nil.
func (s *settings) hooks() (*hujson.Object, error) { return s.object("hooks") }

// object returns the object of a name at the top of the file, or nil.
func (s *settings) object(key string) (*hujson.Object, error) {
	var found *hujson.Object
	for _, m := range s.root.Value.(*hujson.Object).Members {
		if name(m) != key {
			continue
		}
		if found != nil {
			return nil, s.fault(m.Name.StartOffset, "%q stands here twice", key)
		}
		var ok bool
		if found, ok = m.Value.Value.(*hujson.Object); !ok {
			return nil, s.fault(m.Value.StartOffset, "%q is not an object", key)
		}
	}
	return found, nil
}

func name(m hujson.ObjectMember) string { return literal(m.Name.Value.(hujson.Literal)) }

// literal returns the value of a string, or "" for anything else.
func literal(l hujson.Literal) string {
	if len(l) == 0 || l.Kind() != '"' {
		return ""
	}
	return l.String()
}

// member returns the value of a name in an object, or nil.
func member(v hujson.ValueTrimmed, key string) hujson.ValueTrimmed {
	if o, ok := v.(*hujson.Object); ok {
		for _, m := range o.Members {
			if name(m) == key {
				return m.Value.Value
			}
		}
	}
	return nil
}

// find returns the value at a path of names from the root. A missing value is an error.
func (s *settings) find(path ...string) (hujson.Value, error) {
	v := s.root
	for i, key := range path {
		o, ok := v.Value.(*hujson.Object)
		at := -1
		if ok {
			at = slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return name(m) == key })
		}
		if at < 0 {
			return v, s.fault(v.StartOffset, "%s is not there", strings.Join(path[:i+1], "."))
		}
		v = o.Members[at].Value
	}
	return v, nil
}

// only returns the value of a name in an object, or nil. A name that occurs twice is an error.
func (s *settings) only(o *hujson.Object, key string) (found hujson.ValueTrimmed, err error) {
	for _, m := range o.Members {
		if name(m) != key {
			continue
		}
		if found != nil {
			return nil, s.fault(m.Name.StartOffset, "%q stands here twice", key)
		}
		found = m.Value.Value
	}
	return found, nil
}

// replaceAt replaces the value at a path.
func (s *settings) replaceAt(value any, path ...string) error {
	v, err := s.find(path...)
	if err != nil {
		return err
	}
	return s.replace(v, value)
}
