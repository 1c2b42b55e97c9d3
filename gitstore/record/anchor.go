package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Anchor is a place in the code that supports a memory. Its text form is path@blob "snippet", with
// a backslash before each quote and backslash of the snippet.
type Anchor struct {
	Path    string // of a file, from the top of the repository, with slashes
	Blob    string // git's id of the file when the memory was learned, or its first digits
	Snippet string // a line of the file, trimmed; if empty, only the file must exist
}

// MaxAnchors bounds the anchors of a newly learned memory. A person may write more.
const MaxAnchors = 3

// maxSnippet bounds a snippet, in bytes.
const maxSnippet = 120

// blobDigits is the number of digits of the blob's id in an anchor.
const blobDigits = 16

// NewAnchor makes an anchor to a file with one of the tokens. If no line has one, it has no
// snippet. ok is false for a path that the text form cannot hold, and for a binary file.
func NewAnchor(path, blob string, text []byte, tokens []string) (a Anchor, ok bool) {
	if path != strings.TrimSpace(path) || strings.ContainsFunc(path, unicode.IsControl) || !utf8.ValidString(path) || IsBinary(text) {
		return Anchor{}, false
	}
	return Anchor{Path: path, Blob: blob[:min(blobDigits, len(blob))], Snippet: snippet(text, tokens)}, true
}

// IsBinary uses git's rule: a zero byte among the first 8000.
func IsBinary(text []byte) bool { return bytes.IndexByte(text[:min(8000, len(text))], 0) >= 0 }

func (a Anchor) String() string {
	return a.Path + "@" + a.Blob + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a.Snippet) + `"`
}

// ParseAnchor parses the output of String; the snippet is optional.
func ParseAnchor(text string) (Anchor, error) {
	bad := fmt.Errorf("anchor %q is not like main.go@0123456789abcdef \"a line of it\"", text)
	place, inside := text, ""
	if strings.HasSuffix(text, `"`) {
		// The snippet has no quote without a backslash, so the last such one but the closing one opens
		// it.
		open := len(text) - 1
		for open--; open >= 0 && (text[open] != '"' || backslashes(text[:open])%2 == 1); open-- {
		}
		if open < 1 || text[open-1] != ' ' || backslashes(text[:len(text)-1])%2 == 1 {
			return Anchor{}, bad
		}
		place, inside = text[:open-1], text[open+1:len(text)-1]
	}
	at := strings.LastIndexByte(place, '@')
	if at < 1 || len(place)-at-1 < 7 || len(place)-at-1 > 64 || strings.Trim(place[at+1:], "0123456789abcdef") != "" {
		return Anchor{}, bad
	}
	var b strings.Builder
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' && i+1 < len(inside) {
			i++
		}
		b.WriteByte(inside[i])
	}
	return Anchor{Path: place[:at], Blob: place[at+1:], Snippet: b.String()}, nil
}

// backslashes counts those at the end of text.
func backslashes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// Holds reports whether the anchor is fresh: the file has the same blob, or has the snippet up to
// white space. It calls read only to search for the snippet.
func (a Anchor) Holds(blob string, read func() ([]byte, error)) (bool, error) {
	if a.Snippet == "" || strings.HasPrefix(blob, a.Blob) {
		return true, nil
	}
	text, err := read()
	if err != nil {
		return false, err
	}
	if bytes.Contains(text, []byte(a.Snippet)) {
		return true, nil
	}
	return bytes.Contains(bytes.Join(bytes.Fields(text), []byte(" ")), []byte(oneLine(a.Snippet))), nil
}

// Quoted returns the code spans of the statement and the body, in order, each once. It skips fenced
// blocks, which are output more often than code.
func (m Memory) Quoted() []string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(m.Text+"\n"+m.Body, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		for !fenced {
			_, rest, found := strings.Cut(line, "`")
			span, after, closed := strings.Cut(rest, "`")
			if !found || !closed {
				break
			}
			if span = strings.TrimSpace(span); span != "" && !slices.Contains(out, span) {
				out = append(out, span)
			}
			line = after
		}
	}
	return out
}

// defining are words that begin a line with a definition, in the languages of most code.
var defining = []string{
	"func", "def", "class", "type", "const", "let", "var", "fn", "struct", "enum", "interface", "trait", "impl", "module",
	"export", "public", "private", "static", "#define", "async", "pub", "val", "object", "record", "create",
	"function", "fun", "protected", "final", "abstract", "typedef", "declare", "extern", "override", "macro", "namespace",
}

// other are words before a name that the line does not define.
var other = []string{"extends", "implements", "import", "from", "return", "new", "of", "for", "if", "else", "while", "switch", "case", "await", "throw", "match"}

// snippet picks the line for an anchor: the first that defines a token, or else the first that has
// one. Earlier tokens are preferred.
func snippet(text []byte, tokens []string) string {
	for _, token := range tokens {
		if line, _ := findLine(text, token); line != "" {
			return line
		}
	}
	return ""
}

// findLine returns the first line that seems to define a token, or else the first with it.
func findLine(text []byte, token string) (found string, isDefined bool) {
	if len(token) < minName || !strings.ContainsFunc(token, unicode.IsLetter) {
		return "", false
	}
	for raw := range bytes.Lines(text) {
		if !bytes.Contains(raw, []byte(token)) {
			continue
		}
		line := strings.TrimSpace(string(raw))
		at := wordIndex(line, token)
		if at < 0 || !utf8.ValidString(line) {
			continue
		}
		if defines(line, at, token) {
			return window(line, at, len(token)), true
		}
		if found == "" {
			found = window(line, at, len(token))
		}
	}
	return found, false
}

// defines reports whether a line defines the token at offset at. Either a defining word comes first
// with no expression between, or a value or a body in brackets follows.
func defines(line string, at int, token string) bool {
	before := line[:at]
	after := strings.TrimSpace(line[at+len(token):])
	words := strings.Fields(before)
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(other, strings.ToLower(w)) }) {
		return false
	}
	if len(words) == 0 {
		assigned := strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==") || strings.HasPrefix(after, ":")
		return assigned || strings.HasPrefix(after, "(") && strings.HasSuffix(line, "{")
	}
	if strings.ContainsAny(before, "={") || strings.Count(before, "(") != strings.Count(before, ")") || strings.HasSuffix(before, ".") {
		return false
	}
	return slices.Contains(defining, strings.ToLower(words[0]))
}

// wordIndex returns the position of token in line with no letter or digit at either end, or -1.
func wordIndex(line, token string) int {
	isWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		at := strings.Index(line[from:], token)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(line[:at])
		after, _ := utf8.DecodeRuneInString(line[at+len(token):])
		first, _ := utf8.DecodeRuneInString(token)
		last, _ := utf8.DecodeLastRuneInString(token)
		if !(isWord(first) && isWord(before)) && !(isWord(last) && isWord(after)) {
			return at
		}
		from = at + len(token)
	}
}

// window cuts a line to maxSnippet bytes around n bytes at an offset.
func window(line string, at, n int) string {
	if len(line) <= maxSnippet {
		return line
	}
	from := max(0, min(at-(maxSnippet-n)/2, len(line)-maxSnippet))
	for from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	to := min(len(line), from+maxSnippet)
	for to > from && to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	return strings.TrimSpace(line[from:to])
}
