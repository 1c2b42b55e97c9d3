package agents

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Codex keeps its servers in TOML, which it edits itself. It may add tables anywhere below ours,
// and the table of an approved tool belongs to our server. So no mark ends our part: it is
// the tables with our name, and a comment above the first. We check each edit against the values
// that the parser reads.

const (
	serversTable = "mcp_servers"
	tableName    = serversTable + "." + serverName
	tableComment = "# managed by reverie: written by `reverie init`, taken away by `reverie uninstall`"

	// Pseudo-containers that add makes.
	madeNewline = "newline" // at the end of the last line
	madeBlank   = "blank"   // line above ours
)

// statement is the head of a TOML table, or a key with its value.
type statement struct {
	line int      // on which it begins, from 0
	head []string // parts of the table's name, which may be quoted with a dot; nil for a key
}

// ours reports whether it begins our table, or one below it.
func (st statement) ours() bool {
	return len(st.head) >= 2 && st.head[0] == serversTable && st.head[1] == serverName
}

// statements returns the statements of a valid text, in order.
func statements(text []byte) (all []statement) {
	var p unstable.Parser
	rest := bytes.TrimPrefix(text, byteOrderMark)
	for p.Reset(rest); p.NextExpression(); {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		st := statement{line: -1}
		for key := e.Key(); key.Next(); {
			if st.line < 0 {
				st.line = bytes.Count(rest[:key.Node().Raw.Offset], []byte("\n"))
			}
			if e.Kind != unstable.KeyValue {
				st.head = append(st.head, string(key.Node().Data))
			}
		}
		all = append(all, st)
	}
	return all
}

// ourTables returns the lines of our tables as [from, to), each from its head to the next
// statement.
func ourTables(text []byte, lines []string) (found [][2]int) {
	from := -1
	end := func(at int) {
		if from < 0 {
			return
		}
		for at > from && unclaimed(lines[at-1]) { // belongs to the next statement, or to none
			at--
		}
		found, from = append(found, [2]int{from, at}), -1
	}
	for _, st := range statements(text) {
		if st.head == nil {
			continue
		}
		end(st.line)
		if st.ours() {
			from = st.line
		}
	}
	end(len(lines))
	return found
}

// unclaimed reports whether a line is empty or only a comment.
func unclaimed(line string) bool {
	plain := strings.TrimSpace(line)
	return plain == "" || strings.HasPrefix(plain, "#")
}

// decodeTable parses a file and returns all its values, and our server.
func decodeTable(text []byte) (all map[string]any, s server, found bool, err error) {
	if err := toml.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &all); err != nil {
		line := 1
		if at, ok := err.(*toml.DecodeError); ok {
			line, _ = at.Position()
		}
		return nil, s, false, &settingsError{line, err.Error()}
	}
	servers, _ := all[serversTable].(map[string]any)
	one, found := servers[serverName].(map[string]any)
	s.Command, _ = one["command"].(string)
	args, _ := one["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		s.Args = append(s.Args, text)
	}
	return all, s, found, nil
}

func tableIn(text []byte) (server, bool, error) {
	_, s, found, err := decodeTable(text)
	return s, found && s.ours(), err
}

// addTable appends our table, or updates it in place.
func addTable(text []byte, want server) (out []byte, made []string, err error) {
	all, was, found, err := decodeTable(text)
	if err != nil {
		return nil, nil, err
	}
	if found && was.ours() {
		want = want.like(was)
	}
	lines := map[string]string{"command": "command = " + quoteTOML(want.Command), "args": "args = " + listTOML(want.Args)}
	switch {
	case found && !was.ours():
		return nil, nil, &settingsError{max(1, lineOf(text)), tableName + " is another server; reverie init --no-mcp leaves ours out"}
	case found && was.Command == want.Command && slices.Equal(was.Args, want.Args):
		return text, nil, nil
	case found:
		all := slices.Collect(strings.Lines(string(text)))
		for _, at := range ourTables(text, all) {
			for i, line := range all[at[0]:at[1]] {
				key, _, _ := strings.Cut(line, "=")
				if with, ok := lines[strings.TrimSpace(key)]; ok {
					all[at[0]+i] = with + line[len(strings.TrimRight(line, "\r\n")):]
				}
			}
		}
		out = []byte(strings.Join(all, ""))
	default:
		eol := "\n"
		if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
			eol = "\r\n"
		}
		out = slices.Clone(text)
		if len(out) > 0 && out[len(out)-1] != '\n' && !bytes.Equal(out, byteOrderMark) {
			out, made = append(out, eol...), append(made, madeNewline)
		}
		if len(bytes.TrimSpace(bytes.TrimPrefix(out, byteOrderMark))) > 0 {
			out, made = append(out, eol...), append(made, madeBlank)
		}
		out = append(out, strings.Join([]string{tableComment, "[" + tableName + "]", lines["command"], lines["args"], ""}, eol)...)
	}
	now, is, _, err := decodeTable(out)
	if err != nil || is.Command != want.Command || !slices.Equal(is.Args, want.Args) || !sameRest(all, now) {
		return nil, nil, &settingsError{max(1, lineOf(text)), tableName + " cannot be written here; reverie init --no-mcp leaves it out"}
	}
	return out, made, nil
}

// cutTable removes our tables, with the comment above, and the line ends in made.
func cutTable(text []byte, made []string) ([]byte, error) {
	all, was, found, err := decodeTable(text)
	if err != nil || !found || !was.ours() {
		return text, err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	for _, at := range slices.Backward(ourTables(text, lines)) {
		from, to := at[0], at[1]
		if from > 0 && strings.HasPrefix(lines[from-1], tableComment) {
			from--
			if from > 0 && slices.Contains(made, madeBlank) && strings.TrimSpace(lines[from-1]) == "" {
				from--
			}
		} else if from > 0 && strings.TrimSpace(lines[from-1]) == "" { // between two of our tables
			from--
		}
		lines = slices.Delete(lines, from, to)
	}
	out := []byte(strings.Join(lines, ""))
	if slices.Contains(made, madeNewline) {
		out = bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
	}
	now, _, still, err := decodeTable(out)
	if err != nil || still || !sameRest(all, now) {
		return nil, &settingsError{max(1, lineOf(text)), fmt.Sprintf("%s cannot be taken out without harm to the rest: take it out by hand", tableName)}
	}
	return out, nil
}

// sameRest reports whether two files differ only in our server.
func sameRest(a, b map[string]any) bool { return reflect.DeepEqual(without(a), without(b)) }

// without returns the values in a file without our server.
func without(all map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range all {
		if servers, ok := v.(map[string]any); ok && key == serversTable {
			rest := map[string]any{}
			for name, s := range servers {
				if name != serverName {
					rest[name] = s
				}
			}
			if len(rest) == 0 {
				continue
			}
			v = rest
		}
		out[key] = v
	}
	return out
}

// lineOf returns the line of our table, from 1, or 0.
func lineOf(text []byte) int {
	for _, st := range statements(text) {
		if st.ours() && len(st.head) == 2 {
			return st.line + 1
		}
	}
	return 0
}

// quoteTOML returns a text as a basic string of TOML.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func listTOML(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, quoteTOML(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
