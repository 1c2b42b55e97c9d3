package door

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/prompts"
)

// asked is a model that records its questions and answers with a JSON string.
type asked struct {
	mu    sync.Mutex
	all   []prompts.Rendered
	here  int // questions at once
	most  int
	takes time.Duration
	hangs bool
	says  string
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
		if a.hangs {
			<-ctx.Done()
			return prompts.Answer{Asked: 10, Said: 1}, ctx.Err()
		}
		time.Sleep(a.takes) // in a test with a fake clock
		said := a.says
		if said == "" {
			said = `{"said":"yes"}`
		}
		return prompts.Answer{Text: json.RawMessage(said), Asked: 10, Said: 5}, a.fails
	}}
}

func testDoor(t *testing.T) Door {
	dir := t.TempDir()
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	answers := filepath.Join(dir, "answers")
	if err := os.Mkdir(answers, 0o700); err != nil {
		t.Fatal(err)
	}
	return Door{Answers: func() (string, error) { return answers, nil }, Budget: Budget{Path: filepath.Join(dir, "model.json"), Calls: 3, Tokens: 1000, Time: time.Minute, Now: func() time.Time { return day }}}
}

// kept lists the files of answers.
func (d Door) kept(t *testing.T) []string {
	t.Helper()
	dir, err := d.Answers()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
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

// A token that is split in the sessions is whole only in the answer, escaped or not.
func TestNothingUnredactedIsSaid(t *testing.T) {
	secret := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	for name, says := range map[string]string{
		"JSON":    `{"said": "use ` + secret + `"}`,
		"escaped": `{"said": "use \u0067` + secret[1:] + `"}`,
		"none":    `use ` + secret + ` and "`,
	} {
		t.Run(name, func(t *testing.T) {
			d := testDoor(t)
			a := asked{says: says}
			for range 2 {
				got, err := d.Open(a.model()).Ask(t.Context(), prompts.Rendered{})
				if err != nil || strings.Contains(string(got.Text), secret[4:]) || !strings.Contains(string(got.Text), "use ") || json.Valid(got.Text) != json.Valid([]byte(says)) {
					t.Errorf("%s, %v", got.Text, err)
				}
			}
			kept := d.kept(t)
			if len(a.all) != 1 || len(kept) != 1 {
				t.Fatalf("asked %d times, kept %q", len(a.all), kept)
			}
			data, err := os.ReadFile(kept[0])
			if err != nil {
				t.Fatal(err)
			}
			var file answer
			if err := json.Unmarshal(data, &file); err != nil || len(file.Text) == 0 || strings.Contains(string(file.Text), secret[4:]) {
				t.Errorf("kept: %s, %v", file.Text, err)
			}
		})
	}
}

func TestSameQuestionIsAskedOnce(t *testing.T) {
	d := testDoor(t)
	synctest.Test(t, func(t *testing.T) {
		a := asked{takes: time.Second}
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
	})
}

func TestTornAnswerIsAskedAgain(t *testing.T) {
	var a asked
	d := testDoor(t)
	m := d.Open(a.model())
	if _, err := m.Ask(t.Context(), prompts.Rendered{}); err != nil {
		t.Fatal(err)
	}
	files := d.kept(t)
	if len(files) != 1 {
		t.Fatal(files)
	}
	os.WriteFile(files[0], []byte(`{"Text":"eyJ`), 0o600)
	if got, err := m.Ask(t.Context(), prompts.Rendered{}); err != nil || got.Cached || len(a.all) != 2 {
		t.Errorf("%+v %v after %d questions", got, err, len(a.all))
	}
}

// Other files in the folder stay, and a link in its place, or to it, is not followed.
func TestOnlyAnswersExpire(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	answer := strings.Repeat("0a", 16) + ".json"
	for _, path := range []string{
		filepath.Join(dir, answer), filepath.Join(dir, file.Temp+"123"), filepath.Join(dir, "notes.txt"), filepath.Join(dir, answer+".json"),
		filepath.Join(elsewhere, answer), filepath.Join(elsewhere, "precious"),
	} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	killed := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, file.Temp+"123"), killed, killed); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "answers")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := Expire(dir, later); err != nil {
		t.Error(err)
	}
	if err := Expire(link, later); err != nil {
		t.Error(err)
	}
	if err := Expire(filepath.Join(dir, "none"), later); err != nil {
		t.Error(err)
	}
	got := map[string][]string{}
	for name, dir := range map[string]string{"dir": dir, "elsewhere": elsewhere} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got[name] = append(got[name], e.Name())
		}
	}
	if diff := cmp.Diff(map[string][]string{"dir": {answer + ".json", "notes.txt"}, "elsewhere": {answer, "precious"}}, got); diff != "" {
		t.Error(diff)
	}
	if err := Forget(link); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "precious")); err != nil {
		t.Error(err)
	}
}

// Without an own folder nothing is asked, because the answer could not be stored.
func TestAnswersAreNotKeptElsewhere(t *testing.T) {
	var a asked
	d := testDoor(t)
	refused := errors.New("not a folder")
	d.Answers = func() (string, error) { return "", refused }
	if _, err := d.Open(a.model()).Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, refused) || len(a.all) > 0 {
		t.Errorf("%v after %d questions", err, len(a.all))
	}
	d.Answers = nil
	if _, err := d.Open(a.model()).Ask(t.Context(), prompts.Rendered{}); err != nil || len(a.all) != 1 {
		t.Errorf("%v after %d questions", err, len(a.all))
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
	if kept := d.kept(t); len(kept) > 0 {
		t.Errorf("a failure was kept: %q", kept)
	}
}

func TestBudgetEndsTheDayAndNotTheNext(t *testing.T) {
	for name, set := range map[string]func(*Budget){
		"calls":   func(b *Budget) { b.Calls = 1 },
		"tokens":  func(b *Budget) { b.Tokens = 15 },
		"seconds": func(b *Budget) { b.Time = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			b := testDoor(t).Budget
			set(&b)
			synctest.Test(t, func(t *testing.T) { testBudget(t, b) })
		})
	}
}

func testBudget(t *testing.T, b Budget) {
	a := asked{takes: time.Second}
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
}

func TestLongQuestionIsEndedByTheBudget(t *testing.T) {
	b := testDoor(t).Budget
	synctest.Test(t, func(t *testing.T) {
		a := asked{hangs: true}
		m := b.Limit(a.model())
		if _, err := m.Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, ErrSpent) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if u := b.Today(); u.Tokens != 11 || u.Seconds != 60 {
			t.Errorf("counted %+v", u)
		}
		if _, err := m.Ask(t.Context(), prompts.Rendered{}); !errors.Is(err, ErrSpent) || len(a.all) != 1 {
			t.Errorf("%v after %d questions", err, len(a.all))
		}
	})
}

// No answer of a server ever gives back any budget.
func TestCountsOnlyRise(t *testing.T) {
	for name, c := range map[string]struct {
		tokens []int
		want   int
		spent  bool
	}{
		"negative": {[]int{100, -50, math.MinInt}, 100, false},
		"absurd":   {[]int{math.MaxInt, math.MaxInt}, maxCount, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := testDoor(t).Budget
			b.Calls = 100
			for _, n := range c.tokens {
				if err := b.Spend(t.Context(), func(context.Context) (int, error) { return n, nil }); err != nil && !errors.Is(err, ErrSpent) {
					t.Error(err)
				}
			}
			if u := b.Today(); u.Tokens != c.want || (b.Spent() != nil) != c.spent {
				t.Errorf("counted %+v", u)
			}
			lying := &prompts.Model{Ask: func(context.Context, prompts.Rendered) (prompts.Answer, error) {
				return prompts.Answer{Asked: -1 << 30, Said: 7}, nil
			}}
			b.Tokens = math.MaxInt32
			if _, err := b.Limit(lying).Ask(t.Context(), prompts.Rendered{}); err != nil || b.Today().Tokens != min(c.want+7, maxCount) {
				t.Errorf("counted %+v, %v", b.Today(), err)
			}
		})
	}
}

// TestOddCounts uses files that no day of this clock wrote. Regardless of their content, the next
// day starts from zero.
func TestOddCounts(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		calls int
		spent bool
	}{
		"today":            {`{"day":"2026-03-01","calls":2}`, 2, false},
		"tomorrow":         {`{"day":"2026-03-02","calls":2}`, 2, false},
		"yesterday":        {`{"day":"2026-02-28","calls":3}`, 0, false},
		"the far future":   {`{"day":"2099-01-01","calls":3}`, 0, false},
		"no day":           {`{"day":"soon","calls":3}`, 0, false},
		"negative":         {`{"day":"2026-03-01","calls":2,"tokens":-1000000}`, 0, false},
		"absurd calls":     {`{"day":"2026-03-01","calls":2147483647}`, maxCount, true},
		"absurd seconds":   {`{"day":"2026-03-01","calls":1,"seconds":1e300}`, 1, true},
		"no number at all": {`{"day":"2026-03-01","calls":1e300}`, 0, false},
		"torn":             {`{"day":"2026-03-01","ca`, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := testDoor(t).Budget
			if err := os.WriteFile(b.Path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if u := b.Today(); u.Day != "2026-03-01" || u.Calls != c.calls || (b.Spent() != nil) != c.spent {
				t.Errorf("%+v, %v", u, b.Spent())
			}
			var a asked
			_, err := b.Limit(a.model()).Ask(t.Context(), prompts.Rendered{})
			if errors.Is(err, ErrSpent) != c.spent || !c.spent && b.Today().Calls != c.calls+1 {
				t.Errorf("counted %+v, %v", b.Today(), err)
			}
			later := b.Now().AddDate(0, 0, 3)
			b.Now = func() time.Time { return later }
			if err := b.Spent(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that waits for another's question waits as long as allowed and reports it once. The
// count stays readable meanwhile.
func TestWaitingIsSaidOnce(t *testing.T) {
	b := testDoor(t).Budget
	said := make(chan struct{}, 9)
	b.Wait = func() { said <- struct{}{} }
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := b.Spend(t.Context(), func(context.Context) (int, error) { close(begun); <-end; return 1, nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	if _, err := b.TellOnce(t.Context()); err != nil {
		t.Errorf("while a question is answered: %v", err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	go func() { <-said; cancel() }()
	if err := b.Spend(impatient, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	all.Go(func() {
		if err := b.Spend(t.Context(), func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Error(err)
		}
	})
	<-said
	close(end)
	all.Wait()
	if u := b.Today(); u.Calls != 2 || u.Tokens != 2 || len(said) > 0 {
		t.Errorf("counted %+v, said %d times more", u, len(said))
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
