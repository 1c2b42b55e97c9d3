package cmd

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// What an agent is given is one element, so that it can be told from what its user says, and cut out of the transcript
// that it comes back in. The text is a function of what is packed: no clock, no chance.

// memoryElement is the name of the element. Its beginning is what reflect/transcript looks for.
const memoryElement = "reverie-memory"

// maxInjected is the longest text that is given at once, in bytes: one client cuts at 10,000 characters, one at 10,000
// bytes or so.
const maxInjected = 9000

// tokens estimates how many tokens a text takes: one for each four bytes of ASCII, rounded up, and one for every other
// character.
func tokens(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}

// framed reports whether a text that was kept is nothing, or still one element that nothing inside it ends and that hides nothing.
func framed(text string) bool {
	if text == "" {
		return true
	}
	open, rest, ok := strings.Cut(text, ">\n")
	inner, closed := strings.CutSuffix(rest, "</"+memoryElement+">\n")
	for line := range strings.Lines(inner) { // as it was made harmless: line by line
		ok = ok && untag(line) == line && revealed(visible(line)) == line
	}
	return ok && closed && strings.HasPrefix(open, "<"+memoryElement+" ") && untag(open[1:]) == open[1:] && len(text) <= maxInjected
}

// parcel is what becomes one element.
type parcel struct {
	attributes string   // of the opening tag
	intro      string   // says what it is
	lines      []string // the most valuable first; none has a line feed at its end
	left       int      // how many more lines there would be
	tail       string   // follows the lines; may be empty
	more       string   // follows the number of lines that did not fit
	budget     int      // tokens of the whole
}

// pack is the element with as many lines as fit: one that does not makes room for shorter ones behind it. Where none
// does and there is no tail, it is nothing. taken says for each line whether it is in.
func (p parcel) pack() (text string, taken []bool) {
	open := "<" + memoryElement + " " + p.attributes + ">\n" + p.intro + "\n"
	end := "</" + memoryElement + ">\n"
	if p.tail != "" {
		end = "\n" + p.tail + "\n" + end
	}
	more := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%d more%s\n", n, p.more)
	}
	var b strings.Builder
	b.WriteString(open)
	frame := open + end + more(p.left+len(p.lines))
	bytes, left := maxInjected-len(frame), p.budget-tokens(frame)
	taken = make([]bool, len(p.lines))
	cut := p.left
	for i, line := range p.lines {
		line += "\n"
		n := tokens(line)
		if n > left || len(line) > bytes {
			cut++
			continue
		}
		left, bytes = left-n, bytes-len(line)
		taken[i] = true
		b.WriteString(line)
	}
	if !slices.Contains(taken, true) && p.tail == "" {
		return "", taken
	}
	b.WriteString(more(cut))
	b.WriteString(end)
	return b.String(), taken
}
