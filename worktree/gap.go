package worktree

import (
	"fmt"
	"strings"
)

const (
	gapRoom = 80 // bytes for the marker of a gap
	// the longest multi-line text without blanks that a scanner takes for one secret, in bytes
	maxWraps = 64 << 10
)

// gapOf returns the marker for n dropped bytes.
func gapOf(n int) string { return fmt.Sprintf("\n[… %d bytes are left out …]\n", n) }

// gapped shortens a text to at most most bytes: a third from its beginning and the rest from its
// end. It may cut a line, so the text must already be free of secrets.
func gapped(text string, most int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/3], text[len(text)-(most-most/3-gapRoom):]
	for _, end := range []string{"\n", " "} {
		if i := strings.LastIndex(head[max(0, len(head)-maxLine):], end); i >= 0 {
			head = head[:max(0, len(head)-maxLine)+i+1]
			break
		}
	}
	for _, end := range []string{"\n", " "} {
		if i := strings.Index(tail[:min(len(tail), maxLine)], end); i >= 0 {
			tail = tail[i+1:]
			break
		}
	}
	return strings.ToValidUTF8(head, "") + gapOf(len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// torn is gapped for a text not yet searched for secrets: its head and tail, with gone bytes lost
// between them. It keeps no partial line, and no line next to the gap that may belong to a secret
// in it.
func torn(head, tail string, gone, most int) string {
	head, tail = strings.ToValidUTF8(head, "\ufffd"), strings.ToValidUTF8(tail, "\ufffd")
	size := len(head) + len(tail) + gone
	if gone == 0 && size <= most {
		return head + tail
	}
	if gone == 0 {
		head += tail
		tail = head
	}
	head = head[:strings.LastIndexByte(head[:min(len(head), most/3)], '\n')+1]
	for least := len(head) - maxWraps; head != "" && len(head) > least; {
		at := strings.LastIndexByte(head[:len(head)-1], '\n') + 1
		if !wrapped(head[at:]) {
			break
		}
		head = head[:at]
	}
	tail = LastLines(tail, most-most/3-gapRoom)
	for least, more := len(tail)-maxWraps, false; tail != "" && len(tail) > least; {
		line, rest, _ := strings.Cut(tail, "\n")
		if !goesOn(line) && !(more && len(line) < 16) { // the last line of a key is shorter
			break
		}
		tail, more = rest, wrapped(line)
	}
	return head + gapOf(size-len(head)-len(tail)) + tail
}

// goesOn reports whether a line may depend on the previous one: a key that began there, or the name
// of this line's value.
func goesOn(line string) bool {
	word := strings.TrimLeft(line, around)
	return word == "" || wrapped(line) || len(word) >= 5 && strings.EqualFold(word[:5], "value")
}

// around lists the characters that may surround a line of a key.
const around = " \t\r\n\"'`\\|>#*;,"

// wrapped reports whether a line may be one of several that form one word: of a key, or of base64.
func wrapped(line string) bool {
	line = strings.Trim(line, around)
	return (len(line) >= 16 || strings.HasSuffix(line, "=")) && !strings.ContainsFunc(line, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_=", r))
	})
}
