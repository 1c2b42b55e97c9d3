// Command year simulates a team's year with Reverie, compares every clone with a model of its own,
// and writes sizes, times and losses over time as JSON: rows of x (sessions so far), y and series.
//
//	go run ./bench/year --sessions 2000 OUT.json
//	go run ./bench/year --old BINARY OUT.json   # one clone upgrades at half time
//
// Three people work in four clones of one repository: sessions teach, people remember, edit, forget
// and purge, code branches are merged, clones sync, and git collects garbage. A difference from the
// model is a loss; any loss makes the exit code 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	y := &year{}
	flag.IntVar(&y.sessions, "sessions", 2000, "`N` sessions")
	flag.Uint64Var(&y.seed, "seed", 1, "`SEED` of the random choices")
	flag.IntVar(&y.checks, "checks", 20, "`N` comparisons with the model")
	flag.StringVar(&y.old, "old", "", "an earlier `BINARY`, with which the last clone works for half of the year")
	flag.Parse()
	dir, err := os.MkdirTemp("", "reverie-year-")
	if err == nil {
		defer os.RemoveAll(dir)
		y.dir, y.program, y.report, y.out = dir, filepath.Join(dir, "reverie"), os.Stderr, flag.Arg(0)
		if err = exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", y.program, "./cmd/reverie").Run(); err == nil {
			err = y.run()
		}
	}
	if err == nil && y.lost > 0 {
		err = fmt.Errorf("%d differences from the model", y.lost)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "year:", err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

// row is a point of one curve.
type row struct {
	X      int     `json:"x"`
	Y      float64 `json:"y"`
	Series string  `json:"series"`
}

// cost is the time of one operation. On a busy machine only its CPU time compares.
type cost struct{ wall, cpu time.Duration }

type year struct {
	dir, program, old string
	out               string // file of the rows, rewritten by each check, or ""
	sessions, checks  int    // checks: complete comparisons
	seed              uint64
	report            *os.File

	rnd    *rand.Rand
	clones []*clone
	bare   *model
	rows   []row
	took   map[string][]cost // of operations since the last check
	cpu    time.Duration     // of all commands so far
	lost   int
}

type clone struct {
	*model
	year               *year
	name, dir, program string
	env                []string
}

func (y *year) remote() string { return filepath.Join(y.dir, "bare.git") }

func (y *year) run() error {
	y.rnd, y.bare, y.took = rand.New(rand.NewPCG(y.seed, 0)), newModel(), map[string][]cost{}
	if err := y.begin(); err != nil {
		return err
	}
	every := max(1, y.sessions/y.checks)
	for i := range y.sessions {
		c := y.clones[y.rnd.IntN(len(y.clones))]
		if err := y.day(c, i); err != nil {
			return fmt.Errorf("session %d, clone %s: %w", i, c.name, err)
		}
		if i == y.sessions/2 {
			y.clones[3].program = y.program // the upgrade
		}
		if (i+1)%every == 0 {
			if err := y.check(i + 1); err != nil {
				return fmt.Errorf("after %d sessions: %w", i+1, err)
			}
		}
	}
	return nil
}

// begin makes the remote and the clones. All of them trust each other.
func (y *year) begin() error {
	if _, err := y.sh(y.dir, nil, "git", "init", "-q", "--bare", "--initial-branch=main", y.remote()); err != nil {
		return err
	}
	for i, name := range []string{"ada-laptop", "ada-desktop", "ben", "cleo"} {
		person, _, _ := strings.Cut(name, "-")
		home := filepath.Join(y.dir, name)
		c := &clone{model: newModel(), year: y, name: name, dir: filepath.Join(home, "repo"), program: y.program}
		if i == 3 && y.old != "" {
			c.program = y.old
		}
		c.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		settings := "trust.everyone = true\nlearn.background = 'off'\n"
		gitconfig := fmt.Sprintf("[user]\n\tname = %s\n\temail = %[1]s@example.org\n[gc]\n\tauto = 0\n", person)
		if err := errors.Join(os.MkdirAll(filepath.Join(home, ".config/reverie"), 0o755), os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o644),
			os.WriteFile(filepath.Join(home, ".config/reverie/config.toml"), []byte(settings), 0o644)); err != nil {
			return err
		}
		y.clones = append(y.clones, c)
		if _, err := y.sh(home, c.env, "git", "clone", "-q", y.remote(), "repo"); err != nil {
			return err
		}
		if i == 0 {
			if err := c.git("commit -q --allow-empty -m begin", "branch -M main", "push -q origin main"); err != nil {
				return err
			}
		}
		if _, err := c.reverie("init"); err != nil {
			return err
		}
		if err := y.sync(c); err != nil {
			return err
		}
	}
	return nil
}

// day is a session and the work around it.
func (y *year) day(c *clone, i int) error {
	if i%9 == 4 { // on a side branch of the code, which lands before the next sync
		if err := c.git(fmt.Sprintf("checkout -q -b side-%d", i), fmt.Sprintf("commit -q --allow-empty -m work-%d", i)); err != nil {
			return err
		}
	}
	text := statement(i)
	path := filepath.Join(y.dir, "session.jsonl")
	if err := os.WriteFile(path, session(i, c.dir, text), 0o644); err != nil {
		return err
	}
	if err := y.timed(c, "learn", "learn", "--no-model", path); err != nil {
		return err
	}
	c.add(text)
	if err := y.accept(c); err != nil {
		return err
	}
	if i%9 == 4 {
		if err := c.git("checkout -q main", fmt.Sprintf("merge -q --no-ff --no-edit side-%d", i), fmt.Sprintf("branch -q -d side-%d", i)); err != nil {
			return err
		}
	}
	if i%5 == 0 {
		text := fmt.Sprintf("Ticket %d says why the %s is %s.", 1000+i, noun(i), adjective(i*7))
		if err := y.timed(c, "remember", "remember", text); err != nil {
			return err
		}
		c.add(text)
	}
	if id := y.pick(c); id != "" && i%4 == 1 {
		text := fmt.Sprintf("Since day %d the %s of %s holds instead.", i, noun(i*3), c.name)
		if err := y.timed(c, "edit", "edit", id, text); err != nil {
			return err
		}
		c.edit(id, text)
	}
	if id := y.pick(c); id != "" && i%12 == 3 {
		if err := y.timed(c, "forget", "forget", "--reason", "it no longer holds", id); err != nil {
			return err
		}
		c.retired[id] = true
	}
	if i%3 == 0 {
		if err := errors.Join(y.timed(c, "recall", "recall", noun(i), adjective(i)), y.timed(c, "context", "context")); err != nil {
			return err
		}
	}
	if y.rnd.IntN(4) == 0 {
		if err := y.sync(c); err != nil {
			return err
		}
	}
	if i%max(20, y.sessions/25) == 9 {
		if err := y.purge(c, i); err != nil {
			return err
		}
	}
	if i%max(20, y.sessions/40) == 7 {
		return y.time("git gc", func() error { return c.git("gc -q --prune=now") })
	}
	return nil
}

// accept accepts everything that waits. That retires the memories that it contradicts, as the inbox
// announces.
func (y *year) accept(c *clone) error {
	out, err := c.reverie("review", "--json")
	if err != nil || out == "" {
		return err
	}
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var op struct{ Contradicts []string }
		if err := d.Decode(&op); err != nil {
			return err
		}
		for _, id := range op.Contradicts {
			c.retired[id] = true
		}
	}
	return y.timed(c, "accept", "accept", "--all")
}

// pick returns a memory in force with one text, or "".
func (y *year) pick(c *clone) string {
	ids := slices.Sorted(maps.Keys(c.said))
	for range 5 {
		if len(ids) == 0 {
			break
		}
		if id := ids[y.rnd.IntN(len(ids))]; !c.retired[id] && len(c.texts(id)) == 1 {
			return id
		}
	}
	return ""
}

// purge takes a statement out of a clone and the remote for good.
func (y *year) purge(c *clone, i int) error {
	text := fmt.Sprintf("The password of the %s box number %d is on the wall.", noun(i), i)
	if err := y.timed(c, "remember", "remember", text); err != nil {
		return err
	}
	id := c.add(text)
	if err := y.sync(c); err != nil {
		return err
	}
	if err := y.timed(c, "purge", "purge", "--yes", "--push", "origin", id); err != nil {
		return err
	}
	c.purge(id)
	y.bare.purge(id)
	return nil
}

// sync pulls and pushes the code, and syncs the memory.
func (y *year) sync(c *clone) error {
	if err := c.git("pull -q --no-rebase --no-edit origin main", "push -q origin main"); err != nil {
		return err
	}
	if err := y.timed(c, "sync", "sync", "--yes"); err != nil {
		return err
	}
	y.bare.merge(c.model)
	c.merge(y.bare)
	return nil
}

// check brings all clones together, compares them with the model, and measures.
func (y *year) check(n int) error {
	for range 2 {
		for _, c := range y.clones {
			if err := y.sync(c); err != nil {
				return err
			}
		}
	}
	var sizes [4]float64
	for _, c := range y.clones {
		out, err := c.reverie("list", "--all", "--json")
		if err != nil {
			return err
		}
		var all []listed
		for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
			var l listed
			if err := d.Decode(&l); err != nil {
				return err
			}
			all = append(all, l)
		}
		wrong := c.lost(all)
		for _, w := range wrong[:min(5, len(wrong))] {
			fmt.Fprintf(y.report, "%d sessions, %s: %s\n", n, c.name, w)
		}
		y.lost += len(wrong)
		if c == y.clones[0] {
			y.row(n, float64(len(all)), "memories")
		}
		if err := errors.Join(c.git("fsck --strict --no-dangling"), second(c.reverie("check", "--deep"))); err != nil {
			return err
		}
		for i, dir := range []string{".git", ".git/reverie", ".git/reverie/cache", ".git/reverie/sessions"} {
			sizes[i] += size(filepath.Join(c.dir, dir)) / float64(len(y.clones))
		}
	}
	for i, series := range []string{".git bytes", "state folder bytes", "catalog bytes", "sessions bytes"} {
		y.row(n, sizes[i], series)
	}
	for series, ref := range map[string]string{"branch": "refs/heads/reverie/memory", "journal": "refs/reverie/journal", "inbox": "refs/reverie/inbox"} {
		objects, err := y.sh(y.clones[0].dir, y.clones[0].env, "git", "rev-list", "--objects", ref)
		if err != nil {
			continue // no such ref yet
		}
		y.row(n, float64(strings.Count(objects, "\n")), series+" objects")
		if text, err := y.sh(y.clones[0].dir, y.clones[0].env, "git", "rev-list", "--objects", "--disk-usage", ref); err == nil {
			var bytes float64
			fmt.Sscan(text, &bytes)
			y.row(n, bytes, series+" bytes")
		}
	}
	line := ""
	for _, op := range slices.Sorted(maps.Keys(y.took)) {
		for _, of := range []struct {
			name string
			get  func(cost) time.Duration
		}{{" ms", func(c cost) time.Duration { return c.wall }}, {" cpu ms", func(c cost) time.Duration { return c.cpu }}} {
			var all []float64
			for _, c := range y.took[op] {
				all = append(all, float64(of.get(c).Microseconds())/1000)
			}
			slices.Sort(all)
			median, most := all[len(all)/2], all[len(all)-1]
			y.row(n, median, op+of.name)
			y.row(n, most, op+of.name+" at most")
			if of.name == " cpu ms" {
				line += fmt.Sprintf(" %s %.0f/%.0f", op, median, most)
			}
		}
	}
	y.row(n, float64(y.lost), "lost")
	fmt.Fprintf(y.report, "%s %d sessions: %.1f MB .git, %d lost; cpu ms median/most:%s\n", time.Now().Format(time.TimeOnly), n, sizes[0]/1e6, y.lost, line)
	clear(y.took)
	text, err := json.Marshal(y.rows)
	if err == nil && y.out != "" {
		err = os.WriteFile(y.out, append(text, '\n'), 0o644)
	}
	return err
}

func (y *year) row(x int, v float64, series string) { y.rows = append(y.rows, row{x, v, series}) }

func (y *year) timed(c *clone, op string, args ...string) error {
	return y.time(op, func() error { return second(c.reverie(args...)) })
}

func (y *year) time(op string, fn func() error) error {
	began, before := time.Now(), y.cpu
	err := fn()
	y.took[op] = append(y.took[op], cost{time.Since(began), y.cpu - before})
	return err
}

func (c *clone) reverie(args ...string) (string, error) {
	return c.year.sh(c.dir, c.env, c.program, args...)
}

// git runs git commands without quoted words.
func (c *clone) git(commands ...string) error {
	for _, command := range commands {
		if _, err := c.year.sh(c.dir, c.env, "git", strings.Fields(command)...); err != nil {
			return err
		}
	}
	return nil
}

func (y *year) sh(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var out, fault bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &fault
	err := cmd.Run()
	if cmd.ProcessState != nil {
		y.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return "", fmt.Errorf("%s %q: %w\n%s%s", filepath.Base(name), args, err, out.String(), fault.String())
	}
	return out.String(), nil
}

func second(_ string, err error) error { return err }

// size returns the bytes of all files below a path.
func size(path string) (total float64) {
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += float64(info.Size())
			}
		}
		return nil
	})
	return total
}
