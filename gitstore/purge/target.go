package purge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Target is a text, or a memory with everything about it, to be removed.
type Target struct {
	memory string            // id; empty for a text
	texts  []string          // literal texts; for a memory, its statements
	re     *regexp.Regexp    // instead of texts
	local  bool              // search only data of this clone; records cover the branch
	forms  [][]byte          // texts as they may stand in a file
	first  map[string]string // files that every store begins with
}

// Text returns a target of one literal text.
func Text(text string) Target {
	t := Target{texts: []string{text}}
	t.prepare()
	return t
}

// Expression returns a target of all matching texts. It must not match the empty text.
func Expression(re *regexp.Regexp) Target { return Target{re: re} }

// Memory returns a target of a memory by its full id, and of whole occurrences of its statements.
func Memory(id string) Target { return Target{memory: id} }

// purgedText replaces a removed text in a file that stays.
const purgedText = "[purged]"

// telling is the minimum length, in bytes, of a statement or the beginning of a text to search in
// other files. Shorter ones occur everywhere.
const telling = 8

// prepare fills forms with the variants of a text: quotes are escaped in JSON, in TOML and in JSON
// inside JSON.
func (t *Target) prepare() {
	t.forms = nil
	known := map[string]bool{}
	for _, text := range t.texts {
		if text == "" || t.memory != "" && len(text) < telling {
			continue
		}
		once, html := quoted(text, false), quoted(text, true)
		for _, form := range []string{text, once, html, quoted(once, false), quoted(html, true)} {
			if !known[form] {
				known[form] = true
				t.forms = append(t.forms, []byte(form))
			}
		}
	}
	// The longest form is removed first.
	slices.SortStableFunc(t.forms, func(a, b []byte) int { return len(b) - len(a) })
}

func quoted(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	enc.Encode(s)
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// in reports whether bytes hold the text, plain or escaped.
func (t *Target) in(data []byte) bool {
	for _, form := range t.forms {
		if bytes.Contains(data, form) {
			return true
		}
	}
	if t.re == nil {
		return false
	}
	found := t.re.Match(data)
	if !found {
		eachJSONText(data, func(s string) { found = found || t.re.MatchString(s) })
	}
	return found
}

// inValue reports whether a value holds the text, plain or in a string of nested JSON.
func (t *Target) inValue(value string) bool {
	if t.in([]byte(value)) {
		return true
	}
	if !json.Valid([]byte(value)) {
		return false
	}
	in := json.NewDecoder(strings.NewReader(value))
	for {
		token, err := in.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && t.inValue(s) { // it is shorter than value
			return true
		}
	}
}

// found returns the target's texts in a file that holds them.
func (t *Target) found(at string, data []byte) (out []string) {
	if t.re == nil {
		return t.texts
	}
	const enough = 100
	for _, word := range wordsOf(at, data, t.first) {
		out = append(out, t.re.FindAllString(word, enough)...)
		eachJSONText([]byte(word), func(s string) { out = append(out, t.re.FindAllString(s, enough)...) })
	}
	return out
}

// without returns a text file with the target replaced by purgedText. It removes a line where that
// is impossible. It also removes every line of JSON, where the target might be a key or part of a
// keyword.
func (t *Target) without(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !t.in(line) {
			out = append(out, line...)
			continue
		}
		if json.Valid(line) {
			continue
		}
		for _, form := range t.forms {
			line = bytes.ReplaceAll(line, form, []byte(purgedText))
		}
		if t.re != nil {
			line = t.re.ReplaceAllLiteral(line, []byte(purgedText))
		}
		if !t.in(line) {
			out = append(out, line...)
		}
	}
	if t.in(out) {
		return nil // it runs over several lines
	}
	return out
}

// eachJSONText calls fn for every string in JSON text, as one document or one per line.
func eachJSONText(data []byte, fn func(string)) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return
	}
	in := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := in.Token()
		if err != nil {
			return
		}
		if s, ok := token.(string); ok {
			fn(s)
		}
	}
}

// Tells reports whether the message of a commit quotes the target. For a memory, only a Plan's
// target knows the statements.
func (t *Target) Tells(message string) bool { return t.inMessage(message, t.texts) }

// inMessage reports whether the message of a commit quotes one of some texts. Case and spacing do
// not matter; of a cut subject the beginning counts.
func (t *Target) inMessage(message string, texts []string) bool {
	if t.in([]byte(message)) || t.re != nil && t.re.MatchString(strings.Join(strings.Fields(message), " ")) {
		return true
	}
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	subject, _, _ := strings.Cut(message, "\n")
	cut, shortened := strings.CutSuffix(fold(subject), "…")
	folded := fold(message)
	for _, text := range texts {
		text = fold(text)
		if len(text) < telling && t.memory != "" || text == "" {
			continue
		}
		if strings.Contains(folded, text) {
			return true
		}
		for n := min(len(cut), len(text)); shortened && n >= telling; n-- {
			if strings.HasSuffix(cut, text[:n]) {
				return true
			}
		}
	}
	return false
}

// fixedSubjects begin the messages that are the same in every store. If a purge could remove them,
// every other store would seem to hold purged text.
var fixedSubjects = []string{"init: start a memory", "init: check pull requests on ", "purge: remove what must not be kept", "merge: memory of ", "merge: journal of ", "reverie: begin"}

// ownSubject matches subjects made of our words only, ownVerb the start of those with a statement,
// and ownTrailer our trailers.
var (
	ownSubject = pattern.New(`^(dream: \d+ operations? from \d+ reflections?|reflect: (\d+ sessions?|[\w.-]+/[\w.-]+)|checkpoint: [\w.-]+/[\w.-]+|reject: \d+ operations?|import: \d+ statements?|branch: ask about \d+ statements?|remember: \d+ statements|forget: \d+ memories|propose: \d+ changes? of memory)$`)
	ownVerb    = pattern.New(`^(- )?(remember|suggest|correct|edit|forget|merge|landed): `)
	ownTrailer = pattern.New(`^Reverie-(Op: [a-z]+|Dream: [0-9a-f]+|Session: [\w.-]+/[\w.-]+)$`)
)

// ownWords returns a message without the words that Reverie adds.
func ownWords(message string) string {
	subject, body, _ := strings.Cut(message, "\n")
	for _, fixed := range fixedSubjects {
		if rest, ok := strings.CutPrefix(subject, fixed); ok {
			if fixed == "reverie: begin" {
				return ""
			}
			subject = rest
		}
	}
	subject = ownSubject.ReplaceAllString(subject, "")
	own := []string{ownVerb.ReplaceAllString(subject, "")}
	for line := range strings.Lines(body) {
		if line = strings.TrimSuffix(line, "\n"); !ownTrailer.MatchString(line) {
			own = append(own, ownVerb.ReplaceAllString(line, ""))
		}
	}
	return strings.Join(own, "\n")
}

// inFile reports whether a file of a store has to be removed.
func (t *Target) inFile(at string, data []byte) bool {
	if _, err := record.ParsePurge(at, data); err == nil {
		return false // hashes and nothing else
	}
	if first, ours := t.first[at]; ours && first == string(data) {
		return false // the same in every store
	}
	if t.memory == "" {
		return t.inPath(at) || t.wrote(at, data)
	}
	top, _, _ := strings.Cut(at, "/")
	switch top {
	case record.MemoryDir:
		return record.MemoryOf(at) == t.memory
	case "ops":
		o, err := record.ParseOperation(at, data)
		if err != nil {
			return bytes.Contains(data, []byte(t.memory)) || t.in(data)
		}
		of := func(b record.Base) bool { return b.ID == t.memory }
		return o.Memory.ID == t.memory || slices.ContainsFunc(o.Base, of) || slices.Contains(o.Memory.Supersedes, t.memory) || t.says(o.Memory.Text) || t.in(data)
	case "rejected":
		r, err := record.ParseRejection(at, data)
		return err == nil && slices.ContainsFunc(r.Statements(), t.says) || t.in(data)
	case record.ReflectionDir:
		r, err := record.ParseReflection(at, data)
		return err == nil && slices.ContainsFunc(r.Candidates, func(c record.Candidate) bool { return t.says(c.Text) }) || t.in(data)
	case record.DreamDir, record.CheckpointDir:
		return bytes.Contains(data, []byte(t.memory)) || t.in(data)
	}
	return false
}

// says reports whether a statement belongs to the memory: it says the same, or nearly so.
func (t *Target) says(text string) bool {
	print := record.Print(text)
	return slices.ContainsFunc(t.texts, func(s string) bool {
		p := record.Print(s)
		return s == text || p.Same(print) || p.Near(print)
	})
}

// inPath reports whether a path, in its freely chosen parts, holds the text.
func (t *Target) inPath(at string) bool {
	words := pathWords(at)
	return t.in([]byte(words)) || t.in([]byte(path.Base(words)))
}

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
	return slices.ContainsFunc(wordsOf(at, data, t.first), func(word string) bool { return t.in([]byte(word)) })
}
