// Package verify runs the commands that check a plan's result (Run), and parses their stored output
// (Read).
package verify

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/worktree"
)

// Run runs all commands of a plan, each in a shell by run, which ends it after limit seconds. The
// outcome reports whether all passed, or else the first failed one; its Output is the input of
// Read. live receives the same text. An error of run ends it, and is returned with the output so
// far.
func Run(lines []string, limit float64, live io.Writer, run func(argv []string) (worktree.Result, error)) (out worktree.Outcome, err error) {
	var b strings.Builder
	out.Passed = true
	both := io.MultiWriter(&b, live)
	for _, line := range lines {
		fmt.Fprintf(both, "$ %s\n", line)
		r, err := run([]string{"sh", "-c", line})
		b.WriteString(printedBy(r.Output))
		if r.Output != "" && !strings.HasSuffix(r.Output, "\n") {
			fmt.Fprintln(live)
		}
		switch {
		case err != nil:
			out.Output = b.String()
			return out, err
		case r.TimedOut:
			fmt.Fprintf(both, "[ended after %.0f seconds]\n", limit)
			r.Code = -1
		default:
			fmt.Fprintf(both, "[exit code %d]\n", r.Code)
		}
		if r.Code != 0 && out.Passed {
			out.Passed, out.Failing = false, &worktree.Failing{Command: line, Exit: r.Code}
		}
	}
	out.Output = b.String()
	return out, nil
}

// Ran is one command of a plan as it ran. If Exit is nil and Ended false, its end is unknown.
type Ran struct {
	Line, Output string
	Exit         *int // its exit code
	Ended        bool // it took too long and was ended
}

// Read parses the text of Run: each command after a dollar sign, its output, and its end. No output
// line looks like one of these, see printedBy. If the text was cut before a command's end, that end
// is unknown.
func Read(text string) []Ran {
	var all []Ran
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		command, begins := strings.CutPrefix(bare, "$ ")
		switch {
		case begins:
			all = append(all, Ran{Line: command})
			continue
		case len(all) == 0:
			continue
		}
		c := &all[len(all)-1]
		code, ended := strings.CutPrefix(bare, "[exit code ")
		n, err := strconv.Atoi(strings.TrimSuffix(code, "]"))
		switch {
		case ended && err == nil:
			c.Exit = &n
		case strings.HasPrefix(bare, "[ended after "):
			c.Ended = true
		default:
			c.Output += line
		}
	}
	return all
}

// printedBy returns a command's output, changed so that no line of it looks like a command or its
// end.
func printedBy(output string) string {
	if output == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "[exit code ") || strings.HasPrefix(line, "[ended after ") {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	if !strings.HasSuffix(output, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}
