package worktree

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPlan is the largest text of a plan, in bytes.
const MaxPlan = 128 << 10

// Plan is what a loop is to do: Markdown. Its first heading is the title; in fenced blocks marked verify stand the commands that
// show that it is done, one a line:
//
//	# Parse empty lists
//
//	`[]` is refused today.
//
//	```verify
//	go test ./parse
//	```
type Plan struct {
	Text   string
	Title  string
	Verify []string // shell commands, in the order of the text
}

// PlanError says what is wrong with a plan, and in which line, from 1.
type PlanError struct {
	Line int
	Why  string
}

func (e *PlanError) Error() string { return fmt.Sprintf("plan, line %d: %s", e.Line, e.Why) }

// ParsePlan reads a plan. Errors are a *PlanError. In a verify block, blank lines and lines that begin with # are passed over, and
// a line that ends in a backslash goes on in the next.
func ParsePlan(text string) (Plan, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	p := Plan{Text: text}
	switch {
	case len(text) > MaxPlan:
		return p, &PlanError{1 + strings.Count(text[:MaxPlan], "\n"), fmt.Sprintf("the plan is longer than %d KiB; say in it where the rest stands", MaxPlan>>10)}
	case strings.TrimSpace(text) == "":
		return p, &PlanError{1, "the plan is empty; write what is to be done, in Markdown"}
	}
	var fence, half string // the mark that closes the block; a command that goes on
	opened, verify := 0, false
	first := ""
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		if at := strings.IndexFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }); at >= 0 || !utf8.ValidString(line) {
			return p, &PlanError{n, "a control character, or bytes that are no UTF-8; a plan is plain text"}
		}
		trimmed := strings.TrimSpace(line)
		mark, info := fenceOf(trimmed)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && info == "" {
				if half != "" {
					return p, &PlanError{n - 1, "the command goes on after its backslash, and the block ends"}
				}
				fence, verify = "", false
				continue
			}
			if !verify || half == "" && (trimmed == "" || strings.HasPrefix(trimmed, "#")) {
				continue
			}
			if rest, more := strings.CutSuffix(trimmed, `\`); more {
				half += rest
				continue
			}
			p.Verify = append(p.Verify, half+trimmed)
			half = ""
		case mark != "":
			fence, opened = mark, n
			verify = len(strings.Fields(info)) > 0 && strings.Fields(info)[0] == "verify"
		case p.Title == "" && strings.HasPrefix(trimmed, "#"):
			p.Title = strings.TrimSpace(strings.TrimLeft(trimmed, "#"))
		case first == "" && trimmed != "":
			first = trimmed
		}
	}
	if fence != "" {
		return p, &PlanError{opened, "the block that begins here is not closed"}
	}
	if p.Title == "" {
		p.Title = first
	}
	if p.Title == "" {
		return p, &PlanError{1, "the plan has no title and no text; begin it with: # What is to be done"}
	}
	return p, nil
}

// fenceOf returns the mark with which a line opens or closes a fenced block, and what stands behind it.
func fenceOf(line string) (mark, info string) {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			return line[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// maxSlug is the length of a name that is made from a title, in bytes.
const maxSlug = 32

// Slug makes a name for a loop, and for a part of a branch's name, from any text: letters of ASCII and digits in lower case,
// with dashes between. It may be empty.
func Slug(title string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	if len(slug) > maxSlug {
		slug = slug[:maxSlug]
		if at := strings.LastIndexByte(slug, '-'); at > maxSlug/2 {
			slug = slug[:at]
		}
	}
	return strings.Trim(slug, "-")
}
