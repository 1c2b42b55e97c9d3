package reflect

import "strings"

// A command is one simple command of a shell line: its original words, the variables set before it,
// and the operator after it.
type command struct {
	words []string // raw, quotes kept
	env   []string // NAME=value before the first word
	file  bool     // its output goes to a file
	join  string   // what follows: "&&", "||", ";", "|", "&", or "" at the end
}

// splitShell splits a shell line into its simple commands. It knows quotes, escapes, substitutions,
// redirections, comments and here-documents (whose bodies it drops), but not compound commands:
// their keywords become words. It makes one pass without recursion, so any input is safe.
func splitShell(line string) []command {
	var out []command
	var cur command
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
			cur.file = cur.file || output && w != "/dev/null" && w != "1" && w != "2" && w != "-"
		case len(cur.words) == 0 && isAssignment(w):
			cur.env = append(cur.env, w)
		default:
			cur.words = append(cur.words, w)
		}
	}
	end := func(join string) {
		flush()
		redirect = false
		if len(cur.words) > 0 || len(cur.env) > 0 {
			cur.join = join
			out = append(out, cur)
		}
		cur = command{}
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
	if n := len(out); n > 0 && out[n-1].join != "&" {
		out[n-1].join = ""
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

// isAssignment reports whether a word sets a variable: NAME=value.
func isAssignment(w string) bool {
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
