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
	var out []Command
	var cur Command
	var word strings.Builder
	var inWord, redirect, output bool // output: the redirection is one, not an input
	var docs []string                 // here-document delimiters waiting for the end of the line
	flush := func() {
		if !inWord {
			return
		}
		w := word.String()
		word.Reset()
		inWord = false
		switch {
		case redirect:
			redirect = false
			cur.ToFile = cur.ToFile || output && w != "/dev/null" && w != "1" && w != "2" && w != "-"
		case len(cur.Words) == 0 && IsAssignment(w):
			cur.Env = append(cur.Env, w)
		default:
			cur.Words = append(cur.Words, w)
		}
	}
	end := func(join string) {
		flush()
		redirect = false
		if len(cur.Words) > 0 || len(cur.Env) > 0 {
			cur.Join = join
			out = append(out, cur)
		}
		cur = Command{}
	}
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			if line[i+1] != '\n' {
				word.WriteString(line[i : i+2])
				inWord = true
			}
			i += 2
		case c == '\'' || c == '"' || c == '`':
			n := quoted(line[i:])
			word.WriteString(line[i : i+n])
			inWord = true
			i += n
		case c == '$' && i+1 < len(line) && line[i+1] == '(':
			n := 1 + bracketed(line[i+1:])
			word.WriteString(line[i : i+n])
			inWord = true
			i += n
		case c == '\n':
			end(";")
			i++
			for _, d := range docs {
				i += skipDocument(line[i:], d)
			}
			docs = nil
		case c == ' ' || c == '\t' || c == '\r':
			flush()
			i++
		case c == '#' && !inWord:
			for i < len(line) && line[i] != '\n' {
				i++
			}
		case strings.HasPrefix(line[i:], "<<<"):
			flush()
			redirect, output = true, false
			i += 3
		case strings.HasPrefix(line[i:], "<<"):
			flush()
			i += 2
			if i < len(line) && line[i] == '-' {
				i++
			}
			for i < len(line) && line[i] == ' ' {
				i++
			}
			start := i
			for i < len(line) && !strings.ContainsRune(" \t\n;|&<>", rune(line[i])) {
				i++
			}
			if d := strings.Trim(line[start:i], `'"\`); d != "" {
				docs = append(docs, d)
			}
		case strings.HasPrefix(line[i:], "&>") || c == '>' || c == '<':
			if w := word.String(); w != "" && strings.Trim(w, "0123456789") == "" { // a descriptor: 2>
				word.Reset()
				inWord = false
			}
			flush()
			redirect, output = true, c != '<'
			for i < len(line) && (line[i] == '>' || line[i] == '<' || line[i] == '&') {
				i++
			}
		case strings.HasPrefix(line[i:], "&&") || strings.HasPrefix(line[i:], "||"):
			end(line[i : i+2])
			i += 2
		case c == ';' || c == '|' || c == '&':
			end(string(c))
			for i < len(line) && (line[i] == c || (c == '|' && line[i] == '&')) {
				i++
			}
		default:
			word.WriteByte(c)
			inWord = true
			i++
		}
	}
	end("")
	if n := len(out); n > 0 && out[n-1].Join != "&" {
		out[n-1].Join = ""
	}
	return out
}

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
		if !ok {
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
