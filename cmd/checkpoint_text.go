package cmd

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/reflect"
)

// maxCheckpoint is the longest text of a checkpoint, in bytes.
const maxCheckpoint = 4 << 10

// Bounds of a checkpoint.
const (
	maxCheckpointFiles = 50
	maxAskedTexts      = 5
	maxAskedBytes      = 400
	maxShownOf         = 8 // files and commands of a list in the text
	maxShownBytes      = 200
)

// checkpointText is where a session stands, as Markdown of at most maxCheckpoint bytes: what was noted by hand first,
// then what was asked last, what fails, what was decided, what changed, what passes.
func checkpointText(p reflect.Progress, note string) string {
	var b strings.Builder
	section := func(heading string, all []string, n, width int) {
		if len(all) == 0 {
			return
		}
		left := len(all) - n
		all = all[max(0, left):]
		text := "## " + heading + "\n\n"
		if left > 0 {
			text += fmt.Sprintf("- … %d before\n", left)
		}
		for _, one := range all {
			text += "- " + cut.Marked(strings.Join(strings.Fields(one), " "), width) + "\n"
		}
		if b.Len() > 0 {
			text = "\n" + text
		}
		if b.Len()+len(text) <= maxCheckpoint {
			b.WriteString(text)
		}
	}
	if note != "" {
		b.WriteString(cut.Marked(note, maxCheckpoint-1) + "\n")
	}
	section("Asked", p.Asked, maxAskedTexts, maxAskedBytes)
	section("Failing", p.Failing, maxShownOf, maxShownBytes)
	section("Said", p.Said, maxShownOf, maxShownBytes)
	section("Changed", p.Changed, maxShownOf, maxShownBytes)
	section("Passing", p.Passing, maxShownOf, maxShownBytes)
	return strings.TrimSuffix(b.String(), "\n")
}

// agentNote is a note that an agent wrote, so that who reads it later takes it for nobody else's.
func agentNote(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "## The agent's note\n\n> " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "\n> ")
}

// firstAsked is the line of a checkpoint that says most in a list: the last request, or else the first line.
func firstAsked(text string) string {
	asked := ""
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			in = line == "## Asked"
		case in && strings.HasPrefix(line, "- "):
			asked = line[2:]
		}
	}
	if asked == "" {
		asked, _, _ = strings.Cut(text, "\n")
	}
	return asked
}

func atCode(c record.Checkpoint) string {
	switch {
	case c.Commit == "":
		return ""
	case c.Branch == "":
		return ", at " + c.Commit
	}
	return ", at " + c.Commit + " on " + c.Branch
}
