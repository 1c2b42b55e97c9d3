package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/prompts/door"
)

var letterSpace = vector.Space{Name: "letters", Digest: "0123456789abcdef", Dim: 64}

// letters is a model that counts pairs of letters: texts with many in common are alike.
func letters(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, letterSpace.Dim)
		text = strings.ToLower(text)
		for j := range len(text) - 1 {
			h := fnv.New32a()
			h.Write([]byte(text[j : j+2]))
			out[i][h.Sum32()%uint32(letterSpace.Dim)]++
		}
	}
	return out, ctx.Err()
}

// asking is the Env of a command in dir that has a model.
func asking(dir string, embed vector.Embed) (env *Env, out, talk *bytes.Buffer) {
	out, talk = new(bytes.Buffer), new(bytes.Buffer)
	return &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: out, Err: talk, Width: 80}, Dir: dir, Now: time.Now, embedder: func(context.Context) (vector.Embed, vector.Space, error) { return embed, letterSpace, nil }}, out, talk
}

// fillAll gives the memories of a clone their vectors.
func fillAll(t *testing.T, dir string) (done int) {
	t.Helper()
	env, _, _ := asking(dir, letters)
	w, err := env.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done, left, err := reader.FillVectors(t.Context(), w.Reader, nil)
	if err != nil || left > 0 {
		t.Fatalf("%d left: %v", left, err)
	}
	return done
}

func TestRecallAsksTheModelWhereItHelps(t *testing.T) {
	r := newRepo(t)
	for _, text := range []string{"Deployments happen on Mondays", "The database runs in a container", "Commit messages are in English"} {
		reverie(t, r.Dir, "-q", "remember", text)
	}
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	both, alone := []string{"lexical", "vectors"}, []string{"lexical"}
	type test struct {
		query string
		embed vector.Embed
		lists []string
		first string // statement
		said  string
		asked int32
	}
	run := func(name string, test test) {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			var embed vector.Embed
			if test.embed != nil {
				embed = func(ctx context.Context, texts []string) ([][]float32, error) {
					asked.Add(1)
					return test.embed(ctx, texts)
				}
			}
			env, out, talk := asking(r.Dir, embed)
			if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "--json", "recall", "--explain", test.query}); code != exit.Done {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			var first wire.Memory
			if line, _, _ := strings.Cut(out.String(), "\n"); line != "" || test.first != "" {
				if err := json.Unmarshal([]byte(line), &first); err != nil {
					t.Fatalf("%v in %q, %s", err, out, talk)
				}
				if diff := cmp.Diff(test.lists, first.Lists); diff != "" {
					t.Error(diff)
				}
			}
			if first.Text != test.first || !strings.Contains(talk.String(), test.said) || asked.Load() != test.asked {
				t.Errorf("%q is first, asked %d times: %s", first.Text, asked.Load(), talk)
			}
		})
	}
	run("no vectors yet", test{"the database", letters, alone, "The database runs in a container", "lists: lexical; not vectors: no memory has one yet", 0})
	if done := fillAll(t, r.Dir); done != 3 {
		t.Errorf("%d were embedded", done)
	}
	if done := fillAll(t, r.Dir); done != 0 {
		t.Errorf("%d were embedded again", done)
	}
	run("no model", test{"the database", nil, alone, "The database runs in a container", "no model is set", 0})
	run("only near", test{"deployment happening monday", letters, both, "Deployments happen on Mondays", "lists: lexical, vectors (weight 0)\n", 1})
	run("quoted", test{`"the database"`, letters, alone, "The database runs in a container", "the query wants its very words", 0})
	run("a name", test{"parseHeader", letters, nil, "", "the query wants its very words", 0})
	run("fails", test{"the database", func(context.Context, []string) ([][]float32, error) { return nil, errors.New("connection refused") }, alone, "The database runs in a container", "not vectors: connection refused", 1})
	run("odd", test{"the database", func(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }, alone, "The database runs in a container", "no vector of its space", 1})
	run("late", test{"the database", func(ctx context.Context, _ []string) ([][]float32, error) { <-ctx.Done(); return nil, ctx.Err() }, alone, "The database runs in a container", "not vectors: no answer within 300ms", 1})
	run("deaf", test{"the database", func(context.Context, []string) ([][]float32, error) { <-forever; return nil, nil }, alone, "The database runs in a container", "not vectors: no answer within 300ms", 1})
}

// The words of a score: the ranks in each list, and a memory without a vector keeps its place.
func TestRecallExplainsEachRank(t *testing.T) {
	r := newRepo(t)
	for _, text := range []string{"The database runs in a container", "Deployments happen on Mondays"} {
		reverie(t, r.Dir, "-q", "remember", text)
	}
	fillAll(t, r.Dir)
	reverie(t, r.Dir, "-q", "remember", "Backups of the database run at night")
	env, out, talk := asking(r.Dir, letters)
	if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "recall", "--explain", "database container runs"}); code != exit.Done {
		t.Fatalf("exit code %d: %s", code, talk)
	}
	for _, want := range []string{"0.0910 = lexical 1 + vectors 1; lexical ", "; likeness 0.", "lexical 2, where it stays: it has no vector; lexical ", "= vectors 2; likeness "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	env, out, _ = asking(r.Dir, letters)
	Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "--json", "recall", "-n", "1", "database container runs"})
	var first wire.Memory
	if err := json.Unmarshal(out.Bytes(), &first); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"lexical": 1, "vectors": 1}, first.Ranks); diff != "" {
		t.Error(diff)
	}
}

// A purge takes the vectors with it, and a worker that was embedding meanwhile brings none back.
func TestPurgeDropsVectors(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "Deploys go to the kestrel machine")
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	fillAll(t, r.Dir)
	dir := filepath.Join(r.Dir, ".git", "reverie", "vectors")
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			if e.Name() != "lock" {
				names = append(names, e.Name())
			}
		}
		return names
	}
	if n := files(); len(n) != 2 { // vectors, and what they are worth
		t.Fatalf("filled: %q", n)
	}
	reverie(t, r.Dir, "-q", "remember", "The kestrel machine has two disks")
	fired := false
	env, _, _ := asking(r.Dir, func(ctx context.Context, texts []string) ([][]float32, error) {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "kestrel") }) && !fired {
			fired = true
			reverie(t, r.Dir, "purge", "--yes", "kestrel")
		}
		return letters(ctx, texts)
	})
	w, err := env.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, _, err := reader.FillVectors(t.Context(), w.Reader, nil); done != 0 || err != nil || !fired {
		t.Errorf("%d done, %v, purged: %v", done, err, fired)
	}
	if n := files(); len(n) != 0 {
		t.Errorf("after the purge: %q", n)
	}
	if done := fillAll(t, r.Dir); done != 1 || len(files()) != 2 {
		t.Errorf("%d were embedded after the purge: %q", done, files())
	}
	wantHits(t, r.Dir, "kestrel", false)
}

// The worth of vectors is measured once when they exist, and again when there are many more.
// Vectors that find nothing are not asked.
func TestVectorsAreWeighed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	add := func(r *testrepo.Repo, from, to int) { // from words that occur nowhere else
		var lines strings.Builder
		for i := from; i < to; i++ {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			text := "About"
			for range 8 {
				text += " "
				for range 6 {
					text += string(rune('a' + random.IntN(26)))
				}
			}
			fmt.Fprintf(&lines, "{\"text\":%q,\"ref\":\"s%d\"}\n", text, i)
		}
		answer(t, r.Dir, lines.String(), "import", "--accept", "-")
	}
	// it knows no text, and gives each a direction
	chance := func(_ context.Context, texts []string) (out [][]float32, err error) {
		for _, text := range texts {
			h := fnv.New64a()
			h.Write([]byte(text))
			random := rand.New(rand.NewPCG(h.Sum64(), 1))
			x := make([]float32, letterSpace.Dim)
			for i := range x {
				x[i] = float32(random.NormFloat64())
			}
			out = append(out, x)
		}
		return out, nil
	}
	for name, test := range map[string]struct {
		embed vector.Embed
		want  string
		asked int // by the search
	}{
		"good":      {letters, "lists: lexical, vectors (weight ", 1},
		"by chance": {chance, "not vectors: those of this model find too little here", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			add(r, 0, 64)
			asked, given := 0, 0
			embed := func(ctx context.Context, texts []string) ([][]float32, error) {
				asked++
				given += len(texts)
				return test.embed(ctx, texts)
			}
			fill := func() {
				env, _, _ := asking(r.Dir, embed)
				w, err := env.open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, left, err := reader.FillVectors(t.Context(), w.Reader, nil); left > 0 || err != nil {
					t.Fatalf("%d left: %v", left, err)
				}
			}
			const pairs = 2 * 20 // phrases that show whether it knows English
			for i, step := range []struct{ from, to, tried int }{
				{0, 64, 2*64 + pairs},
				{64, 64, 1}, // which loads it for the next prompt
				{64, 76, 0}, // less than a quarter
				{76, 84, 2*84 + pairs},
			} {
				if step.from > 0 && step.from < step.to {
					add(r, step.from, step.to)
				}
				given = 0
				if fill(); given != step.to-step.from+step.tried {
					t.Errorf("step %d: the model was given %d texts, want %d of memories and %d to try", i, given, step.to-step.from, step.tried)
				}
			}
			asked = 0
			env, _, talk := asking(r.Dir, embed)
			if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "recall", "--explain", "what is this about"}); code != exit.Done {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			if !strings.Contains(talk.String(), test.want) || asked != test.asked {
				t.Errorf("asked %d times: %s", asked, talk)
			}
		})
	}
}

// Without a model nothing is made.
func TestNoModelLeavesNothing(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	env, _, _ := asking(r.Dir, nil)
	w, err := env.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, left, err := reader.FillVectors(t.Context(), w.Reader, nil); done+left > 0 || err != nil {
		t.Errorf("%d done, %d left, %v", done, left, err)
	}
	reverie(t, r.Dir, "recall", "tests")
	if _, err := os.Lstat(filepath.Join(r.Dir, ".git", "reverie", "vectors")); err == nil {
		t.Error("there is a folder of vectors")
	}
}

// Embedding counts in the day's budget, and stops at its end or when another task is pending.
func TestVectorsCost(t *testing.T) {
	r := newRepo(t)
	var lines strings.Builder
	for i := range 70 {
		fmt.Fprintf(&lines, "{\"text\":\"Statement %d of the many\",\"ref\":\"s%d\"}\n", i, i)
	}
	answer(t, r.Dir, lines.String(), "import", "--accept", "-")
	asked := 0
	counting := func(ctx context.Context, texts []string) ([][]float32, error) {
		asked++
		if limit, limited := ctx.Deadline(); !limited || time.Until(limit) > time.Minute {
			t.Error("a batch may take as long as it likes")
		}
		return letters(ctx, texts)
	}
	open := func() *workspace {
		env, _, _ := asking(r.Dir, counting)
		w, err := env.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	if done, left, err := reader.FillVectors(t.Context(), w.Reader, func() bool { return asked == 1 }); done != 32 || left != 38 || err != nil {
		t.Errorf("called away: %d done, %d left, %v", done, left, err)
	}
	used := w.Budget().Today()
	if used.Calls != 1 || used.Tokens < 32*len("Statement")/4 || used.Tokens > 32*40 {
		t.Errorf("counted %+v", used)
	}
	reverie(t, r.Dir, "config", "model.calls", "2")
	for i, want := range []struct{ done, left int }{{32, 6}, {0, 0}} {
		if done, left, err := reader.FillVectors(t.Context(), open().Reader, nil); done != want.done || left != want.left || !errors.Is(err, door.ErrSpent) {
			t.Errorf("%d: %d done, %d left, %v", i, done, left, err)
		}
	}
	w = open()
	w.Background = true
	if _, _, err := reader.FillVectors(t.Context(), w.Reader, nil); err != nil || asked != 2 {
		t.Errorf("the worker, after %d calls: %v", asked, err)
	}
	for _, key := range []string{"model.calls", "model.tokens", "model.seconds"} {
		for _, set := range []string{"model.calls", "model.tokens", "model.seconds"} {
			reverie(t, r.Dir, "config", set, map[bool]string{true: "0", false: "3600"}[set == key])
		}
		env, _, talk := asking(r.Dir, counting)
		if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "recall", "--explain", "statement of many"}); code != exit.Done || asked != 2 || !strings.Contains(talk.String(), "not vectors: the day's budget for the model is spent") {
			t.Errorf("without %s: exit code %d, asked %d times, %s", key, code, asked, talk)
		}
	}
	reverie(t, r.Dir, "config", "model.seconds", "3600")
	reverie(t, r.Dir, "recall", "statement of many")
	before := open().Budget().Today()
	env, _, talk := asking(r.Dir, letters)
	if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "recall", "--explain", "statement of many"}); code != exit.Done || !strings.Contains(talk.String(), "lists: lexical, vectors") {
		t.Errorf("exit code %d, %s", code, talk)
	}
	if after := open().Budget().Today(); after != before {
		t.Errorf("a search counts: %+v, then %+v", before, after)
	}
}

// A prompt is given a memory with few of its words if a model that knows English finds both alike.
// A model that fails, hangs or knows none leaves what the words find, after its time.
func TestPromptIsGivenWhatItMeans(t *testing.T) {
	r := newRepo(t)
	for _, text := range []string{"Use pnpm for gadgets in web/", "Meetings are on Tuesday", "The relay listens on port 7443"} {
		reverie(t, r.Dir, "-q", "remember", text)
	}
	topics := func(ctx context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			out[i] = make([]float32, letterSpace.Dim)
			out[i][map[bool]int{false: 0, true: 1}[strings.Contains(text, "gadgets")]] = 1
		}
		return out, ctx.Err()
	}
	env, _, _ := asking(r.Dir, topics)
	w, err := env.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, left, err := reader.FillVectors(t.Context(), w.Reader, nil); err != nil || left > 0 {
		t.Fatalf("%d left: %v", left, err)
	}
	knows := func(alike float64) {
		vectors := vector.Read(filepath.Join(w.State, reader.VectorsDir), letterSpace)
		defer vectors.Close()
		if err := vectors.Keep(t.Context(), vector.Worth{Alike: alike}); err != nil {
			t.Fatal(err)
		}
	}
	const pnpm, relay = "obtain gadgets", "the relay on port 7443 is silent"
	late := func(ctx context.Context, _ []string) ([][]float32, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, test := range map[string]struct {
		prompt string
		embed  vector.Embed
		alike  float64
		given  string
	}{
		"means":            {pnpm, topics, 0.5, "pnpm"},
		"knows no English": {pnpm, topics, 0, ""},
		"not alike":        {"obtain gadgets Tuesday", topics, 0.5, "pnpm"},
		"another language": {"получить gadgets", topics, 0.5, ""},
		"no model":         {pnpm, nil, 0.5, ""},
		"late":             {pnpm, late, 0.5, ""},
		"late, words":      {relay, late, 0.5, "7443"},
		"words":            {relay, topics, 0.5, "7443"},
	} {
		t.Run(name, func(t *testing.T) {
			knows(test.alike)
			env, out, talk := asking(r.Dir, test.embed)
			began := time.Now()
			if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "context", "--for", "prompt", "--query", test.prompt}); code != exit.Done {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if (test.given == "") != (strings.TrimSpace(out.String()) == "") || !strings.Contains(out.String(), test.given) || strings.Contains(out.String(), "Tuesday") {
				t.Errorf("given %q, want %q; %s", out, test.given, talk)
			}
		})
	}
}
