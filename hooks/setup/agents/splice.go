package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// item locates one element of a list, or one member of an object with its name.
type item struct {
	before     int // start of the text before it: after the bracket or comma
	start, end int
	comma      int // of the comma after it, or -1
}

// items returns the positions of the members of an object or a list.
func (s *settings) items(v hujson.Value) []item {
	var found []item
	before := v.StartOffset + 1
	put := func(first, last hujson.Value) {
		it := item{before: before, start: first.StartOffset, end: last.EndOffset, comma: -1}
		at := it.end + len(last.AfterExtra)
		if at < v.EndOffset-1 && s.text[at] == ',' {
			it.comma = at
		}
		before = at + 1
		found = append(found, it)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			put(m.Name, m.Value)
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			put(e, e)
		}
	}
	return found
}

// insert appends a value to a list, or under a key to an object, in the file's own layout.
func (s *settings) insert(in hujson.Value, key string, value any) error {
	items := s.items(in)
	closing := in.EndOffset - 1
	inside := s.text[in.StartOffset+1 : closing]
	oneLine := len(items) > 0 && !bytes.ContainsRune(inside, '\n')
	outer := s.indentAt(in.StartOffset)
	inner := outer + s.unit()
	if len(items) > 0 && !oneLine {
		if indent, own := s.ownLine(items[0].start); own {
			inner = indent
		}
	}
	text := s.render(value, inner, oneLine)
	if key != "" {
		text = s.render(key, "", true) + ":" + text
		if !oneLine {
			text = strings.Replace(text, ":", ": ", 1)
		}
	}
	if len(items) == 0 {
		kept := bytes.TrimRight(inside, " \t\r\n") // comments
		return s.splice(in.StartOffset+1+len(kept), closing, s.eol()+inner+text+s.eol()+outer)
	}
	last := items[len(items)-1]
	tail := last.end
	if last.comma >= 0 {
		tail = last.comma + 1
		text += ","
	}
	at := tail + len(bytes.TrimRight(s.text[tail:closing], " \t\r\n"))
	if !oneLine {
		text = s.eol() + inner + text
	} else if bytes.Contains(inside, []byte(", ")) || bytes.Contains(inside, []byte(": ")) {
		text = " " + text
	}
	if last.comma < 0 {
		text = "," + string(s.text[last.end:at]) + text
		return s.splice(last.end, at, text)
	}
	return s.splice(at, at, text)
}

// remove removes the i-th element or member of a container, with its comma and the white space
// before it. Comments stay.
func (s *settings) remove(in hujson.Value, i int) error {
	items := s.items(in)
	it := items[i]
	from, to := it.start, it.end
	next := in.EndOffset - 1 // start of the rest
	if it.comma >= 0 {
		next = it.comma + 1
	}
	lineEnds := bytes.HasPrefix(bytes.TrimLeft(s.text[next:], " \t\r"), []byte("\n"))
	if it.comma < 0 {
		lineEnds = bytes.HasPrefix(bytes.TrimLeft(s.text[it.end:], " \t\r"), []byte("\n"))
	}
	if lineEnds || !bytes.Contains(s.text[it.before:it.start], []byte("//")) {
		// Otherwise the line break before it ends a comment.
		from = it.before + len(bytes.TrimRight(s.text[it.before:it.start], " \t\r\n"))
	}
	text := slices.Clone(s.text)
	if it.comma >= 0 {
		text = slices.Delete(text, it.comma, it.comma+1)
		if blank(s.text[it.end:it.comma]) {
			to = it.comma
		}
	}
	text = slices.Delete(text, from, to)
	if it.comma < 0 && i > 0 {
		text = slices.Delete(text, items[i-1].comma, items[i-1].comma+1)
	}
	gone := len(s.text) - len(text)
	if len(items) == 1 && blank(text[in.StartOffset+1:in.EndOffset-1-gone]) {
		text = slices.Delete(text, in.StartOffset+1, in.EndOffset-1-gone)
	}
	return s.set(text)
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// replace replaces one value.
func (s *settings) replace(v hujson.Value, value any) error {
	return s.splice(v.StartOffset, v.EndOffset, s.render(value, "", true))
}

func (s *settings) splice(from, to int, with string) error {
	return s.set(slices.Concat(s.text[:from], []byte(with), s.text[to:]))
}

// render returns a value as JSON, on one line, or on lines of which all but the first begin with
// indent.
func (s *settings) render(value any, indent string, oneLine bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !oneLine {
		enc.SetIndent(indent, s.unit())
	}
	if err := enc.Encode(value); err != nil {
		panic(err) // callers give only our own values
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", s.eol())
}

// eol returns the line end of the file's first line.
func (s *settings) eol() string {
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit returns one step of indentation: that of the first member, if it has its own line.
func (s *settings) unit() string {
	if items := s.items(s.root); len(items) > 0 {
		if indent, own := s.ownLine(items[0].start); own && indent != "" {
			return indent
		}
	}
	return "  "
}

// indentAt returns the white space at the beginning of an offset's line.
func (s *settings) indentAt(offset int) string {
	line := s.text[bytes.LastIndexByte(s.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine returns the white space before an offset, and whether its line has nothing else before
// it.
func (s *settings) ownLine(offset int) (indent string, own bool) {
	begin := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	indent = s.indentAt(offset)
	return indent, begin > 0 && begin+len(indent) == offset
}
