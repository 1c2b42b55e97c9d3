package purge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// wordsOf returns the texts in a file of a store that a person or an agent wrote. It excludes the
// keys, ids, times and enumeration values that Reverie writes, and the lines of firstFiles. A file
// that does not parse counts whole.
func wordsOf(at string, data []byte, firstFiles map[string]string) []string {
	top, _, _ := strings.Cut(at, "/")
	switch top {
	case record.MemoryDir:
		if m, err := record.ParseMemory(at, data); err == nil {
			return append(memoryWords(m), oddWords(m, data)...)
		}
	case "ops":
		if o, err := record.ParseOperation(at, data); err == nil && o.Op == record.Skill {
			return append([]string{o.File, o.Path}, jsonWords(data, ownKeys, "file", "path")...)
		} else if err == nil {
			words := append(memoryWords(o.Memory), oddWords(o.Memory, []byte(o.File))...)
			return append(append(words, slugOf(o.Path)), jsonWords(data, ownKeys, "file", "path", "base")...)
		}
	case "rejected":
		if _, err := record.ParseRejection(at, data); err == nil {
			return jsonWords(data, ownKeys)
		}
	case record.ReflectionDir:
		if _, err := record.ParseReflection(at, data); err == nil {
			return jsonWords(data, ownKeys)
		}
	case record.CheckpointDir:
		if _, err := record.ParseCheckpoint(at, data); err == nil {
			return jsonWords(data, ownKeys, "reason")
		}
	case record.DreamDir:
		if d, err := record.ParseDream(at, data); err == nil {
			return []string{d.Notes}
		}
	}
	if first, ours := firstFiles[at]; ours {
		return []string{without(data, first)}
	}
	return []string{string(data)}
}

// without returns a text without the lines of another.
func without(data []byte, other string) string {
	known := map[string]bool{}
	for line := range strings.Lines(other) {
		known[strings.TrimSuffix(line, "\n")] = true
	}
	var own strings.Builder
	for line := range strings.Lines(string(data)) {
		if !known[strings.TrimRight(line, "\r\n")] {
			own.WriteString(line)
		}
	}
	return own.String()
}

// memoryWords returns the texts of a memory, each with its body as in the file.
func memoryWords(m record.Memory) []string {
	var words []string
	for _, v := range m.Texts() {
		text := v.Text
		if v.Body != "" {
			text += "\n\n" + v.Body
		}
		words = append(words, text)
	}
	words = append(append(append(words, m.Paths...), m.Tags...), m.Topic, m.Ref, record.ParseSide(m.Branch).Name)
	for _, text := range m.Anchors {
		if a, err := record.ParseAnchor(text); err == nil {
			words = append(words, a.Path, a.Snippet)
		} else {
			words = append(words, text)
		}
	}
	for _, f := range m.Extra {
		words = append(words, f.Key+" = "+f.Value)
	}
	return words
}

// oddWords returns hand-edited text in a file beyond the memory read from it.
func oddWords(m record.Memory, data []byte) []string {
	if bytes.Equal(m.Format(), data) {
		return nil
	}
	return []string{without(data, string(m.Format()))}
}

// slugOf returns the part of a memory's path that derives from its words.
func slugOf(at string) string {
	_, slug, _ := strings.Cut(strings.TrimSuffix(at, ".md"), record.MemoryOf(at)+"-")
	return slug
}

// pathWords returns the part of a path that a person or an agent chose.
func pathWords(at string) string {
	if record.MemoryOf(at) != "" {
		return slugOf(at)
	}
	top, rest, inside := strings.Cut(at, "/")
	if !inside {
		return at
	}
	switch top {
	case record.MemoryDir:
		return rest
	case "ops", "rejected", record.ReflectionDir, record.DreamDir, record.CheckpointDir, record.PurgeDir:
		if ownPath.MatchString(rest) {
			return ""
		}
		return rest
	}
	return at
}

// ownPath is the path of a record within its folder: ids, months and the names of sessions.
var ownPath = pattern.New(`^(\d{4}-\d\d/)?([0-9a-f]{2}/)?([0-9a-f]{16}|[\w.-]+-[0-9a-f]{8}|[\w.-]+-\d+)\.(json|md)$`)

// ownKeys are the JSON keys whose values Reverie or an agent's program sets: ids, times,
// enumerations.
var ownKeys = pattern.NewWords("id op how kind status hash started ended time proposed commit blob contradicts alike reflection dream " +
	"client session parent detector model prompt outcome version origin agent tool call action set")

// jsonWords returns the strings in JSON documents, without object keys and without the values of
// keys in skip or more. Data that does not parse is one text.
func jsonWords(data []byte, skip *pattern.Words, more ...string) (words []string) {
	type level struct {
		object, key bool   // within an object; a key comes next
		name        string // key of the next value
	}
	own := map[string]bool{}
	for _, key := range more {
		own[key] = true
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	stack := []level{{}}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) && len(stack) == 1 {
			return words
		}
		if err != nil {
			return append(words, string(data))
		}
		here := &stack[len(stack)-1]
		delim, isDelim := token.(json.Delim)
		text, isText := token.(string)
		switch {
		case isDelim && (delim == '}' || delim == ']'):
			stack = stack[:len(stack)-1]
			continue
		case here.object && here.key:
			here.name, here.key = text, false
			continue
		case isText && !skip.Has(here.name) && !own[here.name]:
			words = append(words, text)
		}
		name := here.name
		here.key = here.object
		if isDelim {
			next := level{object: delim == '{', key: delim == '{'}
			if delim == '[' {
				next.name = name // a list of texts has the key's meaning
			}
			stack = append(stack, next)
		}
	}
}

// wrote reports whether a person or an agent wrote the text into a file of a store.
func (t *Target) wrote(at string, data []byte) bool {
	for _, word := range wordsOf(at, data, t.first) {
		if t.in([]byte(word)) {
			return true
		}
	}
	return false
}
