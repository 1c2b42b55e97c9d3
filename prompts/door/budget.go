package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/prompts"
)

// ErrSpent is returned when the day's budget has nothing left: no question is asked until tomorrow.
var ErrSpent = errors.New("the day's budget for the model is spent")

// Budget is how much a model may be asked in a day of the local calendar, counted in a file.
type Budget struct {
	Path   string // of the count, in a folder that exists
	Calls  int
	Tokens int           // of questions and answers
	Time   time.Duration // of the model's work
	Now    func() time.Time
}

// Use is what was asked of the model in one day.
type Use struct {
	Day     string  `json:"day"` // 2026-01-31
	Calls   int     `json:"calls"`
	Tokens  int     `json:"tokens"`
	Seconds float64 `json:"seconds"`
	Told    bool    `json:"told,omitempty"` // that the budget is spent was said
}

// Today is what was used today. A count that cannot be read is none: it is written anew by the next question.
func (b Budget) Today() Use {
	today := Use{Day: b.Now().Format(time.DateOnly)}
	data, err := file.Read(b.Path, 1<<16)
	if err != nil {
		return today
	}
	var u Use
	if json.Unmarshal(data, &u) != nil || u.Day != today.Day || u.Calls < 0 || u.Tokens < 0 || !(u.Seconds >= 0) {
		return today
	}
	return u
}

// spent says which limit is reached, "" for none.
func (b Budget) spent(u Use) string {
	switch {
	case u.Calls >= b.Calls:
		return fmt.Sprintf("%d of %d questions", u.Calls, b.Calls)
	case u.Tokens >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens", u.Tokens, b.Tokens)
	case u.Seconds >= b.Time.Seconds():
		return fmt.Sprintf("%.0f of %.0f seconds", u.Seconds, b.Time.Seconds())
	}
	return ""
}

// Spent is an error wrapping ErrSpent that names the limit which is reached, or nil.
func (b Budget) Spent() error {
	if what := b.spent(b.Today()); what != "" {
		return fmt.Errorf("%w: %s", ErrSpent, what)
	}
	return nil
}

// TellOnce reports true once a day.
func (b Budget) TellOnce(ctx context.Context) (first bool, err error) {
	err = b.count(ctx, func(u *Use) error {
		first, u.Told = !u.Told, true
		return nil
	})
	return first, err
}

// count changes today's count, alone.
func (b Budget) count(ctx context.Context, change func(*Use) error) error {
	unlock, err := file.LockPath(ctx, b.Path+".lock")
	if err != nil {
		return fmt.Errorf("count what the model is asked: %w", err)
	}
	defer unlock()
	return b.write(change)
}

func (b Budget) write(change func(*Use) error) error {
	u := b.Today()
	if err := change(&u); err != nil {
		return err
	}
	data, err := json.Marshal(u)
	if err == nil {
		err = file.Replace(b.Path, data, 0o600, false)
	}
	if err != nil {
		return fmt.Errorf("count what the model is asked: %w", err)
	}
	return nil
}

// Limit refuses questions beyond the budget, with an error that wraps ErrSpent. A question counts before it is asked, so
// that one which never comes back counts too; its tokens and its time when it is answered. One question at a time passes,
// of all processes that share the file; a question that is running when the time is spent is ended.
func (b Budget) Limit(m *prompts.Model) *prompts.Model {
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		unlock, err := file.LockPath(ctx, b.Path+".lock")
		if err != nil {
			return prompts.Answer{}, fmt.Errorf("wait for the model: %w", err)
		}
		defer unlock()
		var left time.Duration
		err = b.write(func(u *Use) error {
			if what := b.spent(*u); what != "" {
				return fmt.Errorf("%w: %s", ErrSpent, what)
			}
			u.Calls++
			left = b.Time - time.Duration(u.Seconds*float64(time.Second))
			return nil
		})
		if err != nil {
			return prompts.Answer{}, err
		}
		within, cancel := context.WithTimeout(ctx, left)
		defer cancel()
		began := b.Now()
		a, asked := m.Ask(within, r)
		if a.Took == 0 {
			a.Took = b.Now().Sub(began)
		}
		err = b.write(func(u *Use) error {
			u.Tokens += a.Asked + a.Said
			u.Seconds += a.Took.Seconds()
			return nil
		})
		if asked != nil && ctx.Err() == nil && within.Err() != nil {
			asked = fmt.Errorf("%w: its time ran out: %w", ErrSpent, asked)
		}
		return a, errors.Join(asked, err)
	})
}

// Forget removes every answer that was kept.
func Forget(dir string) error { return os.RemoveAll(dir) }
