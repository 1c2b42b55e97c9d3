// Package door stands between a question and the model: it takes secrets out of what is asked and
// answered, gives again what was answered before, and keeps the day's budget.
//
// Each function wraps a *prompts.Model and returns another; nil stays nil. Open puts all three
// together in the only right order. A model behind the door may be asked from several goroutines
// and processes: the budget lets one question through at a time, since a local server answers one
// at a time anyway.
package door

import (
	"context"
	"encoding/json"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/prompts"
)

// Door holds the checks that a question passes.
type Door struct {
	Scanner *redact.Scanner // may be nil: the built-in rules alone
	Answers Folder          // of answers given before; nil keeps none
	Budget  Budget
}

// Open returns the model behind the door. An answer is redacted before it is kept, and again, by
// the rules of the day, when it is given.
func (d Door) Open(m *prompts.Model) *prompts.Model {
	return Redact(Remember(Redact(d.Budget.Limit(m), d.Scanner), d.Answers), d.Scanner)
}

// Redact removes secrets from every question and every answer. Stored text is already redacted;
// this covers other text and newer rules. A model can also assemble a secret from harmless parts.
func Redact(m *prompts.Model, s *redact.Scanner) *prompts.Model {
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		for _, text := range []*string{&r.System, &r.User} {
			clean, _ := s.Text(*text)
			*text = clean.String()
		}
		a, err := m.Ask(ctx, r)
		a.Text = redacted(s, a.Text)
		return a, err
	})
}

// redacted returns a model's answer without secrets. JSON stays JSON.
func redacted(s *redact.Scanner, text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return text
	}
	clean, _, err := s.JSON(text)
	if err != nil { // no JSON: its reader says so, and shows it
		clean, _ = s.Text(string(text))
	}
	return json.RawMessage(clean.String())
}

// wrap is m with another Ask.
func wrap(m *prompts.Model, ask func(context.Context, prompts.Rendered) (prompts.Answer, error)) *prompts.Model {
	if m == nil {
		return nil
	}
	outer := *m
	outer.Ask = ask
	return &outer
}
