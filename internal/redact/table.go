package redact

import "strings"

// Bounds of a table, in bytes: of its header, of all of it, and how many rows and columns are read.
const (
	maxHeader  = 2 << 10
	maxTable   = 64 << 10
	maxRows    = 1000
	maxColumns = 64
	maxRead    = 4
)

// columns looks for the values of the column that a name heads: in CSV, TSV, Markdown, the output
// of psql and mysql, COPY and INSERT. It reports whether the name heads one.
func (s *scan) columns(n name) bool {
	again := n.start < s.head.end // another column of the same header
	if n.strength < soft || n.flag || again && s.head.read >= maxRead || !again && n.start < s.table {
		return false
	}
	text := s.text
	from, to := n.start, n.end
	for from > 0 && n.start-from < 80 && isOneOf(text[from-1], " `\"'*[") {
		from--
	}
	words := from // of a heading of several
	for from < n.start && text[from] == ' ' && words > 0 && n.start-words < 80 && (text[words-1] == ' ' || kind[text[words-1]] == kLower || kind[text[words-1]] == kUpper) {
		words--
	}
	if words < from && (words == 0 || isOneOf(text[words-1], "\n,|")) {
		from = words
	}
	for to < len(text) && to-n.end < 80 && isOneOf(text[to], " `\"'*]\r") {
		to++
	}
	before, behind := byte('\n'), byte('\n')
	if from > 0 {
		before = text[from-1]
	}
	if to < len(text) {
		behind = text[to]
	}
	if isOneOf(before, "(,") && isOneOf(behind, "),") && s.tuples(n, from) {
		return true
	}
	delim := before
	if before == '\n' {
		delim = behind
	}
	if delim == '\t' && n.end-n.start == len("pass") {
		return false // the output of go test
	}
	if !isOneOf(delim, ",\t|;") || behind != delim && behind != '\n' || before != delim && before != '\n' {
		return false
	}
	return s.rows(n, delim)
}

// rows examines the cells below the name in a table of lines.
func (s *scan) rows(n name, delim byte) bool {
	text := s.text
	if n.start >= s.head.end {
		low := max(0, n.start-maxHeader)
		end := lineEnd(text, n.end, maxHeader)
		s.head = header{start: low + strings.LastIndexByte(text[low:n.start], '\n') + 1, end: end, read: maxRead}
		if end < 0 {
			s.head.end = n.end + maxHeader // as far as the line is known
		}
		if end < 0 || end == len(text) || s.head.start == low && low > 0 {
			return false
		}
		s.head.read = 0
	}
	first, end := s.head.start, s.head.end
	s.head.read++
	line := strings.TrimRight(text[first:end], " \r")
	if isOneOf(delim, ",;") && (strings.ContainsAny(line, "(){}[]=<>") || strings.HasSuffix(line, string(delim))) {
		return false // code
	}
	width, column := 0, 0
	eachCell(line, delim, func(from, to int) {
		if first+from <= n.start && n.end <= first+to {
			column = width
		}
		width++
	})
	if width > maxColumns || width < 2 {
		return false
	}
	seen := 0
	for at, rows := end+1, 0; at < len(text) && at < end+maxTable && rows < maxRows; rows++ {
		end := lineEnd(text, at, maxHeader)
		if end < 0 {
			break
		}
		line := text[at:end]
		if strings.Trim(line, "-+|:= \t\r") == "" && line != "" {
			at = end + 1
			continue
		}
		cells, cell := 0, span{}
		eachCell(line, delim, func(from, to int) {
			if cells == column {
				cell = span{at + from, at + to, ruleAssignment}
			}
			cells++
		})
		if cells != width {
			break
		}
		seen++
		if s.isCell(cell, n) {
			s.note(cell)
		}
		at = end + 1
		s.table = max(s.table, at)
	}
	return seen > 0
}

// isCell reports whether a cell below a name holds a secret.
func (s *scan) isCell(cell span, n name) bool {
	v := s.text[cell.start:cell.end]
	return v != "" && strings.IndexByte(v, ' ') < 0 && (formatOf(v) != "" || secretValue(v, n.strength, quoted) && !(n.strength < hard && !shapeOf(v).random()))
}

// lineEnd returns the end of the line that text[at] is in, or -1 if it is longer than most.
func lineEnd(text string, at, most int) int {
	i := strings.IndexByte(text[at:min(len(text), at+most)], '\n')
	switch {
	case i >= 0:
		return at + i
	case len(text)-at < most:
		return len(text)
	}
	return -1
}

// eachCell calls do with the position of each cell of a line, without surrounding blanks and
// quotes. A delimiter in double quotes does not count. The empty ends of a line that begins and
// ends with | are cells too.
func eachCell(line string, delim byte, do func(from, to int)) {
	start, open := 0, false
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] == '"' && delim != '|' {
			open = !open
		}
		if i < len(line) && (line[i] != delim || open) {
			continue
		}
		from, to := start, i
		for from < to && isOneOf(line[from], " \t\r`\"'*") {
			from++
		}
		for to > from && isOneOf(line[to-1], " \t\r`\"'*") {
			to--
		}
		do(from, to)
		start = i + 1
	}
}

// tuples looks for the values of a column in INSERT INTO t (…, name, …) VALUES (…), (…) and in COPY
// t (…) FROM stdin.
func (s *scan) tuples(n name, from int) bool {
	text := s.text
	shut := strings.IndexByte(text[n.end:min(len(text), n.end+1024)], ')')
	if shut < 0 {
		return false
	}
	at := n.end + shut + 1
	for at < len(text) && at < n.end+1100 && kind[text[at]] == kSpace {
		at++
	}
	open := strings.LastIndexByte(text[max(0, from-1024):from], '(')
	if open < 0 {
		return false
	}
	open += max(0, from-1024) + 1
	column := strings.Count(text[open:n.start], ",")
	switch rest := text[at:]; {
	case len(rest) > 6 && strings.EqualFold(rest[:6], "values"):
		return s.values(n, at+6, column)
	case len(rest) > 10 && strings.EqualFold(rest[:10], "from stdin"):
		if end := lineEnd(text, at, 200); end > 0 {
			return s.copied(n, end+1, column)
		}
	}
	return false
}

// values looks at one item of each tuple.
func (s *scan) values(n name, at, column int) bool {
	text, end := s.text, min(len(s.text), at+maxTable)
	for rows := 0; at < end && rows < maxRows; rows++ {
		for at < end && (kind[text[at]] == kSpace || text[at] == ',') {
			at++
		}
		if at >= end || text[at] != '(' {
			break
		}
		for item, depth := 0, 0; at < end; at++ {
			c := text[at]
			if c == '\'' || c == '"' || c == '\\' && at+1 < end && isOneOf(text[at+1], `"'`) {
				from, to, ok := quotedAt(text, at)
				if !ok {
					return rows > 0
				}
				if cell := (span{from, to, ruleAssignment}); item == column && depth == 1 && s.isCell(cell, n) {
					s.note(cell)
				}
				at = to + strings.IndexByte(text[to:], text[from-1])
				continue
			}
			if c == '(' {
				depth++
			}
			if c == ',' && depth == 1 {
				item++
			}
			if c == ')' {
				if depth--; depth == 0 {
					at++
					break
				}
			}
		}
		s.table = max(s.table, at)
	}
	return true
}

// copied looks at one column of the rows that COPY reads, with tabs between the cells.
func (s *scan) copied(n name, at, column int) bool {
	for stop := at + maxTable; at < len(s.text) && at < stop; {
		end := lineEnd(s.text, at, maxHeader)
		if end < 0 || strings.HasPrefix(s.text[at:], `\.`) {
			break
		}
		cells := 0
		eachCell(s.text[at:end], '\t', func(from, to int) {
			if cell := (span{at + from, at + to, ruleAssignment}); cells == column && s.isCell(cell, n) {
				s.note(cell)
			}
			cells++
		})
		at = end + 1
		s.table = max(s.table, at)
	}
	return true
}
