// Command bench measures the promised costs of Reverie, each figure beside plain git or a bare Go
// program in the same run, and prints a table.
//
//	go run ./bench           # about a minute
//	go run ./bench -n 2000   # smaller stores
//
// Figures are medians over processes started cold; cpu is user and system time of the process and
// its children. A line over its budget is marked, and the command then exits 1.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/internal/redact"
)

func main() {
	n := flag.Int("n", 10000, "memories in the large store")
	rounds := flag.Int("rounds", 15, "runs of each command")
	asJSON := flag.Bool("json", false, "print figures as JSON lines")
	flag.Parse()
	dir, err := os.MkdirTemp("", "reverie-bench-")
	if err == nil {
		defer os.RemoveAll(dir)
		b := &bench{dir: dir, rounds: *rounds, json: *asJSON}
		err = b.run(*n)
		if err == nil && b.over > 0 {
			err = fmt.Errorf("%d of the budgets are exceeded", b.over)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

type bench struct {
	dir    string
	bin    string
	rounds int
	json   bool
	over   int

	scaled, literal int // millisecond budgets extended for this machine, and those met literally
}

func (b *bench) run(n int) error {
	b.bin = filepath.Join(b.dir, "reverie")
	hello := filepath.Join(b.dir, "hello")
	if err := os.WriteFile(filepath.Join(b.dir, "hello.go"), []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o644); err != nil {
		return err
	}
	os.Setenv("CGO_ENABLED", "0") // as in README: a program linked with C takes 2 ms more to start
	if err := build("", b.bin, "-tags", "urfave_cli_no_docs", "-trimpath", "-ldflags=-s -w", "./cmd/reverie"); err != nil {
		return err
	}
	if err := build(b.dir, hello, "-ldflags=-s -w", "hello.go"); err != nil {
		return err
	}
	info, err := os.Stat(b.bin)
	if err != nil {
		return err
	}
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(b.dir, "config"))
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(b.dir, "gitconfig"))
	if err := os.WriteFile(filepath.Join(b.dir, "gitconfig"), []byte("[user]\n\tname = Bench\n\temail = bench@example.org\n"), 0o644); err != nil {
		return err
	}
	small, err := b.store("small", 100)
	if err != nil {
		return err
	}
	large, err := b.store("large", n)
	if err != nil {
		return err
	}
	if !b.json {
		fmt.Printf("%s, %d CPUs, %d memories, %d rounds\n\n", runtime.Version(), runtime.NumCPU(), n, b.rounds)
		fmt.Printf("%-72s %12s %12s %8s  %s\n", "what", "ours", "beside it", "ratio", "budget")
	}

	b.line("size of the stripped binary", float64(info.Size())/1e6, "MB", "", "≤ 40 MB", info.Size() <= 40e6)
	start, bare := b.measure(b.dir, nil, b.bin, "version"), b.measure(b.dir, nil, hello)
	b.ratio("start-up, cpu, against hello world in Go", start.cpu, bare.cpu, 4)

	git := b.plainCommit(large)
	i := 0
	fresh := func() []string {
		i++
		return []string{fmt.Sprintf("A new fact with the number %d about widget%d", i, i)}
	}
	keepS := b.measure(small, fresh, b.bin, "-q", "remember")
	before := b.measure(large, nil, b.bin, "-q", "recall", "widget latency in the export job")
	keepL := b.measure(large, fresh, b.bin, "-q", "remember")
	after := b.measureAfter(large, fresh)
	b.ratio(fmt.Sprintf("remember at %d, wall, against commit-tree+update-ref", n), keepL.wall, git.wall, 3)
	b.ratio(fmt.Sprintf("remember at %d, cpu, against the same", n), keepL.cpu, git.cpu, 3)
	b.ratio(fmt.Sprintf("remember at %d, cpu, against at 100", n), keepL.cpu, keepS.cpu, 1.5)
	b.ratio("recall right after a remember, cpu, against before", after.cpu, before.cpu, 2)
	if err := b.search(large, n, before, after, bare); err != nil {
		return err
	}
	rebuild, cat, err := b.rebuild(large)
	if err != nil {
		return err
	}
	b.ratio(fmt.Sprintf("show with the cache gone at %d, wall, against cat-file --batch", n), rebuild.wall, cat.wall, 4)
	review, err := b.review()
	if err != nil {
		return err
	}
	b.within("review of 200 pending operations, wall", review.wall, timing{}, 50*time.Millisecond)
	if err := b.guards(hello); err != nil {
		return err
	}
	if err := b.hooks(large, hello); err != nil {
		return err
	}
	b.redaction()
	if err := b.commit(); err != nil {
		return err
	}
	if err := b.sync(large); err != nil {
		return err
	}
	if err := b.ingest(); err != nil {
		return err
	}
	if b.scaled > 0 && !b.json {
		fmt.Printf("\nHello takes longer here than the %s that budgets in milliseconds are for; %d of %d are kept to the letter.\n", ms(helloTakes), b.literal, b.scaled)
	}
	return nil
}

// build builds a program and copies it. The linker leaves it in the page cache in single pages, and
// it then takes at least half as long again to start until it is next read from the disk.
func build(dir, out string, args ...string) error {
	linked := out + "-linked"
	if err := sh(dir, "go", append([]string{"build", "-o", linked}, args...)...); err != nil {
		return err
	}
	text, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o755)
}

// redaction measures the speed of redaction, line by line, on one processor.
func (b *bench) redaction() {
	lines := strings.SplitAfter(string(transcript(8<<20)), "\n")
	size := 0
	began := time.Now()
	for _, l := range lines {
		(*redact.Scanner)(nil).Text(l)
		size += len(l)
	}
	rate := float64(size) / 1e6 / time.Since(began).Seconds()
	b.line("redaction", rate, "MB/s", "", "≥ 20 MB/s", rate >= 20)
}

// figure is a median over processes.
type figure struct{ wall, cpu timing }

// timing is a median with its 95 % interval, or the whole range of fewer than minValues values.
type timing struct {
	time.Duration
	low, high time.Duration
	n         int // of values; fewer than minValues have no interval
}

// minValues is the least number of values whose range is a 95 % interval of the median.
const minValues = 6

// interval returns the interval of a figure that is computed of one or two timings.
func interval(low, high float64, of ...timing) *row.Interval {
	if slices.ContainsFunc(of, func(t timing) bool { return t.n < minValues }) {
		return nil
	}
	return &row.Interval{Low: low, High: high}
}

// over subtracts a timing; the ends of the interval are those of the least and greatest difference.
func (t timing) over(u timing) timing {
	return timing{max(0, t.Duration-u.Duration), max(0, t.low-u.high), max(0, t.high-u.low), min(t.n, u.n)}
}

// measure runs a command b.rounds times in dir, each time with further arguments from extra.
func (b *bench) measure(dir string, extra func() []string, name string, args ...string) figure {
	var walls, cpus []time.Duration
	for range b.rounds {
		all := args
		if extra != nil {
			all = append(slices.Clone(args), extra()...)
		}
		f := once(dir, nil, name, all...)
		walls, cpus = append(walls, f.wall.Duration), append(cpus, f.cpu.Duration)
	}
	return figure{median(walls), median(cpus)}
}

func once(dir string, stdin []byte, name string, args ...string) figure {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(began)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s %v: %v\n%s", name, args, err, out)
		os.Exit(1)
	}
	return figure{timing{Duration: wall}, timing{Duration: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}}
}

// measureAfter measures a recall that directly follows a remember.
func (b *bench) measureAfter(dir string, fresh func() []string) figure {
	var walls, cpus []time.Duration
	for range b.rounds {
		once(dir, nil, b.bin, append([]string{"-q", "remember"}, fresh()...)...)
		f := once(dir, nil, b.bin, "-q", "recall", "widget latency in the export job")
		walls, cpus = append(walls, f.wall.Duration), append(cpus, f.cpu.Duration)
	}
	return figure{median(walls), median(cpus)}
}

// plainCommit measures plain git's durable commit of an existing tree: two processes, commit-tree
// and update-ref.
func (b *bench) plainCommit(dir string) figure {
	durable := []string{"-c", "core.fsync=all"}
	tip := output(dir, "git", "rev-parse", "reverie/memory")
	var walls, cpus []time.Duration
	for i := range b.rounds {
		one := exec.Command("git", append(durable, "commit-tree", "-p", tip, "-m", fmt.Sprint("plain ", i), tip+"^{tree}")...)
		one.Dir = dir
		began := time.Now()
		out, err := one.Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench: commit-tree:", err)
			os.Exit(1)
		}
		two := exec.Command("git", append(durable, "update-ref", "refs/bench/plain", strings.TrimSpace(string(out)))...)
		two.Dir = dir
		if err := two.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: update-ref:", err)
			os.Exit(1)
		}
		walls = append(walls, time.Since(began))
		cpus = append(cpus, one.ProcessState.UserTime()+one.ProcessState.SystemTime()+two.ProcessState.UserTime()+two.ProcessState.SystemTime())
	}
	return figure{median(walls), median(cpus)}
}

// rebuild measures a reading command without its cache, beside cat-file over the same blobs.
func (b *bench) rebuild(dir string) (ours, cat figure, err error) {
	id := strings.Trim(output(dir, b.bin, "-q", "list", "-n", "1"), " ")[:8]
	blobs := []byte(output(dir, "git", "ls-tree", "-r", "--format=%(objectname)", "reverie/memory", "memories/") + "\n")
	var a, c []time.Duration
	for range min(b.rounds, 7) {
		if err := os.Remove(filepath.Join(dir, ".git/reverie/cache")); err != nil {
			return ours, cat, err
		}
		a = append(a, once(dir, nil, b.bin, "-q", "show", id).wall.Duration)
		c = append(c, once(dir, blobs, "git", "cat-file", "--batch", "--buffer").wall.Duration)
	}
	return figure{wall: median(a)}, figure{wall: median(c)}, nil
}

// review measures a listing of 200 pending operations.
func (b *bench) review() (figure, error) {
	dir, err := b.repo("review")
	if err != nil {
		return figure{}, err
	}
	once(dir, statements(200), b.bin, "-q", "import", "-")
	return b.measure(dir, nil, b.bin, "-q", "review", "--json"), nil
}

// ingest measures a transcript of 20 MB: speed, and memory at its peak beyond the start.
func (b *bench) ingest() error {
	dir, err := b.repo("ingest")
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "large.jsonl")
	if err := os.WriteFile(file, transcript(20<<20), 0o644); err != nil {
		return err
	}
	base := peak(dir, nil, b.bin, "version")
	began := time.Now()
	rss := peak(dir, nil, b.bin, "-q", "ingest", file)
	took := time.Since(began)
	if rss == 0 {
		return nil
	}
	b.line("ingest of a 20 MB transcript, memory beyond the start", float64(rss-base)/1e6, "MB", "", "≤ 64 MB", rss-base <= 64e6)
	b.line("ingest of a 20 MB transcript, redaction included", 20.97/took.Seconds(), "MB/s", "", "", true)
	return nil
}

// line prints a value with its budget.
func (b *bench) line(what string, ours float64, unit, beside, budget string, ok bool) {
	show(b, row.Figure{Name: what, Value: ours, Unit: unit, N: 1, Of: "run", Beside: beside, Aim: budget, Missed: !ok}, "")
}

// show prints a figure. ratio is another form of it for the table.
func show(b *bench, f row.Figure, ratio string) {
	if f.Missed {
		b.over++
	}
	f.Set = "cost"
	if b.json {
		_ = row.Print(os.Stdout, []row.Figure{f}, true) // a closed output ends the program later
		return
	}
	budget := f.Aim
	if f.Missed {
		budget += "  over"
	}
	fmt.Printf("%-72s %12s %24s %8s  %s\n", f.Name, f.Text(), f.Beside, ratio, budget)
}

// ratio prints how many times as long ours takes. Its interval spans both intervals.
func (b *bench) ratio(what string, ours, beside timing, budget float64) {
	of := func(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }
	f := row.Figure{Name: what, Value: of(ours.Duration, beside.Duration), Unit: "×", N: min(ours.n, beside.n), Of: "rounds",
		Beside: ms(ours.Duration) + " against " + ms(beside.Duration), Aim: fmt.Sprintf("≤ %.3g×", budget)}
	f.Range = interval(of(ours.low, beside.high), of(ours.high, beside.low), ours, beside)
	f.Missed = f.Value > budget
	show(b, f, "")
}

// helloTakes is hello's processor time on the reference machine of the millisecond budgets.
const helloTakes = 900 * time.Microsecond

// within prints a figure that has a budget in milliseconds, beside hello's time in the same run. If
// hello is slower than on the budget's machine, the budget grows in proportion. It also prints
// whether the literal budget is met.
func (b *bench) within(what string, ours, hello timing, budget time.Duration) {
	slower := max(1, float64(hello.Duration)/float64(helloTakes))
	in := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	f := row.Figure{Name: what, Value: in(ours.Duration), Unit: "ms", N: ours.n, Of: "rounds", Range: interval(in(ours.low), in(ours.high), ours),
		Aim: "≤ " + ms(budget), Missed: float64(ours.Duration) > slower*float64(budget)}
	ratio := ""
	if hello.Duration > 0 {
		f.Beside = "hello " + ms(hello.Duration)
		ratio = fmt.Sprintf("%.2f", float64(ours.Duration)/float64(hello.Duration))
	}
	if slower > 1 {
		f.Aim += fmt.Sprintf(" × %.1f", slower)
		b.scaled++
		if ours.Duration <= budget {
			b.literal++
			f.Aim += ", kept without it"
		}
	}
	show(b, f, ratio)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// median returns the median with its interval by order statistics: the ranks between which it lies
// with at least 95 %, whatever the distribution. Fewer than six values give the whole range.
func median(d []time.Duration) timing {
	slices.Sort(d)
	n, rank := len(d), 0
	tail, term := 0.0, math.Pow(0.5, float64(n)) // of the binomial distribution
	for k := 0; k < n/2; k++ {
		if tail += term; tail > 0.025 {
			break
		}
		rank, term = k, term*float64(n-k)/float64(k+1)
	}
	return timing{d[n/2], d[rank], d[n-1-rank], n}
}

func (b *bench) repo(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := sh("", "git", "init", "-q", dir); err != nil {
		return "", err
	}
	return dir, sh(dir, "git", "commit", "-q", "--allow-empty", "-m", "one")
}

// store makes a repository with n memories, and waits until git's answers about it may be cached:
// the configuration must not be too fresh.
func (b *bench) store(name string, n int) (string, error) {
	dir, err := b.repo(name)
	if err == nil {
		once(dir, statements(n), b.bin, "-q", "import", "--accept", "-")
		time.Sleep(2100 * time.Millisecond)
	}
	return dir, err
}

func sh(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

func output(dir, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s %v: %v\n", name, args, err)
		os.Exit(1)
	}
	return strings.TrimSpace(string(out))
}
