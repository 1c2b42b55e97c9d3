// Command year simulates a team's year with Reverie, compares every clone with a model of its own,
// and prints differences, sizes and processor times, with their course over the sessions:
//
//	go run ./bench/year -sessions 2000 [-json]
//	go run ./bench/year -old BINARY   # one clone upgrades at half time
//
// Three people work in four clones of one repository: sessions teach, people remember, edit, forget
// and purge, code branches are merged, clones sync, and git collects garbage. A difference from the
// model is a loss; any loss makes the exit code 1.
package main

import (
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

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
)

func main() {
	y := &year{report: os.Stderr}
	flag.IntVar(&y.sessions, "sessions", 2000, "`N` sessions")
	flag.Uint64Var(&y.seed, "seed", 1, "`SEED` of the random choices")
	flag.IntVar(&y.checks, "checks", 12, "`N` comparisons with the model")
	flag.StringVar(&y.old, "old", "", "an earlier `BINARY`, with which the last clone works for half of the year")
	asJSON := flag.Bool("json", false, "print figures as JSON lines")
	flag.Parse()
	var err error
	if y.dir, err = os.MkdirTemp("", "reverie-year-"); err == nil {
		if y.program, err = lab.Build(y.dir); err == nil {
			err = y.run()
		}
		os.RemoveAll(y.dir)
	}
	if y.checked > 0 {
		err = errors.Join(err, figure.Print(os.Stdout, y.figures(), *asJSON))
	}
	if err == nil && y.lost > 0 {
		err = fmt.Errorf("%d differences from the model", y.lost)
	}
	lab.Exit("year", err)
}

type year struct {
	dir, program, old string
	sessions, checks  int // checks: complete comparisons
	seed              uint64
	report            *os.File

	rnd    *rand.Rand
	clones []*clone
	bare   *model
	sizes  map[string][]figure.Point // by name, in MB
	took   map[string][]run          // by operation
	cpu    time.Duration             // of all commands so far

	now               int // the session
	checked, compared int // clones, and statements in them, at all checks
	memories, lost    int // at the last check; differences from the model so far

	err error // of the first command that failed; later ones do nothing
}

// run is the processor time of an operation in a session.
type run struct {
	session int
	cpu     time.Duration
}

type clone struct {
	*model
	year               *year
	name, dir, program string
	env                []string
}

func (y *year) remote() string { return filepath.Join(y.dir, "bare.git") }

func (y *year) run() error {
	y.rnd, y.bare, y.took, y.sizes = rand.New(rand.NewPCG(y.seed, 0)), newModel(), map[string][]run{}, map[string][]figure.Point{}
	if y.begin(); y.err != nil {
		return y.err
	}
	for i := range y.sessions {
		c := y.clones[y.rnd.IntN(len(y.clones))]
		y.now = i
		if y.day(c, i); y.err != nil {
			return fmt.Errorf("session %d, clone %s: %w", i, c.name, y.err)
		}
		if i == y.sessions/2 {
			y.clones[3].program = y.program // the upgrade
		}
		if (i+1)*y.checks/y.sessions > i*y.checks/y.sessions { // the last one is after the last session
			if y.check(i + 1); y.err != nil {
				return fmt.Errorf("after %d sessions: %w", i+1, y.err)
			}
		}
	}
	return nil
}

// begin makes the remote and the clones. All of them trust each other.
func (y *year) begin() {
	y.sh(y.dir, nil, "git", "init", "-q", "--bare", "--initial-branch=main", y.remote())
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
		y.must(errors.Join(os.MkdirAll(filepath.Join(home, ".config/reverie"), 0o755), os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o644),
			os.WriteFile(filepath.Join(home, ".config/reverie/config.toml"), []byte(settings), 0o644)))
		y.clones = append(y.clones, c)
		y.sh(home, c.env, "git", "clone", "-q", y.remote(), "repo")
		if i == 0 {
			c.git("commit -q --allow-empty -m begin", "branch -M main", "push -q origin main")
		}
		c.reverie("init")
		y.sync(c)
	}
}

// day is a session and the work around it.
func (y *year) day(c *clone, i int) {
	aside := i%9 == 4 // on a side branch of the code, which lands before the next sync
	if aside {
		c.git(fmt.Sprintf("checkout -q -b side-%d", i), fmt.Sprintf("commit -q --allow-empty -m work-%d", i))
	}
	text := statement(i)
	path := filepath.Join(y.dir, "session.jsonl")
	y.must(os.WriteFile(path, session(i, c.dir, text), 0o644))
	y.timed(c, "learn", "learn", "--no-model", path)
	c.add(text)
	y.accept(c)
	if aside {
		c.git("checkout -q main", fmt.Sprintf("merge -q --no-ff --no-edit side-%d", i), fmt.Sprintf("branch -q -d side-%d", i))
	}
	if i%5 == 0 {
		text := fmt.Sprintf("Ticket %d says why the %s is %s.", 1000+i, noun(i), adjective(i*7))
		y.timed(c, "remember", "remember", text)
		c.add(text)
	}
	if id := y.pick(c); id != "" && i%4 == 1 {
		text := fmt.Sprintf("Since day %d the %s of %s holds instead.", i, noun(i*3), c.name)
		y.timed(c, "edit", "edit", id, text)
		c.edit(id, text)
	}
	if id := y.pick(c); id != "" && i%12 == 3 {
		y.timed(c, "forget", "forget", "--reason", "it no longer holds", id)
		c.retired[id] = true
	}
	if i%3 == 0 {
		y.timed(c, "recall", "recall", noun(i), adjective(i))
		y.timed(c, "context", "context")
	}
	if y.rnd.IntN(4) == 0 {
		y.sync(c)
	}
	if i%max(20, y.sessions/12) == 9 {
		y.purge(c, i)
	}
	if i%max(20, y.sessions/40) == 7 {
		y.time("git gc", func() { c.git("gc -q --prune=now") })
	}
}

// accept accepts everything that waits. That retires the memories that it contradicts, as the inbox
// announces.
func (y *year) accept(c *clone) {
	out := c.reverie("review", "--json")
	if out == "" {
		return
	}
	waiting, err := lab.Lines[struct{ Contradicts []string }](strings.NewReader(out))
	y.must(err)
	for _, op := range waiting {
		for _, id := range op.Contradicts {
			c.retired[id] = true
		}
	}
	y.timed(c, "accept", "accept", "--all")
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
func (y *year) purge(c *clone, i int) {
	text := fmt.Sprintf("The password of the %s box number %d is on the wall.", noun(i), i)
	y.timed(c, "remember", "remember", text)
	id := c.add(text)
	y.sync(c)
	y.timed(c, "purge", "purge", "--yes", "--push", "origin", id)
	c.purge(id)
	y.bare.purge(id)
}

// sync pulls and pushes the code, and syncs the memory.
func (y *year) sync(c *clone) {
	c.git("pull -q --no-rebase --no-edit origin main", "push -q origin main")
	y.timed(c, "sync", "sync", "--yes")
	y.bare.merge(c.model)
	c.merge(y.bare)
}

// check brings all clones together, compares them with the model, and measures.
func (y *year) check(n int) {
	for range 2 {
		for _, c := range y.clones {
			y.sync(c)
		}
	}
	for _, c := range y.clones {
		y.compare(n, c)
		c.git("fsck --strict --no-dangling")
		c.reverie("check", "--deep")
	}
	y.weigh(n)
	git := y.sizes[".git, mean of the clones"]
	fmt.Fprintf(y.report, "%s %d sessions: %d lost, %.1f MB .git, %.0f s of processor time\n", time.Now().Format(time.TimeOnly), n, y.lost, git[len(git)-1][1], y.cpu.Seconds())
}

// compare holds a clone's memories against its model.
func (y *year) compare(n int, c *clone) {
	all, err := lab.Lines[listed](strings.NewReader(c.reverie("list", "--all", "--json")))
	y.must(err)
	wrong := c.lost(all)
	for _, w := range wrong[:min(5, len(wrong))] {
		fmt.Fprintf(y.report, "%d sessions, %s: %s\n", n, c.name, w)
	}
	y.lost += len(wrong)
	y.checked, y.compared, y.memories = y.checked+1, y.compared+len(all), len(all)
}

// weigh notes the mean sizes of the clones' folders, and those of the refs in the first.
func (y *year) weigh(n int) {
	note := func(name string, bytes float64) {
		y.sizes[name] = append(y.sizes[name], figure.Point{float64(n), bytes / 1e6})
	}
	for _, folder := range []string{".git", ".git/reverie"} {
		mean := 0.0
		for _, c := range y.clones {
			mean += size(filepath.Join(c.dir, folder)) / float64(len(y.clones))
		}
		note(folder+", mean of the clones", mean)
	}
	c := y.clones[0]
	for name, ref := range map[string]string{"branch": "refs/heads/reverie/memory", "journal": "refs/reverie/journal"} {
		var bytes float64
		fmt.Sscan(y.sh(c.dir, c.env, "git", "rev-list", "--objects", "--disk-usage", ref), &bytes)
		note(name+" in the first clone", bytes)
	}
}

// figures returns the figures of the year so far. A processor time is the median of the last
// quarter, and its curve has that of each twelfth.
func (y *year) figures() []figure.Figure {
	lost := figure.Count("model", "differences from the model", y.lost, y.compared, "statements compared")
	lost.Aim, lost.Missed = "0", y.lost > 0
	all := []figure.Figure{lost, figure.Count("model", "comparisons of a clone with the model", y.checked, y.now+1, "sessions"),
		figure.Count("model", "memories at the end", y.memories, y.now+1, "sessions")}
	for _, name := range slices.Sorted(maps.Keys(y.sizes)) {
		curve := y.sizes[name]
		all = append(all, figure.Figure{Set: "size", Name: name, Value: curve[len(curve)-1][1], Unit: "MB", N: 1, Of: "year", Curve: curve, Over: "sessions"})
	}
	var growth []figure.Figure
	for _, op := range slices.Sorted(maps.Keys(y.took)) {
		const parts = 12
		first, last := y.between(op, 0, y.sessions/4), y.between(op, y.sessions-y.sessions/4, y.sessions)
		if len(first) == 0 || len(last) == 0 {
			continue
		}
		f := figure.Time("processor time", op, figure.Median(last), "runs")
		for i := range parts {
			if some := y.between(op, y.sessions*i/parts, y.sessions*(i+1)/parts); len(some) > 0 {
				f.Curve = append(f.Curve, figure.Point{float64(y.sessions * (i + 1) / parts), figure.InMs(figure.Median(some).Duration)})
			}
		}
		f.Over = "sessions"
		all = append(all, f)
		growth = append(growth, figure.Ratio("processor time, last quarter against first", op, figure.Median(last), figure.Median(first), "runs"))
	}
	return append(all, growth...)
}

// between returns the processor times of an operation in the sessions from one to before another.
func (y *year) between(op string, from, to int) (times []time.Duration) {
	for _, r := range y.took[op] {
		if from <= r.session && r.session < to {
			times = append(times, r.cpu)
		}
	}
	return times
}

func (y *year) timed(c *clone, op string, args ...string) {
	y.time(op, func() { c.reverie(args...) })
}

func (y *year) time(op string, fn func()) {
	before := y.cpu
	fn()
	y.took[op] = append(y.took[op], run{y.now, y.cpu - before})
}

func (c *clone) reverie(args ...string) string {
	return c.year.sh(c.dir, c.env, c.program, args...)
}

// git runs git commands without quoted words.
func (c *clone) git(commands ...string) {
	for _, command := range commands {
		c.year.sh(c.dir, c.env, "git", strings.Fields(command)...)
	}
}

func (y *year) must(err error) {
	if y.err == nil {
		y.err = err
	}
}

// sh runs a command, unless one before it failed.
func (y *year) sh(dir string, env []string, name string, args ...string) string {
	if y.err != nil {
		return ""
	}
	out, err := y.try(dir, env, name, args...)
	y.must(err)
	return out
}

func (y *year) try(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	r, err := lab.Run(cmd)
	y.cpu += r.CPU
	return r.Out, err
}

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
