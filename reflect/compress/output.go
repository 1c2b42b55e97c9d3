package compress

import (
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Output shortens a tool's output. tool and command may be empty; with the text itself they decide
// the kind of output. cut reports whether anything was dropped; otherwise short is the text.
func Output(action transcript.Action, tool, command, text string) (short string, cut bool) {
	short = shortenBy(text, func(text string) *rule { return ruleOf(action, tool, command, text) })
	return short, short != text
}

// ruleOf finds the rule for an output. The form of the text decides if the tool says little.
func ruleOf(action transcript.Action, tool, command, text string) *rule {
	if looksLikeDiff(text) && action != transcript.Read {
		return diff
	}
	switch action {
	case transcript.Read:
		return source
	case transcript.Search:
		if lists.Has(toolName(tool)) || looksLikeNames(text) {
			return list
		}
		return search
	case transcript.Task:
		return task
	case transcript.Fetch:
		return task
	case transcript.Run:
		switch word, rest := program(command); {
		case reads.Has(word):
			return source
		case finds.Has(word) || word == "git" && strings.HasPrefix(rest, "grep"):
			if looksLikeNames(text) {
				return list
			}
			return search
		case lists.Has(word) || word == "git" && strings.HasPrefix(rest, "ls-files"):
			return list
		}
		if looksLikeLog(text) {
			return records
		}
		return run
	}
	switch {
	case toolName(tool) == "skill":
		return skill
	case looksLikeLog(text):
		return records
	}
	return generic
}

var (
	reads = pattern.NewWords("cat bat head sed nl less more")
	finds = pattern.NewWords("grep egrep fgrep rg ag ack")
	lists = pattern.NewWords("ls find fd tree dir glob list listdir listdirectory du")
)

// program returns the program that a command line starts, and its arguments, if it is a single
// program. It ignores a change of folder before it.
func program(command string) (word, rest string) {
	command = strings.TrimSpace(command)
	if strings.HasPrefix(command, "cd ") {
		if _, after, found := strings.Cut(command, "&&"); found {
			command = strings.TrimSpace(after)
		}
	}
	if strings.ContainsAny(command, "|;&\n`") || strings.Contains(command, "$(") {
		return "", ""
	}
	word, rest, _ = strings.Cut(command, " ")
	return word[strings.LastIndexByte(word, '/')+1:], strings.TrimSpace(rest)
}

// beginning bounds the lines from which the kind of a text is recognised.
const beginning = 60

func looksLikeDiff(text string) bool {
	n, old := 0, false
	for l := range strings.Lines(text) {
		if n++; n > beginning {
			break
		}
		switch {
		case strings.HasPrefix(l, "diff --git "):
			return true
		case strings.HasPrefix(l, "--- "):
			old = true
		case old && strings.HasPrefix(l, "+++ "):
			return true
		default:
			old = false
		}
	}
	return false
}

// looksLikeNames reports whether few of the first lines of a search give a position in a file. They
// are then names of files, or the matches in one file.
func looksLikeNames(text string) bool {
	n, found := 0, 0
	for l := range strings.Lines(text) {
		if n++; n > beginning {
			break
		}
		if foundIn(l) != "" {
			found++
		}
	}
	return found*3 < min(n, beginning)
}

// looksLikeLog reports whether three in ten of a text's first lines begin with a time or a level.
func looksLikeLog(text string) bool {
	n, logged := 0, 0
	for l := range strings.Lines(text) {
		if n++; n > beginning {
			break
		}
		if isRecord(l) {
			logged++
		}
	}
	return n >= 10 && logged*10 > min(n, beginning)*3
}

func isRecord(l string) bool {
	l = strings.TrimLeft(l, " [")
	for _, level := range []string{"info", "debug", "warn", "error", "trace", "fatal"} {
		if rest := l[min(len(level), len(l)):]; hasFold(l, level) && rest != "" && !letter(rest[0]) {
			return true
		}
	}
	digits, colons := 0, 0
	for i := 0; i < len(l) && i < 24; i++ {
		switch c := l[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == ':':
			colons++
		case c == '-' || c == '/' || c == 'T' || c == ' ' || c == '.' || c == ',' || c == 'Z':
		default:
			return digits >= 6 && colons >= 2
		}
	}
	return digits >= 6 && colons >= 2
}
