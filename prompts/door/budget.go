package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/prompts"
)

// ErrSpent is returned when the day's budget is spent: no question is asked until tomorrow.
var ErrSpent = errors.New("the day's budget for the model is spent")

// Budget bounds the use of models per local calendar day. A file holds the count.
type Budget struct {
	Path   string        // of the count, in a folder that exists
	Calls  int           // of a model: a question, or a batch of texts for vectors
	Tokens int           // of questions and answers
	Time   time.Duration // of the models' work
	Now    func() time.Time
	Wait   func() // called when another process is at work; may be nil
}

// maxCount caps a count: more than a machine can do in a day, and the sum of three fits an int on
// every system.
const maxCount = 1 << 29

// Use is the use of models in one day.
type Use struct {
	Day     string  `json:"day"` // 2026-01-31
	Calls   int     `json:"calls"`
	Tokens  int     `json:"tokens"`
	Seconds float64 `json:"seconds"`
	Told    bool    `json:"told,omitempty"` // the user was told that the budget is spent
}

// Today returns today's use. An unreadable count is zero, and the next question rewrites it. So is
// the count of another day, except tomorrow's: a journey west gives no second budget.
func (b Budget) Today() Use {
	now := b.Now()
	today := Use{Day: now.Format(time.DateOnly)}
	data, err := file.Read(b.Path, 1<<16)
	if err != nil {
		return today
	}
	var u Use
	if json.Unmarshal(data, &u) != nil || u.Calls < 0 || u.Tokens < 0 || !(u.Seconds >= 0) {
		return today
	}
	if u.Day == now.AddDate(0, 0, 1).Format(time.DateOnly) {
		u.Day = today.Day
	}
	if u.Day != today.Day {
		return today
	}
	u.Calls, u.Tokens, u.Seconds = min(u.Calls, maxCount), min(u.Tokens, maxCount), min(u.Seconds, maxCount)
	return u
}

// spent names the reached limit, or returns "".
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

// Spent returns an error wrapping ErrSpent that names the reached limit, or nil.
func (b Budget) Spent() error {
	if what := b.spent(b.Today()); what != "" {
		return fmt.Errorf("%w: %s", ErrSpent, what)
	}
	return nil
}

// TellOnce returns true once a day.
func (b Budget) TellOnce(ctx context.Context) (first bool, err error) {
	err = b.count(ctx, func(u *Use) error {
		first, u.Told = !u.Told, true
		return nil
	})
	return first, err
}

// count changes today's count under the lock.
func (b Budget) count(ctx context.Context, change func(*Use) error) error {
	unlock, err := file.LockPath(ctx, b.Path+".lock")
	if err != nil {
		return fmt.Errorf("count what the model is asked: %w", err)
	}
	defer unlock()
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

// Spend runs work of a model, unless the budget is spent: then the error wraps ErrSpent. A call
// counts before it starts, so that one which never returns counts too. Its time and its tokens,
// which work also returns on failure, count at its end. The processes that share the file make one
// call at a time; the others wait until ctx ends. Work that exceeds the time budget is cancelled by
// its context, and the error wraps ErrSpent.
func (b Budget) Spend(ctx context.Context, work func(context.Context) (tokens int, err error)) error {
	if err := b.Spent(); err != nil {
		return err
	}
	done, err := b.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	var left time.Duration
	err = b.count(ctx, func(u *Use) error {
		if what := b.spent(*u); what != "" {
			return fmt.Errorf("%w: %s", ErrSpent, what)
		}
		u.Calls++
		left = b.Time - time.Duration(u.Seconds*float64(time.Second))
		return nil
	})
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	began := time.Now()
	tokens, failed := work(within)
	took := time.Since(began)
	err = b.count(context.WithoutCancel(ctx), func(u *Use) error {
		u.Tokens += min(max(tokens, 0), maxCount)
		u.Seconds += took.Seconds()
		return nil
	})
	if failed != nil && ctx.Err() == nil && within.Err() != nil {
		failed = fmt.Errorf("%w: its time ran out: %w", ErrSpent, failed)
	}
	return errors.Join(failed, err)
}

// unnoticed bounds the silent wait for another process's question.
const unnoticed = 500 * time.Millisecond

// turn waits until no other process has a model at work, and returns the function that lets the
// next one in. It has a separate lock: work takes minutes, but reading the count must not.
func (b Budget) turn(ctx context.Context) (done func(), err error) {
	short, cancel := context.WithTimeout(ctx, unnoticed)
	defer cancel()
	done, err = file.LockPath(short, b.Path+".turn.lock")
	var held *file.LockError
	if errors.As(err, &held) && ctx.Err() == nil && b.Wait != nil {
		b.Wait()
	}
	for errors.As(err, &held) && ctx.Err() == nil {
		done, err = file.LockPath(ctx, b.Path+".turn.lock") // which gives up before ctx does
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("wait for the model: %w", ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("wait for the model: %w", err)
	}
	return done, nil
}

// Limit makes every question go through Spend.
func (b Budget) Limit(m *prompts.Model) *prompts.Model {
	return wrap(m, func(ctx context.Context, r prompts.Rendered) (a prompts.Answer, err error) {
		err = b.Spend(ctx, func(ctx context.Context) (int, error) {
			a, err = m.Ask(ctx, r)
			return min(max(a.Asked, 0), maxCount) + min(max(a.Said, 0), maxCount), err
		})
		return a, err
	})
}
