package record

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Trigger recognises the calls of tools that a memory is about. A memory stores it as keys of its
// front matter, which readers without support for them preserve.
type Trigger struct {
	// Command and Errors belong to the lesson of a failure: the program and subcommand that fail
	// ("go test"), and their output.
	Command string
	Errors  []string
	// Guards are the calls at which the memory acts: "Bash(npm *)", "Edit(generated/**)".
	Guards   []string
	Strength Strength
}

// Strength is the effect of a guard. If branches disagree, the gentlest one stays: the greatest in
// bytes.
type Strength string

const (
	Say  Strength = "say"  // the agent is told beside the call, once a session; the default
	Ask  Strength = "ask"  // the person is asked whether the call may run
	Deny Strength = "deny" // the call is refused
)

// Strengths lists them, the gentlest first.
var Strengths = []Strength{Say, Ask, Deny}

const (
	commandKey  = "command"
	errorsKey   = "errors"
	guardKey    = "guard"
	strengthKey = "strength"
)

func ofTrigger(key string) bool {
	return key == commandKey || key == errorsKey || key == guardKey || key == strengthKey
}

// Trigger returns the memory's trigger, or an empty one if it is missing or invalid. An unknown
// strength is Say.
func (m Memory) Trigger() Trigger {
	var t struct {
		Command  string
		Errors   []string
		Guards   []string `toml:"guard"`
		Strength Strength
	}
	for _, f := range m.Extra {
		if ofTrigger(f.Key) {
			_ = toml.Unmarshal([]byte(f.Key+" = "+f.Value), &t) // a person may have written anything there
		}
	}
	switch {
	case len(t.Guards) == 0:
		t.Strength = ""
	case !slices.Contains(Strengths, t.Strength):
		t.Strength = Say
	}
	return Trigger(t)
}

func (m Memory) hasTrigger() bool {
	return slices.ContainsFunc(m.Extra, func(f Field) bool { return ofTrigger(f.Key) })
}

// WithTrigger returns the memory with a trigger in place of the one it has.
func (m Memory) WithTrigger(t Trigger) Memory {
	m.Extra = slices.DeleteFunc(slices.Clone(m.Extra), func(f Field) bool { return ofTrigger(f.Key) })
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
	if t.Guards = set(t.Guards); len(t.Guards) > 0 {
		add(guardKey, t.Guards)
		if t.Strength != Say && t.Strength != "" {
			add(strengthKey, string(t.Strength))
		}
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return m
}
