package recall

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Where is the place of a query or a prompt, from which it names paths. The zero value is the top
// of an unknown work tree.
type Where struct {
	Tops []string // absolute names of the work tree's top; paths below one of them become relative
	Dir  string   // the folder below the top, with slashes; "" at the top
}

// Path resolves a file or folder named from here to a slash-separated path below the top; "" is the
// top itself. It reports false for a name outside the work tree.
func (w Where) Path(name string) (string, bool) {
	name = withoutPositions(name)
	below := w.relative(name + "/")
	if isAbsolute(name) && below == name+"/" {
		return "", false
	}
	if !isAbsolute(name) {
		below = w.Dir + "/" + name
	}
	below = path.Clean(strings.TrimPrefix(strings.ReplaceAll(below, `\`, "/"), "/"))
	if below == "." {
		below = ""
	}
	return below, below != ".." && !strings.HasPrefix(below, "../")
}

func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) || len(name) > 2 && name[1] == ':' && (name[2] == '/' || name[2] == '\\')
}

// relative rewrites the absolute paths of a text that are below the top, as named from there.
func (w Where) relative(text string) string {
	for _, top := range w.Tops {
		text = below(text, top)
	}
	return text
}

// below takes paths in a text relative to a folder, in either kind of slashes.
func below(text, top string) string {
	top = strings.TrimRight(strings.ReplaceAll(top, `\`, "/"), "/")
	if len(top) < 2 {
		return text
	}
	slash := func(c byte) bool { return c == '/' || c == '\\' }
	same := func(at int) bool {
		if len(text)-at <= len(top) || !slash(text[at+len(top)]) {
			return false
		}
		for i := range len(top) {
			if t := text[at+i]; t != top[i] && !(slash(t) && slash(top[i])) && !(i == 0 && top[1] == ':' && t|0x20 == top[0]|0x20) {
				return false
			}
		}
		return true
	}
	var b strings.Builder
	put := 0
	for i := 0; i+len(top) < len(text); i++ {
		if !same(i) {
			continue
		}
		from := i
		if head := strings.TrimSuffix(text[:i], "/"); strings.HasSuffix(head, "file:/") || strings.HasSuffix(text[:i], "file://") {
			from = strings.LastIndex(text[:i], "file:")
		} else if last, _ := utf8.DecodeLastRuneInString(text[:i]); i > 0 && (unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune(`/\._-~$%}*`, last)) {
			continue
		}
		at := i + len(top) + 1
		end := at
		for end < len(text) && text[end] > ' ' && !strings.ContainsRune("\"'`<>|", rune(text[end])) {
			end++
		}
		if end == at && at < len(text) || end > at && slash(text[at]) {
			continue
		}
		b.WriteString(text[put:max(put, from)])
		if rest := text[at:end]; text[at-1] == '\\' {
			b.WriteString(strings.ReplaceAll(rest, `\`, "/"))
		} else {
			b.WriteString(rest)
		}
		put, i = end, end-1
	}
	if put == 0 {
		return text
	}
	return b.String() + text[put:]
}
