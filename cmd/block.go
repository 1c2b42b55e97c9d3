package cmd

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// The managed block is our part of a file that belongs to the user, such as AGENTS.md. It
// stands between two marker lines; everything else keeps its bytes.

// Marker lines: whole lines, outside fenced code.
var (
	beginMarker = pattern.New(`^[ \t]*<!--\s*reverie:begin\b(.*?)-->[ \t]*$`)
	endMarker   = pattern.New(`^[ \t]*<!--\s*reverie:end\s*-->[ \t]*$`)
	codeFence   = pattern.New("^ {0,3}(`{3,}|~{3,})")
)

// blockState says how the markers of a file stand to each other.
type blockState string

const (
	blockAbsent     blockState = "absent"
	blockOK         blockState = "ok"
	blockUnclosed   blockState = "unclosed"   // a begin without an end
	blockUnopened   blockState = "unopened"   // an end without a begin
	blockDuplicated blockState = "duplicated" // two whole blocks
	blockNested     blockState = "nested"     // a begin inside a block
	blockReversed   blockState = "reversed"   // an end before the begin
	blockFenced     blockState = "fenced"     // no markers, and the text ends inside a code fence: no place for a block
)

// block is where the markers of a text are.
type block struct {
	state      blockState
	lines      []int  // of every marker, from 1; of the open fence when fenced
	from, to   int    // byte offsets of the block with its marker lines; only when ok
	attributes string // of the begin marker; only when ok
	gap        int    // line ends that put set before the block; only when ok
	eol        string // the line end of the begin line, or else of the text's first line
}

// findBlock reads the markers of a text.
func findBlock(text string) block {
	b := block{state: blockAbsent, eol: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		b.eol = "\r\n"
	}
	var order string // one letter a marker: b or e
	fence, opened := "", 0
	at, n := 0, 0
	for raw := range strings.Lines(text) {
		n++
		start := at
		at += len(raw)
		line := strings.TrimRight(raw, "\r\n")
		if m := codeFence.FindStringSubmatch(line); m != nil {
			switch {
			case fence == "":
				fence, opened = m[1], n
			case m[1][0] == fence[0] && len(m[1]) >= len(fence) && strings.TrimSpace(line) == m[1]:
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if m := beginMarker.FindStringSubmatch(line); m != nil {
			order += "b"
			b.lines = append(b.lines, n)
			if order == "b" {
				b.from, b.attributes = start, strings.TrimSpace(m[1])
				b.eol = raw[len(line):]
			}
		} else if endMarker.MatchString(line) {
			order += "e"
			b.lines = append(b.lines, n)
			b.to = at
		}
	}
	b.state = judge(order)
	switch {
	case b.state == blockOK:
		switch b.attribute("gap") { // put sets no other
		case "1":
			b.gap = 1
		case "2":
			b.gap = 2
		}
	case b.state == blockAbsent && fence != "":
		b.state, b.lines = blockFenced, []int{opened}
	}
	return b
}

// attribute is the value of name=value in the begin line, or "".
func (b block) attribute(name string) string {
	for word := range strings.FieldsSeq(b.attributes) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// judge names the state of markers by their order, one letter each: b begins and e ends a block.
func judge(order string) blockState {
	switch {
	case order == "":
		return blockAbsent
	case order == "be":
		return blockOK
	case strings.Contains(order, "bb"):
		if strings.Contains(order, "e") {
			return blockNested
		}
		return blockUnclosed
	case order == "eb":
		return blockReversed
	case strings.HasPrefix(order, "e"), strings.Contains(order, "ee"):
		return blockUnopened
	case strings.HasSuffix(order, "b"):
		return blockUnclosed
	}
	return blockDuplicated
}

// refuse is the error for a file whose markers leave in doubt what is ours.
func (b block) refuse(file string) error {
	var at []string
	for _, l := range b.lines {
		at = append(at, fmt.Sprint(l))
	}
	word := "line"
	if len(at) > 1 {
		word = "lines"
	}
	if b.state == blockFenced {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s:%d: the code fence is never closed, so there is no place for the block; nothing was changed", file, b.lines[0]), "close the fence")
	}
	return exit.New(exit.NeedsPerson,
		fmt.Errorf("%s: the reverie markers are %s (%s %s); nothing was changed", file, b.state, word, strings.Join(at, ", ")),
		"leave one <!-- reverie:begin --> with one <!-- reverie:end --> after it, or none at all")
}

// put returns text with the block: a begin line with the attributes, the body (which ends in a
// line feed or is empty) and an end line. An absent block is appended after one blank line, and
// its begin line notes how many line ends that took, so that cut gives the bytes back. The
// text's line ends are kept.
func (b block) put(text, attributes, body string) string {
	before, after := text, ""
	gap := b.gap
	if b.state == blockOK {
		before, after = text[:b.from], text[b.to:]
	} else if text != "" {
		for gap = 0; !strings.HasSuffix(before, b.eol+b.eol) && before != b.eol; gap++ {
			before += b.eol
		}
	}
	if gap > 0 {
		attributes += fmt.Sprintf(" gap=%d", gap)
	}
	lines := strings.ReplaceAll("<!-- reverie:begin "+attributes+" -->\n"+body+"<!-- reverie:end -->\n", "\n", b.eol)
	if b.state == blockOK && !strings.HasSuffix(text[:b.to], "\n") {
		lines = strings.TrimSuffix(lines, b.eol)
	}
	return before + lines + after
}

// cut returns text without the block and, where nothing follows it, without the line ends that
// put set before it.
func (b block) cut(text string) string {
	before, after := text[:b.from], text[b.to:]
	for range b.gap {
		if after == "" {
			before = strings.TrimSuffix(before, b.eol)
		}
	}
	return before + after
}

// body is what stands between the markers, with plain line ends.
func (b block) body(text string) string {
	inside := strings.ReplaceAll(text[b.from:b.to], "\r\n", "\n")
	_, inside, _ = strings.Cut(inside, "\n")
	inside = strings.TrimSuffix(inside, "\n")
	if i := strings.LastIndexByte(inside, '\n'); i >= 0 {
		return inside[:i+1]
	}
	return ""
}
