package door

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/prompts"
)

// asked is a model that remembers what it was asked and answers with a JSON string.
type asked struct {
	mu    sync.Mutex
	all   []prompts.Rendered
	here  int // questions at once
	most  int
	takes time.Duration
	fails error
}

func (a *asked) model() *prompts.Model {
	return &prompts.Model{Name: "m", Digest: "d", Context: 4096, Ask: func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		a.mu.Lock()
		a.all = append(a.all, r)
		a.here++
		a.most = max(a.most, a.here)
		a.mu.Unlock()
		defer func() { a.mu.Lock(); a.here--; a.mu.Unlock() }()
		if a.takes == 0 {
			return prompts.Answer{Text: json.RawMessage(`{"said":"yes"}`), Asked: 10, Said: 5, Took: time.Second}, a.fails
		}
		<-ctx.Done()
		return prompts.Answer{Took: a.takes}, ctx.Err()
	}}
}

func testDoor(t *testing.T) Door {
	dir := t.TempDir()
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	return Door{Answers: filepath.Join(dir, "answers"), Budget: Budget{Path: filepath.Join(dir, "model.json"), Calls: 3, Tokens: 1000, Time: time.Minute, Now: func() time.Time { return day }}}
}

func TestNothingUnredactedPasses(t *testing.T) {
	var a asked
	m := testDoor(t).Open(a.model())
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	if _, err := m.Ask(t.Context(), prompts.Rendered{System: "key " + secret, User: "token=" + secret}); err != nil {
		t.Fatal(err)
	}
	if len(a.all) != 1 || strings.Contains(a.all[0].System+a.all[0].User, secret) {
		t.Errorf("the model was asked %+v", a.all)
	}
}

func TestSameQuestionIsAskedOnce(t *testing.T) {
	var a asked
	d := testDoor(t)
	for i, r := range []prompts.Rendered{{User: "a"}, {User: "a"}, {User: "b"}, {User: "a", Longest: 1}} {
		got, err := d.Open(a.model()).Ask(t.Context(), r)
		if err != nil || string(got.Text) != `{"said":"yes"}` || got.Cached != (i == 1) {
			t.Errorf("%d: %+v %v", i, got, err)
		}
	}
	if len(a.all) != 3 {
		t.Errorf("the model was asked %d times, want 3", len(a.all))
	}
	if u := d.Budget.Today(); u.Calls != 3 || u.Tokens != 45 || u.Seconds != 3 {
		t.Errorf("counted %+v", u)
	}
	other := a.model()
	other.Digest = "e"
	if _, err := d.Open(other).Ask(t.Context(), prompts.Rendered{User: "a"}); !errors.Is(err, ErrSpent) {
		t.Errorf("another model was given the first one's answer, or asked beyond the budget: %v", err)
	}
}

func TestTornAnswerIsAskedAgain(t *testing.T) {
	var a asked
	d := testDoor(t)
	m := d.Open(a.model())
	if _, err := m.Ask(t.Context(), prompts.Rendered{}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(d.Answers, "*"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	os.WriteFile(files[0], []byte(`{"Text":"eyJ`), 0o600)
	if got, err := m.Ask(t.Context(), prompts.Rendered{}); err != nil || got.Cached || len(a.all) != 2 {
		t.Errorf("%+v %v after %d questions", got, err, len(a.all))
	}
	if err := Expire(d.Answers, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if files, _ = filepath.Glob(filepath.Join(d.Answers, "*")); len(files) != 0 {
		t.Errorf("%q did not expire", files)
	}
}

func TestFailedQuestionIsCountedAndNotKept(t *testing.T) {
	d := testDoor(t)
	down := errors.New("down")
	a := asked{fails: down}
	if _, err := d.Open(a.model()).Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if u := d.Budget.Today(); u.Calls != 1 {
		t.Errorf("counted %+v", u)
	}
	if _, err := os.Stat(d.Answers); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failure was kept: %v", err)
	}
}

func TestBudgetEndsTheDayAndNotTheNext(t *testing.T) {
	for name, set := range map[string]func(*Budget){
		"calls":   func(b *Budget) { b.Calls = 1 },
		"tokens":  func(b *Budget) { b.Tokens = 15 },
		"seconds": func(b *Budget) { b.Time = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			var a asked
			b := testDoor(t).Budget
			set(&b)
			m := b.Limit(a.model())
			if _, err := m.Ask(t.Context(), prompts.Rendered{}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, ErrSpent) || !errors.Is(b.Spent(), ErrSpent) {
				t.Errorf("beyond the budget: %v", err)
			}
			first, err := b.TellOnce(t.Context())
			again, err2 := b.TellOnce(t.Context())
			if !first || again || err != nil || err2 != nil {
				t.Errorf("told %v and %v: %v %v", first, again, err, err2)
			}
			tomorrow := b.Now().AddDate(0, 0, 1)
			b.Now = func() time.Time { return tomorrow }
			if _, err := b.Limit(a.model()).Ask(t.Context(), prompts.Rendered{}); err != nil {
				t.Errorf("the next day: %v", err)
			}
		})
	}
}

func TestLongQuestionIsEndedByTheBudget(t *testing.T) {
	a := asked{takes: 50 * time.Millisecond}
	b := testDoor(t).Budget
	b.Time = 50 * time.Millisecond
	m := b.Limit(a.model())
	if _, err := m.Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, ErrSpent) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := m.Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, ErrSpent) || len(a.all) != 1 {
		t.Errorf("%v after %d questions", err, len(a.all))
	}
}

func TestOneQuestionAtATime(t *testing.T) {
	var a asked
	d := testDoor(t)
	d.Budget.Calls = 100
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := d.Budget.Limit(a.model()).Ask(t.Context(), prompts.Rendered{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if a.most != 1 || d.Budget.Today().Calls != 20 {
		t.Errorf("%d at once, %+v counted", a.most, d.Budget.Today())
	}
}

func TestNoModelStaysNone(t *testing.T) {
	if m := testDoor(t).Open(nil); m != nil {
		t.Error(m)
	}
}
