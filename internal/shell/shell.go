// Package shell splits command lines of POSIX shells into simple commands, as agents type them.
// Begin with Split. Everything is pure, and any input is safe.
package shell

import (
	"slices"
	"strings"
)

// Command is one simple command of a shell line: its original words, the variables set before it,
// and the operator after it.
type Command struct {
	Words  []string // raw, quotes kept
	Env    []string // NAME=value before the first word
	ToFile bool     // its output goes to a file
	Join   string   // what follows: "&&", "||", ";", "|", "&", or "" at the end
}

// Split splits a shell line into its simple commands. It knows quotes, escapes, substitutions,
// redirections, comments and here-documents (whose bodies it drops), but not compound commands:
// their keywords become words. It makes one pass without recursion, so any input is safe.
func Split(line string) []Command {
	var s splitter
	for at := 0; at < len(line); {
		at += s.token(line[at:])
	}
	s.endCommand("")
	if n := len(s.done); n > 0 && s.done[n-1].Join != "&" {
		s.done[n-1].Join = ""
	}
	return s.done
}

// splitter is the state of one Split.
type splitter struct {
	done      []Command
	command   Command
	word      strings.Builder
	redirect  byte     // first byte of the operator before its target, or 0
	documents []string // delimiters of here-documents that begin on the next line
}

// token reads the token at the start of a line and returns its length.
func (s *splitter) token(line string) int {
	switch c := line[0]; {
	case c == '\n':
		s.endCommand(";")
		n := 1
		for _, d := range s.documents {
			n += skipDocument(line[n:], d)
		}
		s.documents = nil
		return n
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
		return 1
	case c == '#' && s.word.Len() == 0:
		comment, _, _ := strings.Cut(line, "\n")
		return len(comment)
	case strings.HasPrefix(line, "<<<"):
		s.endWord()
		s.redirect = c
		return 3
	case strings.HasPrefix(line, "<<"):
		s.endWord()
		return s.document(line)
	case strings.HasPrefix(line, "&>") || c == '>' || c == '<':
		if strings.Trim(s.word.String(), "0123456789") == "" { // a descriptor: 2>
			s.word.Reset()
		}
		s.endWord()
		s.redirect = c
		return run(line, "<>&")
	case strings.HasPrefix(line, "&&") || strings.HasPrefix(line, "||"):
		s.endCommand(line[:2])
		return 2
	case c == '|':
		s.endCommand("|")
		return run(line, "|&")
	case c == ';' || c == '&':
		s.endCommand(line[:1])
		return run(line, line[:1])
	}
	n := piece(line)
	if line[:n] != "\\\n" {
		s.word.WriteString(line[:n])
	}
	return n
}

func (s *splitter) endWord() {
	w := s.word.String()
	s.word.Reset()
	switch {
	case w == "":
	case s.redirect != 0:
		s.command.ToFile = s.command.ToFile || s.redirect != '<' && w != "/dev/null" && w != "1" && w != "2" && w != "-"
		s.redirect = 0
	case len(s.command.Words) == 0 && IsAssignment(w):
		s.command.Env = append(s.command.Env, w)
	default:
		s.command.Words = append(s.command.Words, w)
	}
}

func (s *splitter) endCommand(join string) {
	s.endWord()
	s.redirect = 0
	if len(s.command.Words) > 0 || len(s.command.Env) > 0 {
		s.command.Join = join
		s.done = append(s.done, s.command)
	}
	s.command = Command{}
}

// document reads "<<" or "<<-" and a delimiter, and returns their length.
func (s *splitter) document(line string) int {
	rest := strings.TrimLeft(strings.TrimPrefix(line[2:], "-"), " ")
	n := strings.IndexAny(rest, " \t\n;|&<>")
	if n < 0 {
		n = len(rest)
	}
	if d := strings.Trim(rest[:n], `'"\`); d != "" {
		s.documents = append(s.documents, d)
	}
	return len(line) - len(rest) + n
}

// piece returns the length of the part of a word at the start of s: an escape, a quoted string, a
// substitution, or plain characters.
func piece(s string) int {
	switch c := s[0]; {
	case c == '\\' && len(s) > 1:
		return 2
	case c == '\'' || c == '"' || c == '`':
		return quoted(s)
	case strings.HasPrefix(s, "$("):
		return 1 + bracketed(s[1:])
	}
	n := 1
	for n < len(s) && strings.IndexByte("\\'\"`$ \t\r\n<>&|;", s[n]) < 0 {
		n++
	}
	return n
}

// run returns how many bytes at the start of s are among some.
func run(s, among string) int { return len(s) - len(strings.TrimLeft(s, among)) }

// quoted returns the length of the quoted string at the start of s, up to the end of s if it is not
// closed.
func quoted(s string) int {
	q := s[0]
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' && q != '\'' {
			i++
			continue
		}
		if s[i] == q {
			return i + 1
		}
	}
	return len(s)
}

// bracketed returns the length of the balanced parenthesis at the start of s.
func bracketed(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'', '"':
			i += quoted(s[i:]) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// skipDocument returns the length of a here-document's body, its delimiter line included.
func skipDocument(s, delimiter string) int {
	n := 0
	for n < len(s) {
		line, _, found := strings.Cut(s[n:], "\n")
		n += len(line)
		if found {
			n++
		}
		if strings.TrimSpace(line) == delimiter {
			break
		}
	}
	return n
}

// IsAssignment reports whether a word sets a variable: NAME=value.
func IsAssignment(w string) bool {
	name, _, found := strings.Cut(w, "=")
	if !found || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// wraps reports whether a program runs the command after it and has no lasting effect. valued holds
// its short flags that take a value.
func wraps(program string) (valued string, ok bool) {
	switch program {
	case "nohup", "command", "builtin", "setsid", "then", "do", "else", "if", "!", "{", "(":
		return "", true
	case "time":
		return "fo", true
	case "exec":
		return "a", true
	case "sudo":
		return "CDghpRrTtUu", true
	case "doas", "env":
		return "Cu", true
	case "timeout":
		return "ks", true
	case "nice":
		return "n", true
	case "stdbuf":
		return "eio", true
	}
	return "", false
}

// WithoutParentheses removes the parentheses of subshells from a command's words, and counts them.
func WithoutParentheses(words []string) (rest []string, opened, closed int) {
	if len(words) == 0 || !strings.HasPrefix(words[0], "(") && !strings.HasSuffix(words[len(words)-1], ")") {
		return words, 0, 0
	}
	rest = slices.Clone(words)
	for len(rest) > 0 && strings.HasPrefix(rest[0], "(") {
		if rest[0] = rest[0][1:]; rest[0] == "" {
			rest = rest[1:]
		}
		opened++
	}
	for n := len(rest) - 1; n >= 0 && strings.HasSuffix(rest[n], ")") && !strings.Contains(rest[n], "("); n = len(rest) - 1 {
		if rest[n] = rest[n][:len(rest[n])-1]; rest[n] == "" {
			rest = rest[:n]
		}
		closed++
	}
	return rest, opened, closed
}

// Unwrap removes at most a number of leading commands that only run another.
func Unwrap(words []string, layers int) []string {
	for ; layers > 0 && len(words) > 0; layers-- {
		valued, ok := wraps(words[0])
		lookup := words[0] == "command" && len(words) > 1 && (words[1] == "-v" || words[1] == "-V")
		if !ok || lookup {
			break
		}
		n := 0
		if words[0] == "timeout" {
			n = 1 // the time
		}
		words = AfterFlags(words[1:], valued)
		words = words[min(n, len(words)):]
	}
	return words
}

// AfterFlags returns the words after the flags and variables at their start. valued holds the
// letters of flags that take a value.
func AfterFlags(words []string, valued string) []string {
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || IsAssignment(words[0])) {
		flag := words[0]
		words = words[1:]
		// The value may also be in the word.
		if at := strings.IndexAny(flag, valued); flag[0] == '-' && at > 0 && at == len(flag)-1 {
			words = words[min(1, len(words)):]
		}
	}
	return words
}

// Substitutions returns the command lines in $(…) and backticks of a word, without those inside
// them.
func Substitutions(word string) (lines []string) {
	double := false
	for i := 0; i < len(word); i++ {
		switch {
		case word[i] == '\\':
			i++
		case word[i] == '"':
			double = !double
		case word[i] == '\'' && !double:
			i += quoted(word[i:]) - 1
		case word[i] == '`':
			n := quoted(word[i:])
			lines = append(lines, strings.Trim(word[i:i+n], "`"))
			i += n - 1
		case strings.HasPrefix(word[i:], "$("):
			n := bracketed(word[i+1:])
			lines = append(lines, strings.TrimSuffix(word[i+2:i+1+n], ")"))
			i += n
		}
	}
	return lines
}

// Unquote removes a word's outer quotes.
func Unquote(w string) string {
	if n := len(w); n >= 2 && (w[0] == '"' || w[0] == '\'') && w[n-1] == w[0] {
		return w[1 : n-1]
	}
	return w
}

// Join returns the command line that runs a list of words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Quote returns s as one word of a command line.
func Quote(s string) string {
	special := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:=@%+,", r))
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
