package guard

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// The forms of statements that name a call, each with the call in its first group. A call is code
// in backticks, or one word.
var (
	refusedCommand = pattern.New(`(?i)\b(?:never|do not|don't|must not|mustn't|not to|avoid)\s+(?:ever\s+)?(?:run|running|use|using|execute|invoke)\s+` + calls)
	refusedTool    = pattern.New(`(?i)\b(?:never|and not|not|instead of|rather than)\s+` + calls)
	refusedFile    = pattern.New("(?i)\\b(?:never|do not|don't|must not|mustn't|not to)\\s+(?:ever\\s+)?(?:hand-?)?(?:edit|touch|modify|change|write to)\\s+(?:(?:the|any|files?|anything|in|under|of)\\s+)*(`[^`\n]+`|[\\w.*-]*[/*][\\w./*-]*)")
	beforeCommand  = pattern.New("(?i)\\bbefore\\s+(?:you\\s+)?(?:(?:run|running|each|every|any)\\s+)?(`[^`\n]+`|committing|commit\\b|pushing|push\\b)")
)

const calls = "(`[^`\n]+`|[a-z][\\w.+-]*)((?:,| or| and| nor)+\\s+(?:`[^`\n]+`|[a-z][\\w.+-]*))*"

// gerund returns the command that a word stands for.
func gerund(word string) (command string, ok bool) {
	switch strings.ToLower(word) {
	case "committing", "commit":
		return "git commit", true
	case "pushing", "push":
		return "git push", true
	}
	return "", false
}

// ends matches the text after a tool that is refused as such. "Never use docker compose" and "don't
// run pytest with -n" are about some uses of one.
var ends = pattern.New(`(?i)^["'*_]*(?:\s*$|\s*[.,;:!?()–—]|\s+-\s|\s+(?:in|inside|outside|under|from|for|to|here|there|on|at|or|and|but|except|unless|if|because|since|when|before|after|until|directly|anymore|again|any|ever|even|instead|please)\b)`)

// constructs are words of programming languages, which statements put into backticks like commands.
var constructs = pattern.NewWords(`any as assert async await break case class const continue default defer else enum eval except false fetch
	for func function global goto if import interface lambda let new nil none null object panic print private public return select self
	static struct super switch this throw true try type undefined unsafe unwrap var void while with yield`)

// maxProposed bounds the patterns that a statement gives.
const maxProposed = 4

// Propose returns the calls that a statement is about by its form: the tool that "use pnpm, never
// npm" refuses, the folder of "never edit generated/", the command of "before committing, run make
// lint". A word without backticks counts only if it names a tool that has rivals.
func Propose(statement string) (all []string) {
	add := func(p Pattern, err error) {
		if err == nil && len(all) < maxProposed {
			all = append(all, p.String())
		}
	}
	commands := func(form *pattern.Pattern, sure func(word string) bool) {
		for _, at := range form.FindAllStringSubmatchIndex(statement, -1) {
			to := len(strings.TrimRight(statement[:at[1]], ".,;:!?"))
			parts := listed(statement[at[2]:to])
			for i, call := range parts {
				whole := i < len(parts)-1 || ends.MatchString(statement[to:])
				if command, ok := commandOf(call, func(word string) bool { return whole && sure(word) }); ok {
					add(Parse(hooks.Bash + "(" + command + " *)"))
				}
			}
		}
	}
	if commands(refusedCommand, isTool); len(all) == 0 {
		commands(refusedTool, func(word string) bool { return isTool(word) && hasRival(statement, word) })
	}
	if m := refusedFile.FindStringSubmatch(statement); m != nil {
		file := strings.Trim(m[1], "`.,;:")
		sure := m[1][0] == '`' || strings.HasSuffix(file, "/") // "and/or" is no file
		if (strings.ContainsAny(file, "*.") || sure && strings.Contains(file, "/")) && !strings.ContainsAny(file, " ()") {
			add(Parse(hooks.Edit + "(" + file + ")"))
		}
	}
	if m := beforeCommand.FindStringSubmatch(statement); m != nil {
		command, ok := gerund(m[1])
		if !ok {
			command, ok = commandOf(m[1], isTool)
		}
		if ok {
			add(Parse(hooks.Bash + "(" + command + " *)"))
		}
	}
	return all
}

var separators = pattern.New(`,\s*(?:or|and|nor)?\s+|\s+(?:or|and|nor)\s+`)

// listed returns the parts of "npm, yarn or bun".
func listed(text string) []string { return separators.Split(text, -1) }

var programName = pattern.New(`^[a-z0-9][a-z0-9._+-]*$`)

// commandOf returns the words of a call, if it surely is a command. sure decides about a word
// without backticks.
func commandOf(call string, sure func(word string) bool) (words string, ok bool) {
	if inner := strings.Trim(call, "`"); inner != call {
		fields := strings.Fields(inner)
		if len(fields) == 0 || !programName.MatchString(fields[0]) {
			return "", false
		}
		return strings.Join(fields, " "), !constructs.Has(fields[0]) && (len(fields) > 1 || !strings.ContainsAny(inner, "._"))
	}
	return call, sure(call)
}

// isTool reports whether a word names a program that has rivals.
func isTool(word string) bool { return wording.Tool(word) != "" && wording.Tool(word) != "indentation" }

// hasRival reports whether a statement names another tool for the job of one. "Never make" is no
// tool; "use task, never make" has one.
func hasRival(statement, tool string) bool {
	return slices.ContainsFunc(strings.Fields(statement), func(w string) bool {
		w = strings.Trim(w, "`.,;:!?()")
		return !strings.EqualFold(w, tool) && wording.Tool(w) == wording.Tool(tool)
	})
}
