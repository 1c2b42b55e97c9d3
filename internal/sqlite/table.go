package sqlite

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// object is a row of the schema.
type object struct {
	kind, name, table string
	root              uint32
	sql               string
}

// Table is a table of a snapshot.
type Table struct {
	Columns []string
	s       *Snapshot
	root    uint32
	rowid   int // the column that is an alias of the rowid, or -1
	indexes []index
}

type index struct {
	column string // the first
	root   uint32
}

// Row is a row; columns added after it was written are null.
type Row struct {
	t      *Table
	id     int64
	values []Value
}

// Get returns the value of a column, or null if the column does not exist.
func (r Row) Get(column string) Value {
	for i, name := range r.t.Columns {
		if name != column {
			continue
		}
		if i == r.t.rowid {
			return Value{kind: 'i', num: r.id}
		}
		if i < len(r.values) {
			return r.values[i]
		}
	}
	return Value{kind: 'n'}
}

// ID returns the rowid.
func (r Row) ID() int64 { return r.id }

// Row returns the row with that rowid, and whether it exists.
func (t *Table) Row(id int64) (Row, bool, error) {
	payload, err := t.s.find(t.root, id)
	if err != nil || payload == nil {
		return Row{}, false, err
	}
	values, err := record(payload)
	if err != nil {
		return Row{}, false, fmt.Errorf("%s: %w", t.s.path, err)
	}
	return Row{t, id, values}, true, nil
}

func (s *Snapshot) schema() ([]object, error) {
	if s.objects != nil {
		return s.objects, nil
	}
	all := []object{}
	s.visits = 0
	err := s.walk(1, 0, func(_ int64, row []byte) error {
		v, err := record(row)
		if err != nil || len(v) < 5 {
			return s.damaged("the schema cannot be read")
		}
		all = append(all, object{v[0].Text(), v[1].Text(), v[2].Text(), uint32(v[3].Int()), v[4].Text()})
		return nil
	})
	if err == nil {
		s.objects = all
	}
	return all, err
}

// Table returns the table of a name.
func (s *Snapshot) Table(name string) (*Table, error) {
	all, err := s.schema()
	if err != nil {
		return nil, err
	}
	var t *Table
	for _, o := range all {
		if o.kind == "table" && o.name == name {
			columns, rowid, err := parseTable(o.sql)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", name, err)
			}
			t = &Table{Columns: columns, s: s, root: o.root, rowid: rowid}
		}
	}
	if t == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoTable, name)
	}
	for _, o := range all {
		if column := parseIndex(o.sql); o.kind == "index" && o.table == name && column != "" {
			t.indexes = append(t.indexes, index{column, o.root})
		}
	}
	return t, nil
}

// Scan calls fn for every row.
func (t *Table) Scan(fn func(Row) error) error {
	t.s.visits = 0
	return t.s.walk(t.root, 0, func(id int64, payload []byte) error {
		values, err := record(payload)
		if err != nil {
			return fmt.Errorf("%s: %w", t.s.path, err)
		}
		return fn(Row{t, id, values})
	})
}

// Where calls fn for every row with that text in a column, by an index if one exists.
func (t *Table) Where(column, text string, fn func(Row) error) error {
	for _, i := range t.indexes {
		if i.column != column {
			continue
		}
		t.s.visits = 0
		return t.s.equal(i.root, text, 0, func(id int64) error {
			row, found, err := t.Row(id)
			if err != nil {
				return err
			}
			if !found {
				return t.s.damaged("an index names a row that is not there")
			}
			return fn(row)
		})
	}
	return t.Scan(func(r Row) error {
		if v := r.Get(column); v.kind != 't' || string(v.data) != text {
			return nil
		}
		return fn(r)
	})
}

var (
	rowidColumn = pattern.New(`(?i)^\S+\s+integer\s.*\bprimary\s+key\b`)
	generated   = pattern.New(`(?i)\bgenerated\s+always\b|\bas\s*\(`)
)

// parseTable finds the columns in the CREATE statement of a table.
func parseTable(sql string) (columns []string, rowid int, err error) {
	parts, after, ok := parts(sql)
	if !ok {
		return nil, -1, fmt.Errorf("%w: %.60s", ErrUnknown, sql)
	}
	if strings.Contains(strings.ToLower(after), "without") {
		return nil, -1, fmt.Errorf("%w: a table without rowid", ErrUnknown)
	}
	rowid = -1
	for _, p := range parts {
		name, quoted := word(p)
		switch strings.ToLower(name) {
		case "constraint", "primary", "unique", "check", "foreign":
			if !quoted {
				continue
			}
		}
		if generated.MatchString(p) {
			return nil, -1, fmt.Errorf("%w: a computed column", ErrUnknown)
		}
		if rowidColumn.MatchString(p) {
			rowid = len(columns)
		}
		columns = append(columns, name)
	}
	return columns, rowid, nil
}

var indexHeadWords = pattern.New(`(?is)^\s*create\s+(unique\s+)?index\b`)

// parseIndex finds the first column of an index in its CREATE statement. It returns "" for an index
// that cannot be searched by comparing bytes, or does not hold every row.
func parseIndex(sql string) string {
	parts, after, ok := parts(sql)
	if !ok || !indexHeadWords.MatchString(sql) || strings.TrimSpace(after) != "" {
		return ""
	}
	name, _ := word(parts[0])
	if rest := strings.TrimSpace(parts[0]); len(rest) > len(name)+2 || strings.ContainsAny(name, "( ") {
		return "" // an expression, an order or a collation
	}
	return name
}

// parts splits the text between the outermost brackets of a statement at its commas.
func parts(sql string) (out []string, after string, ok bool) {
	depth, from := 0, 0
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; c {
		case '\'', '"', '`', '[':
			if c == '[' {
				c = ']'
			}
			end := strings.IndexByte(sql[i+1:], c)
			if end < 0 {
				return nil, "", false
			}
			i += 1 + end
		case '-':
			if strings.HasPrefix(sql[i:], "--") {
				return nil, "", false // a comment
			}
		case '/':
			if strings.HasPrefix(sql[i:], "/*") {
				return nil, "", false
			}
		case '(':
			if depth++; depth == 1 {
				from = i + 1
			}
		case ',':
			if depth == 1 {
				out = append(out, strings.TrimSpace(sql[from:i]))
				from = i + 1
			}
		case ')':
			if depth--; depth == 0 {
				return append(out, strings.TrimSpace(sql[from:i])), sql[i+1:], true
			}
		}
	}
	return nil, "", false
}

// word returns the name at the start of a definition.
func word(s string) (name string, quoted bool) {
	if s == "" {
		return "", false
	}
	closing := map[byte]byte{'`': '`', '"': '"', '[': ']', '\'': '\''}[s[0]]
	if closing != 0 {
		if end := strings.IndexByte(s[1:], closing); end >= 0 {
			return s[1 : 1+end], true
		}
	}
	if end := strings.IndexAny(s, " \t\r\n("); end >= 0 {
		return s[:end], false
	}
	return s, false
}
