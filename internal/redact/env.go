package redact

import (
	"io"
	"path/filepath"
	"strings"
)

// maxEnvFile is how much of a .env file is read, in bytes.
const maxEnvFile = 1 << 20

// EnvValues returns the values of a .env file that are secret enough to be given to New: those whose name announces
// a secret and that are not plain words, those in a provider's format, those that look random, and the passwords of
// URLs. true, development, port numbers, addresses without a password, paths and plain words are not among them.
// The file's path tells templates (.env.example), which hold no secrets; the caller decides which files are ignored
// by git. There are at most most of them. What cannot be read or parsed is passed over: this list only adds to what patterns find.
func EnvValues(path string, r io.Reader, most int) []string {
	for _, template := range []string{"example", "sample", "template", "dist", "defaults", "schema"} {
		if strings.Contains(strings.ToLower(filepath.Base(path)), template) {
			return nil
		}
	}
	data, _ := io.ReadAll(io.LimitReader(r, maxEnvFile))
	var values []string
	seen := make(map[string]bool)
	for rest := strings.TrimPrefix(string(data), "\ufeff"); rest != "" && len(values) < most; {
		var key, value string
		key, value, rest = envEntry(rest)
		for _, v := range envSecrets(key, value) {
			if !seen[v] && len(values) < most {
				seen[v] = true
				values = append(values, v)
			}
		}
	}
	return values
}

// envEntry takes the first entry, or a line that is none, off text. A quoted value may go over several lines.
func envEntry(text string) (key, value, rest string) {
	line, rest, _ := strings.Cut(text, "\n")
	entry := strings.TrimSpace(line)
	for _, word := range []string{"export ", "set ", "ENV "} {
		entry = strings.TrimSpace(strings.TrimPrefix(entry, word))
	}
	if entry == "" || entry[0] == '#' {
		return "", "", rest
	}
	key, value, ok := strings.Cut(entry, "=")
	if k, v, colon := strings.Cut(entry, ": "); colon && (!ok || len(k) < len(key)) {
		key, value, ok = k, v, true
	}
	if !ok || strings.ContainsAny(strings.TrimSpace(key), " \t\"'") {
		return "", "", rest
	}
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if value == "" || !isOneOf(value[0], "\"'`") {
		if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		return key, value, rest
	}
	quote := value[0]
	whole := value[1:]
	if end := closing(whole, quote); end >= 0 {
		return key, unquoted(whole[:end], quote), rest
	}
	end := closing(rest, quote)
	if end < 0 {
		return key, value[1:], rest // the quote never closes
	}
	whole += "\n" + rest[:end]
	_, rest, _ = strings.Cut(rest[end:], "\n")
	return key, unquoted(whole, quote), rest
}

// closing returns where the quote closes, or -1.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

func unquoted(s string, quote byte) string {
	if quote != '"' {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\$`, "$").Replace(s)
}

// envSecrets returns what of an entry's value is secret.
func envSecrets(key, v string) []string {
	if v == "" || reference(v) {
		return nil
	}
	if strings.Contains(v, "\n") {
		var lines []string // of a private key, which may be written with other line ends elsewhere
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= 32 && shapeOf(line).random() {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if i := strings.Index(v, "://"); i > 0 {
		authority := v[i+3:]
		if end := strings.IndexAny(authority, "/?#"); end >= 0 {
			authority = authority[:end]
		}
		if sign := strings.LastIndexByte(authority, '@'); sign >= 0 {
			if _, password, ok := strings.Cut(authority[:sign], ":"); ok && !trivial(password) {
				return []string{password}
			}
		}
		return nil
	}
	sh := shapeOf(v)
	switch {
	case trivial(v), digest(v), path(v) && !sh.random():
		return nil
	case strengthOf(key) != none, formatOf(v) != "":
		return []string{v}
	case sh.random() && sh.n >= 16 && sh.space == 0 && !isHex(v) && !isULID(v) && !dotted(v):
		return []string{v}
	}
	return nil
}
