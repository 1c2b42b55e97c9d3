package record

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Trigger limits the lesson of a failure to a command and its output. A memory stores it as two
// keys of its front matter, which readers without support for them preserve.
type Trigger struct {
	Command string   // the program and subcommand that fail: "go test"
	Errors  []string // their output
}

const (
	commandKey = "command"
	errorsKey  = "errors"
)

// Trigger returns the memory's trigger, or an empty one if it is missing or invalid.
func (m Memory) Trigger() Trigger {
	var t struct {
		Command string
		Errors  []string
	}
	for _, f := range m.Extra {
		if f.Key == commandKey || f.Key == errorsKey {
			_ = toml.Unmarshal([]byte(f.Key+" = "+f.Value), &t) // a person may have written anything there
		}
	}
	return Trigger(t)
}

// WithTrigger returns the memory with a trigger in place of the one it has.
func (m Memory) WithTrigger(t Trigger) Memory {
	m.Extra = slices.DeleteFunc(slices.Clone(m.Extra), func(f Field) bool { return f.Key == commandKey || f.Key == errorsKey })
	add := func(key string, value any) {
		if f, err := tomlValue(key, value); err == nil {
			m.Extra = append(m.Extra, f)
		}
	}
	if t.Command != "" {
		add(commandKey, t.Command)
	}
	if len(t.Errors) > 0 {
		add(errorsKey, t.Errors)
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return m
}
