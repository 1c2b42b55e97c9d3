package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// many is the size ratio of the largest store to the large one.
const many = 10

// search measures a search by recall and by a prompt's hook, each in a new process, and the cost of
// the index.
func (b *bench) search(large string, n int, before, after, hello figure) error {
	version := b.measure(large, nil, "git", "--version")
	b.within(fmt.Sprintf("recall at %d, cold process, cpu, beside hello", n), before.cpu, hello.cpu, 10*time.Millisecond)
	b.ratio("recall, wall, against git --version", before.wall, version.wall, 10)
	b.within("one memory more, cpu of the next recall, beside hello", after.cpu.over(before.cpu), hello.cpu, 10*time.Millisecond)
	prompt := b.measure(large, nil, b.bin, "-q", "context", "--for", "prompt", "--query", "why is the latency of widget 17 high in the export job")
	b.within(fmt.Sprintf("context of a prompt at %d, cold process, cpu, beside hello", n), prompt.cpu, hello.cpu, 10*time.Millisecond)
	b.ratio("context of a prompt, wall, against git --version", prompt.wall, version.wall, 10)

	catalog := filepath.Join(large, ".git/reverie/cache")
	var cpus []time.Duration
	for range 3 {
		if err := os.Remove(catalog); err != nil {
			return err
		}
		cpus = append(cpus, once(large, nil, b.bin, "-q", "recall", "widget").cpu.Duration-before.cpu.Duration)
	}
	b.within(fmt.Sprintf("the catalog made again at %d, cpu, beside hello", n), median(cpus), hello.cpu, 2*time.Second)
	text := 0
	for line := range strings.Lines(output(large, b.bin, "--json", "list")) {
		text += len(field(line, "text")) + len(field(line, "body"))
	}
	info, err := os.Stat(catalog)
	if err != nil {
		return err
	}
	r := float64(info.Size()) / float64(text)
	b.line("size of the catalog, against the text of the memories", r, "×", fmt.Sprintf("%.1f MB against %.1f MB", float64(info.Size())/1e6, float64(text)/1e6), "≤ 3×", r <= 3)

	largest, err := b.store("largest", many*n)
	if err != nil {
		return err
	}
	once(largest, nil, b.bin, "-q", "recall", "widget")
	all := b.measure(largest, nil, b.bin, "-q", "recall", "widget latency in the export job")
	b.ratio(fmt.Sprintf("recall at %d, cpu, against at %d", many*n, n), all.cpu, before.cpu, 5)
	return b.growth()
}

// growth measures the cost of the search for a program that already has the memories.
func (b *bench) growth() error {
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
	size := func(name, imports, body string) (int64, error) {
		file, out := filepath.Join(b.dir, name+".go"), filepath.Join(b.dir, name)
		if err := os.WriteFile(file, fmt.Appendf(nil, before, imports, body), 0o644); err != nil {
			return 0, err
		}
		if err := sh("", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, file); err != nil {
			return 0, err
		}
		info, err := os.Stat(out)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	without, err := size("without", "", "println(len(v.Memories()))\n\t\treturn nil")
	if err != nil {
		return err
	}
	with, err := size("with", "\n\t\"github.com/reverie-memory/reverie/gitstore/recall\"\n\t\"time\"", `println(len(v.Memories()))
		x, err := recall.Open("catalog").BringTo(context.Background(), v, recall.Limits{})
		if err != nil {
			return err
		}
		q, err := recall.Parse("two words")
		println(len(x.Rank(recall.Request{Text: q.Text, Keep: x.Keep(q, time.Now())})))
		found, err := recall.Ask("a prompt").Relevant(context.Background(), x, nil, nil)
		println(len(found))
		return err`)
	if err != nil {
		return err
	}
	b.line("what search adds to the binary", float64(with-without)/1e6, "MB", "", "≤ 1.5 MB", with-without <= 1.5e6)
	return nil
}

// field returns the raw value of a field in a line of JSON.
func field(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return rest[:i]
		}
	}
	return ""
}
