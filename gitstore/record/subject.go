package record

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// subjectWidth bounds a statement in a commit subject, in columns.
const subjectWidth = 72

// CommitSubject shortens a statement to fit a commit subject. It removes the full stop and writes
// the first word small unless that word has more capitals or digits.
func CommitSubject(s string) string {
	s = strings.TrimRight(s, ".。")
	first, size := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if !strings.ContainsFunc(word[min(size, len(word)):], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) {
		s = string(unicode.ToLower(first)) + s[size:]
	}
	return displaywidth.TruncateString(s, subjectWidth, "…")
}

// Verb returns the word for the operation's effect in a commit subject.
func (o Operation) Verb() string {
	switch {
	case o.Op == Skill:
		return "skill"
	case o.Op == Retire:
		return "forget"
	case o.Op == Edit:
		return "edit"
	case o.Op == Merge:
		return "merge"
	case len(o.Memory.Supersedes) > 0:
		return "correct"
	}
	return "remember"
}

// Subject returns the memory's topic, or its kind if it has none.
func (m Memory) Subject() string {
	if m.Topic != "" {
		return m.Topic
	}
	return string(m.Kind)
}

// Imported reports whether the memory came in by import.
func (m Memory) Imported() bool { return strings.HasPrefix(m.Source.By, "import/") }
