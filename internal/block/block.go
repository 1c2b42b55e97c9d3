// Package block reads and writes the managed block: Reverie's part of a user's file, such as
// AGENTS.md, between two marker lines. The rest of the file keeps its bytes. Begin with Find, then
// Put or Cut.
package block

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Marker lines: whole lines, outside fenced code.
var (
	beginMarker = pattern.New(`^[ \t]*<!--\s*reverie:begin\b(.*?)-->[ \t]*$`)
	endMarker   = pattern.New(`^[ \t]*<!--\s*reverie:end\s*-->[ \t]*$`)
	codeFence   = pattern.New("^ {0,3}(`{3,}|~{3,})")
)

// State names the order of the markers in a file.
type State string

const (
	Absent     State = "absent"
	OK         State = "ok"
	Unclosed   State = "unclosed"   // a begin without an end
	Unopened   State = "unopened"   // an end without a begin
	Duplicated State = "duplicated" // two whole blocks
	Nested     State = "nested"     // a begin inside a block
	Reversed   State = "reversed"   // an end before the begin
	// no markers, and the text ends inside a code fence: no place for a block
	Fenced State = "fenced"
)

// Block holds the places of the markers in a text.
type Block struct {
	State      State
	Lines      []int  // of every marker, from 1; of the open fence when fenced
	From, To   int    // byte offsets of the block with its marker lines; only when OK
	attributes string // of the begin marker; only when OK
	gap        int    // line ends that Put set before the block; only when OK
	eol        string // the line end of the begin line, or else of the text's first line
	merging    bool   // git's marks of a conflict are in the text
}

// Find reads the markers of a text.
func Find(text string) Block {
	b := Block{State: Absent, eol: "\n", merging: strings.Contains(text, "<<<<<<< ") && strings.Contains(text, ">>>>>>> ")}
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
			b.Lines = append(b.Lines, n)
			if order == "b" {
				b.From, b.attributes = start, strings.TrimSpace(m[1])
				b.eol = raw[len(line):]
			}
		} else if endMarker.MatchString(line) {
			order += "e"
			b.Lines = append(b.Lines, n)
			b.To = at
		}
	}
	b.State = judge(order)
	switch {
	case b.State == OK:
		switch b.Attribute("gap") { // Put sets no other
		case "1":
			b.gap = 1
		case "2":
			b.gap = 2
		}
	case b.State == Absent && fence != "":
		b.State, b.Lines = Fenced, []int{opened}
	}
	return b
}

// Attribute returns the value of name=value in the begin line, or "".
func (b Block) Attribute(name string) string {
	for word := range strings.FieldsSeq(b.attributes) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}

// judge returns the state of markers by their order, one letter each: b begins and e ends a block.
func judge(order string) State {
	switch {
	case order == "":
		return Absent
	case order == "be":
		return OK
	case strings.Contains(order, "bb"):
		if strings.Contains(order, "e") {
			return Nested
		}
		return Unclosed
	case order == "eb":
		return Reversed
	case strings.HasPrefix(order, "e"), strings.Contains(order, "ee"):
		return Unopened
	case strings.HasSuffix(order, "b"):
		return Unclosed
	}
	return Duplicated
}

// Refuse returns the error for a file whose markers leave our part in doubt.
func (b Block) Refuse(file string) error {
	var at []string
	for _, l := range b.Lines {
		at = append(at, fmt.Sprint(l))
	}
	word := "line"
	if len(at) > 1 {
		word = "lines"
	}
	if b.State == Fenced {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s:%d: the code fence is never closed, so there is no place for the block; nothing was changed", file, b.Lines[0]), "close the fence")
	}
	next := "leave one <!-- reverie:begin --> with one <!-- reverie:end --> after it, or none at all"
	if b.merging {
		next = "git marked a conflict: resolve it with the block of either side, then: reverie render agents-md --force"
	}
	return exit.New(exit.NeedsPerson,
		fmt.Errorf("%s: the reverie markers are %s (%s %s); nothing was changed", file, b.State, word, strings.Join(at, ", ")), next)
}

// Put returns text with the block: a begin line with the attributes, the body (which ends in a
// line feed or is empty) and an end line. An absent block is appended after one blank line, and
// its begin line notes how many line ends that took, so that Cut gives the bytes back. The
// text's line ends are kept.
func (b Block) Put(text, attributes, body string) string {
	before, after := text, ""
	gap := b.gap
	if b.State == OK {
		before, after = text[:b.From], text[b.To:]
	} else if text != "" {
		for gap = 0; !strings.HasSuffix(before, b.eol+b.eol) && before != b.eol; gap++ {
			before += b.eol
		}
	}
	if gap > 0 {
		attributes += fmt.Sprintf(" gap=%d", gap)
	}
	lines := strings.ReplaceAll("<!-- reverie:begin "+attributes+" -->\n"+body+"<!-- reverie:end -->\n", "\n", b.eol)
	if b.State == OK && !strings.HasSuffix(text[:b.To], "\n") {
		lines = strings.TrimSuffix(lines, b.eol)
	}
	return before + lines + after
}

// Cut returns text without the block and, where nothing follows it, without the line ends that
// Put set before it.
func (b Block) Cut(text string) string {
	before, after := text[:b.From], text[b.To:]
	for range b.gap {
		if after == "" {
			before = strings.TrimSuffix(before, b.eol)
		}
	}
	return before + after
}

// Body returns the text between the markers, with plain line ends.
func (b Block) Body(text string) string {
	inside := strings.ReplaceAll(text[b.From:b.To], "\r\n", "\n")
	_, inside, _ = strings.Cut(inside, "\n")
	inside = strings.TrimSuffix(inside, "\n")
	if i := strings.LastIndexByte(inside, '\n'); i >= 0 {
		return inside[:i+1]
	}
	return ""
}
