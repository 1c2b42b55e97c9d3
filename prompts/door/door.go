// Package door stands between a question and the model: it takes secrets out of what is asked, gives again
// what was answered before, and keeps the day's budget.
//
// Each function wraps a *prompts.Model and returns another; nil stays nil. Open puts all three together in the only right
// order. A model behind the door may be asked from several goroutines and processes: the budget's lock lets one question
// through at a time, since a local server answers one at a time anyway.
package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/prompts"
)

// Door is what a question passes.
type Door struct {
	Scanner *redact.Scanner // may be nil: the built-in rules alone
	Answers string          // folder of answers given before; it is made when there is one to keep
	Budget  Budget
}

// Open returns the model behind the door.
func (d Door) Open(m *prompts.Model) *prompts.Model {
	return Redact(Remember(d.Budget.Limit(m), d.Answers), d.Scanner)
}

// Redact takes secrets out of every question. What is asked was redacted when it was kept; this is for whatever was
// not, and for rules that are newer.
func Redact(m *prompts.Model, s *redact.Scanner) *prompts.Model {
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		for _, text := range []*string{&r.System, &r.User} {
			clean, _ := s.Text(*text)
			*text = clean.String()
		}
		return m.Ask(ctx, r)
	})
}

// maxAnswer is the longest kept answer that is read again, in bytes.
const maxAnswer = 1 << 20

// Remember keeps each answer in a file of the folder, named for all that it depends on, and gives it again to the same
// question: what was interrupted goes on where it was. Files are 0600. A file that cannot be read is no answer.
func Remember(m *prompts.Model, dir string) *prompts.Model {
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		path := filepath.Join(dir, name(m, r))
		if data, err := file.Read(path, maxAnswer); err == nil {
			var a answer
			if json.Unmarshal(data, &a) == nil && len(a.Text) > 0 {
				now := time.Now()
				os.Chtimes(path, now, now)
				return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said, Took: a.Took, Cached: true}, ctx.Err()
			}
		}
		a, err := m.Ask(ctx, r)
		if err != nil {
			return a, err
		}
		data, err := json.Marshal(answer{a.Text, a.Asked, a.Said, a.Took})
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil {
			err = file.Replace(path, data, 0o600, false)
		}
		if err != nil {
			return a, fmt.Errorf("keep answer: %w", err)
		}
		return a, nil
	})
}

// answer is a kept answer. The text need not be JSON: what a model says wrong it would say again.
type answer struct {
	Text        []byte
	Asked, Said int
	Took        time.Duration
}

// name is the file of the answer to a question: equal for equal questions to the same model.
func name(m *prompts.Model, r prompts.Rendered) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	enc.Encode([]any{m.Name, m.Digest, m.Context, r.Name, r.System, r.User, string(r.Schema), r.Longest})
	return hex.EncodeToString(h.Sum(nil))[:32] + ".json"
}

// Expire removes answers that were not given since a time, and what a killed process left. No folder is no error.
func Expire(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("expire answers: %w", err)
	}
	file.Sweep(dir)
	var bad []error
	for _, e := range entries {
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
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
