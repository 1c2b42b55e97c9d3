// Package door guards the way to a model: it redacts questions and answers, returns earlier answers
// again, and enforces the day's budget.
//
// Each function wraps a *prompts.Model and returns another; nil stays nil. Open combines all three
// in the required order. A wrapped model is safe for concurrent use, also across processes. The
// budget admits one question at a time, since a local server answers one at a time anyway.
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
	Answers Folder          // of earlier answers; nil stores none
	Budget  Budget
}

// Open returns the wrapped model. An answer is redacted before it is stored, and again, by the
// current rules, when it is reused.
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
	if err != nil { // no JSON: its reader reports that
		clean, _ = s.Text(string(text))
	}
	return json.RawMessage(clean.String())
}

// wrap returns m with another Ask.
func wrap(m *prompts.Model, ask func(context.Context, prompts.Rendered) (prompts.Answer, error)) *prompts.Model {
	if m == nil {
		return nil
	}
	outer := *m
	outer.Ask = ask
	return &outer
}
