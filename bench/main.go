// Command bench measures the promised costs of Reverie, each figure beside plain git or a bare Go
// program in the same run, and prints a table.
//
//	go run ./bench           # about a minute
//	go run ./bench -n 2000   # smaller stores
//	go run ./bench -entire PATH -git-bug PATH -bd PATH   # beside these programs instead
//
// Figures are medians over processes started cold; cpu is user and system time of the process and
// its children. A line over its budget is marked, and the command then exits 1.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/internal/redact"
)

func main() {
	n := flag.Int("n", 10000, "memories in the large store")
	rounds := flag.Int("rounds", 15, "runs of each command")
	asJSON := flag.Bool("json", false, "print figures as JSON lines")
	for i, p := range programs {
		flag.Func(p.command, "compare with "+p.title+" at this `path` instead", programs[i].choose)
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "reverie-bench-")
	b := &bench{runner: runner{dir: dir, rounds: *rounds}, json: *asJSON, out: os.Stdout}
	b.must(err)
	if !b.beside() {
		b.run(*n)
	}
	if b.over > 0 {
		err = fmt.Errorf("%d of the budgets are exceeded", b.over)
	}
	b.must(err)
	os.RemoveAll(dir)
}

type bench struct {
	runner
	json bool
	out  io.Writer
	over int

	scaled, literal int // millisecond budgets extended for this machine, and those met literally
}

// begin builds the program, and leaves the user's settings out.
func (b *bench) begin() {
	os.Setenv("CGO_ENABLED", "0") // as in README: a program linked with C takes 2 ms more to start
	var err error
	b.bin, err = lab.Build(b.dir, "-trimpath", "-ldflags=-s -w")
	b.must(err)
	b.settle(b.bin)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(b.dir, "config"))
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("GIT_CONFIG_GLOBAL", b.write("gitconfig", "[user]\n\tname = Bench\n\temail = bench@example.org\n"))
}

func (b *bench) run(n int) {
	b.begin()
	b.write("hello.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n")
	hello := filepath.Join(b.dir, "hello")
	b.once(b.dir, nil, "go", "build", "-ldflags=-s -w", "-o", hello, "hello.go")
	b.settle(hello)
	small, large := b.store("small", 100), b.store("large", n)
	if !b.json {
		fmt.Printf("%s, %d CPUs, %d memories, %d rounds\n\n", runtime.Version(), runtime.NumCPU(), n, b.rounds)
		fmt.Printf("%-72s %12s %12s %8s  %s\n", "what", "ours", "beside it", "ratio", "budget")
	}

	size := b.size(b.bin)
	b.line("size of the stripped binary", size/1e6, "MB", "", "≤ 40 MB", size <= 40e6)
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
	after := b.repeat(func(int) lab.Cost {
		b.once(large, nil, b.bin, append([]string{"-q", "remember"}, fresh()...)...)
		return b.once(large, nil, b.bin, "-q", "recall", "widget latency in the export job").Cost
	})
	b.ratio(fmt.Sprintf("remember at %d, wall, against commit-tree+update-ref", n), keepL.wall, git.wall, 3)
	b.ratio(fmt.Sprintf("remember at %d, cpu, against the same", n), keepL.cpu, git.cpu, 3)
	b.ratio(fmt.Sprintf("remember at %d, cpu, against at 100", n), keepL.cpu, keepS.cpu, 1.5)
	b.ratio("recall right after a remember, cpu, against before", after.cpu, before.cpu, 2)
	b.search(large, n, before, after, bare)
	rebuild, cat := b.rebuild(large)
	b.ratio(fmt.Sprintf("show with the cache gone at %d, wall, against cat-file --batch", n), rebuild.wall, cat.wall, 4)
	b.within("review of 200 pending operations, wall", b.review().wall, row.Timing{}, 50*time.Millisecond)
	b.guards(hello)
	b.hooks(large, hello)
	b.redaction()
	b.commit()
	b.sync(large)
	b.ingest()
	if b.scaled > 0 && !b.json {
		fmt.Printf("\nHello takes longer here than the %s that budgets in milliseconds are for; %d of %d are kept to the letter.\n", row.Milliseconds(helloTakes), b.literal, b.scaled)
	}
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
type figure struct{ wall, cpu row.Timing }

func byTime(a, b row.Timing) int { return cmp.Compare(a.Duration, b.Duration) }

// plainCommit measures plain git's durable commit of an existing tree: two processes, commit-tree
// and update-ref.
func (b *bench) plainCommit(dir string) figure {
	tip := b.output(dir, "git", "rev-parse", "reverie/memory")
	return b.repeat(func(i int) lab.Cost {
		commit := b.once(dir, nil, "git", "-c", "core.fsync=all", "commit-tree", "-p", tip, "-m", fmt.Sprint("plain ", i), tip+"^{tree}")
		ref := b.once(dir, nil, "git", "-c", "core.fsync=all", "update-ref", "refs/bench/plain", strings.TrimSpace(commit.Out))
		return commit.Plus(ref.Cost)
	})
}

// rebuild measures a reading command without its cache, beside cat-file over the same blobs.
func (b *bench) rebuild(dir string) (ours, cat figure) {
	id := b.output(dir, b.bin, "-q", "list", "-n", "1")[:8]
	blobs := []byte(b.output(dir, "git", "ls-tree", "-r", "--format=%(objectname)", "reverie/memory", "memories/") + "\n")
	var a, c sample
	for range min(b.rounds, 7) {
		b.must(os.Remove(filepath.Join(dir, ".git/reverie/cache")))
		a = append(a, b.once(dir, nil, b.bin, "-q", "show", id).Cost)
		c = append(c, b.once(dir, blobs, "git", "cat-file", "--batch", "--buffer").Cost)
	}
	return a.median(), c.median()
}

// review measures a listing of 200 pending operations.
func (b *bench) review() figure {
	dir := b.repo("review")
	b.once(dir, statements(200), b.bin, "-q", "import", "-")
	return b.measure(dir, nil, b.bin, "-q", "review", "--json")
}

// ingest measures a transcript of 20 MB: speed, and memory at its peak beyond the start.
func (b *bench) ingest() {
	dir := b.repo("ingest")
	file := b.write("large.jsonl", string(transcript(20<<20)))
	base := peak(dir, nil, b.bin, "version")
	began := time.Now()
	rss := peak(dir, nil, b.bin, "-q", "ingest", file)
	took := time.Since(began)
	if rss == 0 {
		return
	}
	b.line("ingest of a 20 MB transcript, memory beyond the start", float64(rss-base)/1e6, "MB", "", "≤ 64 MB", rss-base <= 64e6)
	b.line("ingest of a 20 MB transcript, redaction included", 20.97/took.Seconds(), "MB/s", "", "", true)
}

// line prints a value with its budget.
func (b *bench) line(what string, ours float64, unit, beside, budget string, ok bool) {
	b.show(row.Figure{Name: what, Value: ours, Unit: unit, N: 1, Of: "run", Beside: beside, Aim: budget, Missed: !ok}, "")
}

// show prints a figure. ratio is another form of it for the table.
func (b *bench) show(f row.Figure, ratio string) {
	if f.Missed {
		b.over++
	}
	f.Set = cmp.Or(f.Set, "cost")
	if b.json {
		_ = row.Print(b.out, []row.Figure{f}, true) // a closed output ends the program later
		return
	}
	budget := f.Aim
	if f.Missed {
		budget += "  over"
	}
	if f.Behind {
		budget += "a peer is better"
	}
	fmt.Fprintf(b.out, "%-72s %12s %24s %8s  %s\n", f.Name, f.Text(), f.Beside, ratio, budget)
}

// ratio prints how many times as long ours takes, with a budget.
func (b *bench) ratio(what string, ours, beside row.Timing, budget float64) {
	f := row.Ratio("cost", what, ours, beside, "rounds")
	f.Aim, f.Missed = fmt.Sprintf("≤ %.3g×", budget), f.Value > budget
	b.show(f, "")
}

// helloTakes is hello's processor time on the reference machine of the millisecond budgets.
const helloTakes = 900 * time.Microsecond

// within prints a figure that has a budget in milliseconds, beside hello's time in the same run. If
// hello is slower than on the budget's machine, the budget grows in proportion. It also prints
// whether the literal budget is met.
func (b *bench) within(what string, ours, hello row.Timing, budget time.Duration) {
	slower := max(1, float64(hello.Duration)/float64(helloTakes))
	f := row.Time("cost", what, ours, "rounds")
	f.Aim, f.Missed = "≤ "+row.Milliseconds(budget), float64(ours.Duration) > slower*float64(budget)
	ratio := ""
	if hello.Duration > 0 {
		f.Beside = "hello " + row.Milliseconds(hello.Duration)
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
	b.show(f, ratio)
}
