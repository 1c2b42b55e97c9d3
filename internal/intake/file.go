package intake

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/foreign"
)

// Formats lists the formats that Read accepts.
var Formats = []string{"jsonl", "json", "markdown", "om"}

// maxWhole bounds an array or Markdown file, in bytes. Memory holds all of it.
const maxWhole = 64 << 20

// Read makes memories of a file's statements. format names its format; with "" the file's beginning
// decides. Errors name the first bad lines.
func Read(name, format string, r io.Reader, now time.Time) ([]record.Memory, error) {
	lines, tool, err := numbered(name, format, r)
	if err != nil {
		return nil, err
	}
	return memories(name, lines, "import/"+tool, now)
}

// numbered reads the lines of a file. tool names the program that exported it.
func numbered(name, from string, r io.Reader) (lines iter.Seq[transfer.Numbered], tool string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if from == "" {
		head, _ := in.Peek(64 << 10)
		switch text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n"); {
		case foreign.IsOM(text):
			from = "om"
		case strings.HasPrefix(text, "["):
			from = "json"
		case transfer.IsMarkdown(text), strings.HasSuffix(strings.ToLower(name), ".md"):
			from = "markdown"
		default:
			from = "jsonl"
		}
	}
	if from == "jsonl" {
		return transfer.ReadJSONL(in), "jsonl", nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxWhole+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("import %s: %w", name, file.Bare(err))
	case len(data) > maxWhole:
		return nil, "", exit.New(exit.Failed, fmt.Errorf("import %s: is longer than %d MiB", name, maxWhole>>20), "import it in parts, or as JSONL")
	case from == "om":
		found, err := foreign.OM(string(data))
		if err != nil {
			return nil, "", exit.New(exit.Failed, fmt.Errorf("import %s: %w", name, err), "nothing was imported; mend this and import again")
		}
		return func(yield func(transfer.Numbered) bool) {
			for n, item := range found.Items {
				if !yield(transfer.Numbered{N: n + 1, Line: lineOf(item)}) {
					return
				}
			}
		}, "om", nil
	case from == "markdown":
		return transfer.ReadMarkdown(string(data)), "jsonl", nil
	}
	return transfer.ReadJSON(data), "jsonl", nil
}

// maxBadLines bounds the bad lines of a file; after them reading stops.
const maxBadLines = 5

// memories makes a memory of each line.
func memories(name string, lines iter.Seq[transfer.Numbered], by string, now time.Time) ([]record.Memory, error) {
	var out []record.Memory
	var bad []error
	for l := range lines {
		var m record.Memory
		err := l.Err
		if err == nil {
			m, err = l.Memory(by, now)
		}
		if err != nil {
			if bad = append(bad, fmt.Errorf("%s:%d: %w", name, l.N, err)); len(bad) == maxBadLines {
				break
			}
			continue
		}
		out = append(out, m)
	}
	if len(bad) > 0 {
		return nil, exit.New(exit.Failed, errors.Join(bad...), "nothing was imported; mend these lines and import again, or for a file of rules: reverie import --from instructions")
	}
	return out, nil
}
