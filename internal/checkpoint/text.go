package checkpoint

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/reflect"
)

// MaxText bounds the text of a checkpoint, in bytes.
const MaxText = 4 << 10

// Bounds of the parts of a checkpoint.
const (
	maxFiles      = 50
	maxAsked      = 5
	maxAskedBytes = 400
	maxLines      = 8 // of any other list
	maxLineBytes  = 200
)

// render renders a note, the progress of a session and its uncommitted files as Markdown of at most
// MaxText bytes. The note comes first, then the open points, then the rest in the order of its use.
// A section that does not fit is left out.
func render(p reflect.Progress, uncommitted []string, note string) string {
	var b strings.Builder
	section := func(heading string, all []string, n, width int) {
		if len(all) == 0 {
			return
		}
		left := len(all) - n
		all = all[max(0, left):]
		text := heading + "\n\n"
		if left > 0 {
			text += fmt.Sprintf("- … %d before\n", left)
		}
		for _, one := range all {
			text += "- " + cut.Marked(strings.Join(strings.Fields(one), " "), width) + "\n"
		}
		if b.Len() > 0 {
			text = "\n" + text
		}
		if b.Len()+len(text) <= MaxText {
			b.WriteString(text)
		}
	}
	if note = strings.TrimSpace(note); note != "" {
		b.WriteString(cut.Marked(note, MaxText-1) + "\n")
	}
	section("## To do", p.Todo, maxLines, maxLineBytes)
	section("## Failing", p.Failing, maxLines, maxLineBytes)
	section("## Not committed", uncommitted, maxLines, maxLineBytes)
	section(record.AskedHeading, p.Asked, maxAsked, maxAskedBytes)
	section("## Said", p.Said, maxLines, maxLineBytes)
	section("## Changed", p.Changed, maxLines, maxLineBytes)
	section("## Passing", p.Passing, maxLines, maxLineBytes)
	return strings.TrimSuffix(b.String(), "\n")
}

// agentNote quotes a note that an agent wrote, so that a later reader takes it for no one else's.
func agentNote(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "## The agent's note\n\n> " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "\n> ")
}
