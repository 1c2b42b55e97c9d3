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

// cut returns s if it has at most limit bytes, else its head and tail around a line that says how
// many bytes are gone, at most limit bytes in all. It cuts between runes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const room = 48 // for the line in the middle
	if limit < 4*room {
		return trimTail(s[:limit])
	}
	keep := (limit - room) / 2
	head, tail := trimTail(s[:keep]), s[len(s)-keep:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(s)-len(head)-len(tail), tail)
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
func valid(s string, limit int) string {
	s = cut(s, limit)
	if utf8.ValidString(s) {
		return s
	}
	return cut(strings.ToValidUTF8(s, "\uFFFD"), limit)
}

// bound keeps every text of the event within its limit.
func (e *Event) bound() {
	for _, s := range []*string{&e.Text, &e.Command, &e.Old, &e.New} {
		*s = valid(*s, MaxText)
	}
	for _, s := range []*string{&e.Agent, &e.Tool, &e.CallID} {
		*s = valid(*s, maxName)
	}
	e.Dir = valid(e.Dir, maxPath)
	e.Paths = slices.DeleteFunc(e.Paths, func(p string) bool { return p == "" })
	if len(e.Paths) > maxPaths {
		e.Paths = e.Paths[:maxPaths]
	}
	for i, p := range e.Paths {
		e.Paths[i] = valid(p, maxPath)
	}
	if len(e.Paths) == 0 {
		e.Paths = nil
	}
}

// bound makes the ids safe and keeps the header's texts within their limits.
func (s *Session) bound() {
	s.ID = SafeID(s.ID)
	if s.Parent != "" {
		s.Parent = SafeID(s.Parent)
	}
	s.Client = SafeID(s.Client)
	for _, t := range []*string{&s.Version, &s.Model, &s.Branch, &s.Commit} {
		*t = valid(*t, maxName)
	}
	s.Title = valid(s.Title, maxTitle)
	s.Dir = valid(s.Dir, maxPath)
}
