package worktree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/redact"
)

// MaxPlan bounds the text of a plan, in bytes.
const MaxPlan = 128 << 10

// Plan is the task of a loop, in Markdown. Its first heading is the title. Fenced blocks marked
// verify hold the commands that check the result, one per line:
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
	Lines  []int    // the first line of each of them, from 1
}

// PlanError describes a fault of a plan, with its line from 1. It wraps ErrRefused for a secret.
type PlanError struct {
	Line int
	Rule string // empty, size, text, fence, command, title, verify, tab or secret
	Why  string
}

func (e *PlanError) Error() string { return fmt.Sprintf("plan, line %d: %s", e.Line, e.Why) }

func (e *PlanError) Unwrap() error {
	if e.Rule == "secret" {
		return ErrRefused
	}
	return nil
}

// parsePlan parses a plan. Errors are a *PlanError. A verify block skips blank lines and lines that
// begin with #; a line that ends in a backslash continues on the next.
func parsePlan(text string) (Plan, error) {
	r := readPlan(text)
	if len(r.wrong) > 0 {
		return r.Plan, r.wrong[0]
	}
	return r.Plan, nil
}

// planReading is a plan with the remarks about it, in the order of its lines.
type planReading struct {
	Plan
	wrong    []*PlanError // it cannot be carried out
	doubtful []*PlanError // it may not mean what it says
	shell    int          // the line of the first block marked as a shell's, from 1, or 0
	mark     string       // of that block
}

func (r *planReading) fault(line int, rule, format string, args ...any) {
	r.wrong = append(r.wrong, &PlanError{line, rule, fmt.Sprintf(format, args...)})
}

func (r *planReading) doubt(line int, rule, format string, args ...any) {
	r.doubtful = append(r.doubtful, &PlanError{line, rule, fmt.Sprintf(format, args...)})
}

func readPlan(text string) *planReading {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	r := &planReading{Plan: Plan{Text: text}}
	switch {
	case len(text) > MaxPlan:
		r.fault(1+strings.Count(text[:MaxPlan], "\n"), "size", "the plan is longer than %d KiB; say in it where the rest stands", MaxPlan>>10)
		return r
	case strings.TrimSpace(text) == "":
		r.fault(1, "empty", "the plan is empty; write what is to be done, in Markdown")
		return r
	}
	var block *planBlock // that is open
	first := ""
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		if at := strings.IndexFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }); at >= 0 || !utf8.ValidString(line) {
			r.fault(n, "text", "a control character, or bytes that are no UTF-8; a plan is plain text")
			continue
		}
		trimmed := strings.TrimSpace(line)
		mark, info := fenceOf(trimmed)
		switch {
		case block != nil && strings.HasPrefix(mark, block.fence) && info == "":
			r.closeBlock(block, n)
			block = nil
		case block != nil:
			if mark != "" && isVerify(info) {
				r.doubt(n, "fence", "the block of line %d goes on here: this does not begin another", block.line)
			}
			if block.verify {
				r.command(block, n, trimmed)
			}
		case mark != "":
			block = r.openBlock(n, mark, info)
		case r.Title == "" && strings.HasPrefix(trimmed, "#"):
			r.Title = strings.TrimSpace(strings.TrimLeft(trimmed, "#"))
		case strings.Contains(trimmed, "```verify"), strings.Contains(trimmed, "~~~verify"):
			r.doubt(n, "fence", "no block begins here: its mark has to stand at the beginning of a line")
		case first == "" && trimmed != "":
			first = trimmed
		}
	}
	if block != nil {
		r.fault(block.line, "fence", "the block that begins here is not closed")
	}
	r.Title = cmp.Or(r.Title, first)
	if r.Title == "" {
		r.fault(1, "title", "the plan has no title and no text; begin it with: # What is to be done")
	}
	return r
}

// planBlock is a fenced block of a plan.
type planBlock struct {
	fence  string // the mark that closes it
	line   int    // of its beginning
	verify bool   // it holds commands
	before int    // the number of commands before it
	half   string // an unfinished command
	began  int    // the line of that
}

func (r *planReading) openBlock(n int, mark, info string) *planBlock {
	if r.shell == 0 && isShell(info) {
		r.shell, r.mark = n, info
	}
	b := &planBlock{fence: mark, line: n, verify: isVerify(info), before: len(r.Verify)}
	if !b.verify && slices.Contains(strings.FieldsFunc(strings.ToLower(info), notLetter), "verify") {
		r.doubt(n, "verify", "the block that begins here is not run: what marks it is the word verify alone, and first")
	}
	return b
}

// command reads a line of a block of commands.
func (r *planReading) command(b *planBlock, n int, line string) {
	if b.half == "" {
		if line == "" || strings.HasPrefix(line, "#") {
			return
		}
		b.began = n
	}
	if strings.Contains(line, "\t") {
		r.doubt(n, "tab", "there is a tab in the command")
	}
	if rest, more := strings.CutSuffix(line, `\`); more {
		b.half += rest
		return
	}
	r.Verify, r.Lines = append(r.Verify, b.half+line), append(r.Lines, b.began)
	b.half = ""
}

func (r *planReading) closeBlock(b *planBlock, n int) {
	switch {
	case b.half != "":
		r.fault(n-1, "command", "the command goes on after its backslash, and the block ends")
	case b.verify && len(r.Verify) == b.before:
		r.doubt(b.line, "verify", "there is no command in the block that begins here")
	}
}

func isVerify(info string) bool {
	words := strings.Fields(info)
	return len(words) > 0 && words[0] == "verify"
}

// isShell reports whether a block is marked as shell commands.
func isShell(info string) bool {
	words := strings.Fields(strings.ToLower(info))
	return len(words) > 0 && slices.Contains([]string{"sh", "bash", "shell", "zsh", "console", "shell-session"}, words[0])
}

func notLetter(c rune) bool { return !unicode.IsLetter(c) }

// fenceOf returns the mark by which a line opens or closes a fenced block, and the text after it.
func fenceOf(line string) (mark, info string) {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			return line[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// maxSlug bounds a name made from a title, in bytes.
const maxSlug = 32

// Slug makes a name for a loop, and for a part of a branch's name, from any text: lower-case ASCII
// letters and digits, with dashes between. It may be empty.
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

// LintPlan reads a plan. It returns the faults that prevent a loop and the passages that may not
// mean what they say, each in line order. A plan needs commands unless audited says that the loop
// has an auditor. LintPlan looks at the text alone.
func LintPlan(text string, audited bool, scanner *redact.Scanner) (p Plan, wrong, doubtful []*PlanError) {
	r := readPlan(text)
	readable := !slices.ContainsFunc(r.wrong, func(e *PlanError) bool { return e.Rule == "size" || e.Rule == "empty" })
	line, block := 1, ""
	if r.shell > 0 {
		line, block = r.shell, fmt.Sprintf("; if they are those of the block that begins here, mark it verify and not %s", r.mark)
	}
	switch {
	case len(r.wrong) > 0 || len(r.Verify) > 0: // unreadable parts may hold them
	case audited:
		r.doubt(line, "verify", "the plan has no commands that show that it is done: nothing but audits will%s", block)
	default:
		r.fault(line, "verify", "the plan has no commands, and there is no audit: nothing would say when it is done%s", block)
	}
	if readable {
		for _, line := range secretLines(r.Text, scanner) {
			r.fault(line, "secret", "it holds what looks like a secret; take it out: the record of a loop is kept")
		}
	}
	for _, all := range [][]*PlanError{r.wrong, r.doubtful} {
		slices.SortStableFunc(all, func(a, b *PlanError) int { return cmp.Compare(a.Line, b.Line) })
	}
	return r.Plan, r.wrong, r.doubtful
}

// secretLines returns the lines of a text, from 1, that hold secrets; for a multi-line secret only
// the first.
func secretLines(text string, scanner *redact.Scanner) []int {
	clean, found := scanner.Text(text)
	if found.Found == 0 {
		return nil
	}
	before, after := strings.Split(text, "\n"), strings.Split(clean.String(), "\n")
	var lines []int
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			if lines = append(lines, i+1); len(before) != len(after) {
				break // one that takes several lines
			}
		}
	}
	return lines
}
