package transcript

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the small texts of events and headers, in bytes, and of Paths, in entries.
const (
	maxName  = 256
	maxTitle = 1024
	maxPath  = 4096
	maxPaths = 1000
)

// Parts of a far too long text that a cutter examines, in bytes.
const (
	maxLooked = 1 << 20  // at most so much of it, half from each end
	maxTorn   = 64 << 10 // of that, next to the middle: where no line ends there, so much goes too
)

// cutter cuts texts that are too long. It takes the secrets out first: half of one is not known for
// what it is. nil knows of none.
type cutter func(text string) string

// cut returns s if it has at most limit bytes, else its head and tail around a line that says how
// many bytes are gone, at most limit bytes in all. It cuts between runes.
func (c cutter) cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := c.clean(s)
	const room = 48 // for the line in the middle
	if limit < 4*room {
		return trimTail(head[:min(len(head), limit)])
	}
	keep := (limit - room) / 2
	if tail == "" && len(head) <= limit { // it was long for its secrets
		return head
	}
	if tail == "" {
		head, tail = head[:keep], head[keep:]
	}
	head, tail = trimTail(head[:min(len(head), keep)]), tail[len(tail)-min(len(tail), keep):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, max(0, len(s)-len(head)-len(tail)), tail)
}

// clean takes the secrets out of a text; of one far too long, out of its head and its tail, without
// the lines that were torn between them.
func (c cutter) clean(s string) (head, tail string) {
	if c == nil {
		return s, ""
	}
	if len(s) <= maxLooked {
		return c(s), ""
	}
	head, tail = s[:maxLooked/2], s[len(s)-maxLooked/2:]
	return c(withoutLast(head)), c(withoutFirst(tail))
}

// withoutLast is s without its last line, which may have been torn.
func withoutLast(s string) string {
	least := max(0, len(s)-maxTorn)
	return trimTail(s[:least+strings.LastIndexByte(s[least:], '\n')+1])
}

// withoutFirst is s without its first line, which may have been torn.
func withoutFirst(s string) string {
	if end := strings.IndexByte(s[:min(len(s), maxTorn)], '\n'); end >= 0 {
		return s[end+1:]
	}
	return s[min(len(s), maxTorn):]
}

// trimTail removes a rune that was cut in two from the end of s.
func trimTail(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// valid is cut for text that may hold wrong UTF-8.
func (c cutter) valid(s string, limit int) string {
	s = c.cut(s, limit)
	if utf8.ValidString(s) {
		return s
	}
	return cutter(nil).cut(strings.ToValidUTF8(s, "\uFFFD"), limit)
}

// bound keeps every text of the event within its limit.
func (c cutter) bound(e *Event) {
	for _, s := range []*string{&e.Text, &e.Command, &e.Old, &e.New} {
		*s = c.valid(*s, MaxText)
	}
	for _, s := range []*string{&e.Agent, &e.Tool, &e.CallID} {
		*s = c.valid(*s, maxName)
	}
	e.Dir = c.valid(e.Dir, maxPath)
	e.Paths = slices.DeleteFunc(e.Paths, func(p string) bool { return p == "" })
	if len(e.Paths) > maxPaths {
		e.Paths = e.Paths[:maxPaths]
	}
	for i, p := range e.Paths {
		e.Paths[i] = c.valid(p, maxPath)
	}
	if len(e.Paths) == 0 {
		e.Paths = nil
	}
}

// boundSession makes the ids safe, after secrets went out of them, and keeps the header's texts
// within their limits.
func (c cutter) boundSession(s *Session) {
	s.ID = c.safeID(s.ID)
	if s.Parent != "" {
		s.Parent = c.safeID(s.Parent)
	}
	s.Client = c.safeID(s.Client)
	for _, t := range []*string{&s.Version, &s.Model, &s.Branch, &s.Commit} {
		*t = c.valid(*t, maxName)
	}
	s.Title = c.valid(s.Title, maxTitle)
	s.Dir = c.valid(s.Dir, maxPath)
}

// safeID is SafeID of an id without its secrets, which are not known for what they are once the id
// is safe.
func (c cutter) safeID(id string) string {
	id, _ = c.clean(id)
	return SafeID(id)
}
