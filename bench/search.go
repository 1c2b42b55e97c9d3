package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
)

// many is the size ratio of the largest store to the large one.
const many = 10

// search measures a search by recall and by a prompt's hook, each in a new process, and the cost of
// the index.
func (b *bench) search(large string, n int, before, after, hello figure) {
	version := b.measure(large, nil, "git", "--version")
	b.within(fmt.Sprintf("recall at %d, cold process, cpu, beside hello", n), before.cpu, hello.cpu, 10*time.Millisecond)
	b.ratio("recall, wall, against git --version", before.wall, version.wall, 10)
	b.within("one memory more, cpu of the next recall, beside hello", after.cpu.Over(before.cpu), hello.cpu, 10*time.Millisecond)
	prompt := b.measure(large, nil, b.bin, "-q", "context", "--for", "prompt", "--query", "why is the latency of widget 17 high in the export job")
	b.within(fmt.Sprintf("context of a prompt at %d, cold process, cpu, beside hello", n), prompt.cpu, hello.cpu, 10*time.Millisecond)
	b.ratio("context of a prompt, wall, against git --version", prompt.wall, version.wall, 10)

	catalog := filepath.Join(large, ".git/reverie/cache")
	var cpus []time.Duration
	for range 3 {
		b.must(os.Remove(catalog))
		cpus = append(cpus, b.once(large, nil, b.bin, "-q", "recall", "widget").CPU-before.cpu.Duration)
	}
	b.within(fmt.Sprintf("the catalog made again at %d, cpu, beside hello", n), row.Median(cpus), hello.cpu, 2*time.Second)
	memories, err := lab.Lines[struct{ Text, Body string }](strings.NewReader(b.output(large, b.bin, "--json", "list")))
	b.must(err)
	text := 0
	for _, m := range memories {
		text += len(m.Text) + len(m.Body)
	}
	size := b.size(catalog)
	r := size / float64(text)
	b.line("size of the catalog, against the text of the memories", r, "×", fmt.Sprintf("%.1f MB against %.1f MB", size/1e6, float64(text)/1e6), "≤ 3×", r <= 3)

	largest := b.store("largest", many*n)
	b.once(largest, nil, b.bin, "-q", "recall", "widget")
	all := b.measure(largest, nil, b.bin, "-q", "recall", "widget latency in the export job")
	b.ratio(fmt.Sprintf("recall at %d, cpu, against at %d", many*n, n), all.cpu, before.cpu, 5)
	b.growth()
}

// growth measures the cost of the search for a program that already has the memories.
func (b *bench) growth() {
	const before = `package main

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/record"%s
)

func main() {
	record.Open(record.Stores{}, "", nil).View(context.Background(), func(v *record.View) error {
		%s
	})
}
`
	size := func(name, imports, body string) float64 {
		file := b.write(name+".go", fmt.Sprintf(before, imports, body))
		out := filepath.Join(b.dir, name)
		b.once("", nil, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, file)
		return b.size(out)
	}
	without := size("without", "", "println(len(v.Memories()))\n\t\treturn nil")
	with := size("with", "\n\t\"github.com/reverie-memory/reverie/gitstore/recall\"\n\t\"time\"", `println(len(v.Memories()))
		x, err := recall.Open("catalog").BringTo(context.Background(), v, recall.Limits{})
		if err != nil {
			return err
		}
		q, err := recall.Parse("two words")
		println(len(x.Rank(recall.Request{Text: q.Text, Keep: x.Keep(q, time.Now())})))
		found, err := recall.Ask("a prompt").Relevant(context.Background(), x, nil, nil)
		println(len(found))
		return err`)
	b.line("what search adds to the binary", (with-without)/1e6, "MB", "", "≤ 1.5 MB", with-without <= 1.5e6)
}
