package compress

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A marker is a line "[… WHAT left out]".
const (
	markerHead = "[… "
	markerTail = " left out]"
	maxMarker  = 120
)

// IsMarker reports whether a line, without its end, looks like a marker of dropped text. Tool
// output may look the same, so it serves display and counting only.
func IsMarker(line string) bool {
	return len(line) <= maxMarker && strings.HasPrefix(line, markerHead) && strings.HasSuffix(line, markerTail)
}

func marker(what string) string { return markerHead + what + markerTail }

// incomplete reports whether a text looks as if a part had been dropped, here or when its
// transcript was read.
func incomplete(text string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, markerHead)
		if !found {
			return false
		}
		line, _, _ := strings.Cut(after, "\n")
		if strings.Contains(line, " left out") {
			return true
		}
		rest = after
	}
}

// gone counts the text behind a marker.
type gone struct{ lines, items, bytes int }

func (g gone) add(h gone) gone { return gone{g.lines + h.lines, g.items + h.items, g.bytes + h.bytes} }

func (g gone) marker() string {
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{g.lines, "line"}, {g.items, "item"}, {g.bytes, "byte"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.name)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.name))
		}
	}
	return marker(strings.Join(parts, " and "))
}

// leaveOut replaces a text by a marker, unless the text is as short.
func leaveOut(text *string, what string) {
	if m := marker(fmt.Sprintf("%d bytes of %s", len(*text), what)); len(m) < len(*text) && !IsMarker(*text) {
		*text = m
	}
}

// middle shortens a text to limit bytes: the first two thirds and the last third, at line ends if
// near.
func middle(text string, limit int) string {
	if len(text)-limit < minSaved+markerRoom || limit*100 >= len(text)*mostLeft {
		return text
	}
	head, tail := text[:runeStart(text, limit*2/3)], text[runeStart(text, len(text)-limit/3):]
	if at := strings.LastIndexByte(head, '\n'); at > len(head)*3/4 {
		head = head[:at]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < len(tail)/4 {
		tail = tail[at+1:]
	}
	return head + "\n" + gone{bytes: len(text) - len(head) - len(tail)}.marker() + "\n" + tail
}

// runeStart returns the position at or before at that splits no rune.
func runeStart(s string, at int) int {
	for n := 0; n < utf8.UTFMax && at > 0 && at < len(s) && !utf8.RuneStart(s[at]); n++ {
		at--
	}
	return at
}

// withoutTags removes elements that begin a line: <tag>…</tag>. Unclosed elements stay.
func withoutTags(text string, tags ...string) string {
	for _, tag := range tags {
		opened, closed := "<"+tag+">", "</"+tag+">"
		if !strings.Contains(text, opened) {
			continue
		}
		var out strings.Builder
		for rest, begins := text, true; rest != ""; {
			at := strings.Index(rest, opened)
			if at > 0 {
				begins = rest[at-1] == '\n'
			}
			if at >= 0 && !begins {
				out.WriteString(rest[:at+len(opened)])
				rest = rest[at+len(opened):]
				continue
			}
			n := -1
			if at >= 0 {
				n = strings.Index(rest[at:], closed)
			}
			if n < 0 {
				out.WriteString(rest)
				break
			}
			end := at + n + len(closed)
			if end-at <= markerRoom {
				out.WriteString(rest[:end])
				rest, begins = rest[end:], false
				continue
			}
			out.WriteString(rest[:at])
			out.WriteString(gone{bytes: end - at}.marker())
			if rest, begins = rest[end:], false; rest != "" && rest[0] != '\n' {
				out.WriteByte('\n')
				begins = true
			}
		}
		text = out.String()
	}
	return text
}
