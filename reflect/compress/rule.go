package compress

import (
	"strings"
)

// A rule selects the kept lines of a kind of text. It applies beyond a number of lines or bytes,
// and keeps clearly less than that.
type rule struct {
	name       string
	over       int                     // lines
	bytes      int                     // of the whole text
	head, tail part                    // of the text
	tells      int                     // lines about a failure, besides the first and the last
	keys       int                     // lines that show the structure of the text
	key        func(line string) bool  // tells those
	mark       func(*rule, *selection) // instead of head, tail and keys
	free       bool                    // words about failures mean nothing in it
	terminal   bool                    // it is terminal output of programs
	tight      bool                    // it is a quarter of another
}

// part is a number of lines, but at most a number of bytes.
type part struct{ lines, bytes int }

// The rules. Each keeps fewer lines, including markers, than its threshold.
var (
	source = &rule{name: "read", over: 110, bytes: 16 << 10, head: part{50, 6 << 10}, tail: part{20, 2 << 10}, keys: 10, key: declares, free: true}
	run    = &rule{name: "run", over: 60, bytes: 10 << 10, head: part{5, 1 << 10}, tail: part{25, 4 << 10}, tells: 6, terminal: true}
	// fault is for the output of a failed command, far from a session's end.
	fault   = &rule{name: "fault", over: 24, bytes: 3 << 10, head: part{3, 600}, tail: part{5, 1000}, tells: 4, terminal: true}
	search  = &rule{name: "search", over: 60, bytes: 12 << 10, mark: byFile, free: true}
	list    = &rule{name: "list", over: 44, bytes: 8 << 10, head: part{30, 3 << 10}, tail: part{3, 400}, free: true}
	task    = &rule{name: "task", over: 60, bytes: 6 << 10, head: part{5, 1200}, tail: part{10, 2 << 10}, keys: 18, key: structures, tells: 3}
	skill   = &rule{name: "skill", over: 60, bytes: 6 << 10, head: part{10, 1200}, tail: part{10, 1200}, keys: 24, key: binds, free: true}
	generic = &rule{name: "generic", over: 60, bytes: 8 << 10, head: part{25, 3 << 10}, tail: part{15, 2 << 10}, tells: 4, terminal: true}
	records = &rule{name: "log", over: 60, bytes: 10 << 10, head: part{5, 1 << 10}, tail: part{15, 2 << 10}, tells: 10, terminal: true}
	diff    = &rule{name: "diff", over: 60, bytes: 6 << 10, mark: changes, free: true}
)

// quarter returns the rule with a quarter of every bound.
func (r *rule) quarter() *rule {
	q := *r
	q.over, q.bytes = r.over/4+4, r.bytes/4
	for _, p := range []*part{&q.head, &q.tail} {
		p.lines, p.bytes = (p.lines+3)/4, (p.bytes+3)/4
	}
	q.tells, q.keys, q.tight = r.tells/4, r.keys/4, true
	return &q
}

// shortenBy shortens a text by the rule that pick finds. It calls pick again for the result of the
// first pass, as a second call would.
func shortenBy(text string, pick func(text string) *rule) string {
	return shorten(text, mostLeft, func(lines []piece) []piece {
		whole := join(lines)
		r := pick(whole)
		if short := crush(lines, whole, r.tight); short != nil {
			return short
		}
		chosen := r.choose(lines)
		if r.tight {
			return cutLines(chosen, anyLong, r.terminal)
		}
		return cutLines(chosen, cuttingOf(chosen), r.terminal)
	})
}

// selection holds lines and marks those to keep.
type selection struct {
	lines  []piece
	keep   []bool
	folded []bool // dropped, because similar ones are kept
	scale  int    // 1, or 4 for a tighter limit
}

func (r *rule) choose(lines []piece) []piece {
	s := &selection{lines: lines, keep: make([]bool, len(lines)), folded: make([]bool, len(lines)), scale: 1}
	if r.tight {
		s.scale = 4
	}
	if r.terminal {
		s.fold()
	}
	size := 0
	for _, p := range lines {
		size += min(len(p.text), manyLong.most) + 1
	}
	switch {
	case len(lines) <= r.over && size <= r.bytes:
		for i := range s.keep {
			s.keep[i] = !s.folded[i]
		}
	case r.mark != nil:
		r.mark(r, s)
	default:
		s.first(r.head)
		s.last(r.tail)
		if r.key != nil {
			s.spread(r.keys, r.key)
		}
	}
	if !r.free {
		s.failures(r.tells)
	}
	return choose(lines, s.keep)
}

func (s *selection) first(p part) {
	for i := 0; i < len(s.lines) && p.lines > 0; i++ {
		if s.folded[i] {
			continue
		}
		if p.bytes -= min(len(s.lines[i].text), manyLong.most) + 1; p.bytes < 0 && i > 0 {
			return
		}
		s.keep[i] = true
		p.lines--
	}
}

func (s *selection) last(p part) {
	for i := len(s.lines) - 1; i >= 0 && p.lines > 0; i-- {
		if s.folded[i] {
			continue
		}
		if p.bytes -= min(len(s.lines[i].text), manyLong.most) + 1; p.bytes < 0 && i < len(s.lines)-1 {
			return
		}
		s.keep[i] = true
		p.lines--
	}
}

// spread keeps n of the lines that satisfy is, spread over the text.
func (s *selection) spread(n int, is func(string) bool) {
	var at []int
	for i, p := range s.lines {
		if !s.keep[i] && !s.folded[i] && is(p.text) {
			at = append(at, i)
		}
	}
	for k := range min(n, len(at)) {
		s.keep[at[k*len(at)/min(n, len(at))]] = true
	}
}

// failures keeps the first and the last telling line, the last with an exit code, and n distinct
// others, each with the line below that belongs to it.
func (s *selection) failures(n int) {
	var strong, weak []int
	exit := -1
	for i, p := range s.lines {
		switch tells(p.text) {
		case 2:
			strong = append(strong, i)
		case 1:
			weak = append(weak, i)
		}
		if exits(p.text) {
			exit = i
		}
	}
	if exit >= 0 {
		s.keep[exit] = true
	}
	if len(strong) == 0 {
		strong, weak = weak, nil
	}
	if len(strong) == 0 {
		return
	}
	stays := func(i int) {
		s.keep[i] = true
		if below := i + 1; below < len(s.lines) && !s.folded[below] && indent(s.lines[below].text) > indent(s.lines[i].text) {
			s.keep[below] = true
		}
	}
	first, last := strong[0], strong[len(strong)-1]
	stays(first)
	stays(last)
	known := map[uint64]bool{shape(s.lines[first].text): true, shape(s.lines[last].text): true}
	for _, i := range append(strong, weak...) {
		if h := shape(s.lines[i].text); n > 0 && !known[h] && !s.folded[i] {
			known[h] = true
			stays(i)
			n--
		}
	}
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// Limits of consecutive similar lines, and of consecutive stack frames.
const (
	maxAlike  = 3
	maxFrames = 8
)

// fold marks repetitions: it keeps the first and last line of one shape, and the ends of a stack.
func (s *selection) fold() {
	for i := 0; i < len(s.lines); {
		h, end := shape(s.lines[i].text), i+1
		for end < len(s.lines) && shape(s.lines[end].text) == h {
			end++
		}
		if end-i > maxAlike {
			for k := i + 1; k < end-1; k++ {
				s.folded[k] = true
			}
		}
		i = end
	}
	for i := 0; i < len(s.lines); {
		end := i
		for end < len(s.lines) && isFrame(s.lines[end].text) {
			end++
		}
		if end-i > maxFrames {
			for k := i + maxFrames/2; k < end-2; k++ {
				s.folded[k] = true
			}
		}
		i = max(end, i+1)
	}
}

// isFrame reports whether a line belongs to a program's stack trace: Java, JavaScript, Python, Go.
func isFrame(s string) bool {
	t := strings.TrimLeft(s, " \t")
	if len(t) == len(s) {
		return false
	}
	return strings.HasPrefix(t, "at ") || strings.HasPrefix(t, `File "`) || s[0] == '\t' && strings.HasPrefix(t, "/") && strings.Contains(t, ".go:")
}

// unnumbered removes the line number that a file reader puts before a line.
func unnumbered(s string) string {
	t := strings.TrimLeft(s, " ")
	n := 0
	for n < len(t) && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n == 0 {
		return s
	}
	for _, sep := range []string{"→", "\t", "| ", ": "} {
		if rest, ok := strings.CutPrefix(t[n:], sep); ok {
			return rest
		}
	}
	return s
}

// declaring lists words that begin a declaration, separated by |.
const declaring = "func |type |class |def |async def |interface |struct |enum |trait |impl |fn |pub |export |public |module |package |namespace |create table |# |## |### "

// declares reports whether a line of code declares something, or is a heading.
func declares(s string) bool {
	s = unnumbered(s)
	for d := range strings.SplitSeq(declaring, "|") {
		if hasFold(s, d) {
			return true
		}
	}
	return false
}

// structures reports whether a line is part of a report's outline, or weighs.
func structures(s string) bool {
	t := strings.TrimLeft(s, " \t>")
	return strings.HasPrefix(t, "#") || strings.HasPrefix(t, "```") || strings.HasPrefix(t, "**") || weighty.find(t) >= 0
}

// binds is structures for instructions.
func binds(s string) bool {
	t := strings.TrimLeft(s, " \t>*-")
	return strings.HasPrefix(t, "#") || strings.HasPrefix(t, "name:") || strings.HasPrefix(t, "description:") || weighty.find(t) >= 0
}

// Limits of the matches of one file and their lines, and of further files named by their first
// match.
const (
	perFile  = 5
	maxFinds = 20
	maxFiles = 30 // lines altogether
)

// byFile keeps some matches of each file, by the text before the line number.
func byFile(_ *rule, s *selection) {
	seen := map[string]int{}
	kept := 0
	for i, p := range s.lines {
		name := foundIn(p.text)
		seen[name]++
		if n := seen[name]; n == 1 && kept < maxFiles/s.scale || n <= perFile && kept < maxFinds/s.scale {
			s.keep[i] = true
			kept++
		}
	}
	s.last(part{1, manyLong.most}) // a count, as a rule
}

// foundIn returns the file that a line of a search names, or "".
func foundIn(s string) string {
	for at := 0; ; at++ {
		n := strings.IndexAny(s[at:], ":-")
		if n < 0 || at+n > manyLong.most {
			return ""
		}
		at += n
		end := at + 1
		for end < len(s) && end-at < 9 && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if end > at+1 && end < len(s) && s[end] == s[at] {
			return s[:at]
		}
	}
}

// Limits of the changed lines of one hunk, from its beginning and its end, and of the whole.
const (
	hunkHead   = 12
	hunkTail   = 3
	maxChanged = 120
	maxHeads   = 80 // headings, and then half as many names of further files
)

// changes keeps the preamble of a diff (author and reason), its headings and changed lines, but not
// the context.
func changes(_ *rule, s *selection) {
	var hunk []int
	total, heads, named, within := 0, 0, 0, false
	done := func() {
		for k, i := range hunk {
			if total < maxChanged/s.scale && (k < hunkHead/s.scale || k >= len(hunk)-hunkTail) {
				s.keep[i] = true
				total++
			}
		}
		hunk = hunk[:0]
	}
	for i, p := range s.lines {
		switch t := p.text; {
		case strings.HasPrefix(t, "diff ") || strings.HasPrefix(t, "--- ") || strings.HasPrefix(t, "+++ ") || strings.HasPrefix(t, "@@ ") ||
			strings.HasPrefix(t, "rename ") || strings.HasPrefix(t, "commit ") || strings.HasPrefix(t, "*** "):
			done()
			within = strings.HasPrefix(t, "@@ ") || within && !strings.HasPrefix(t, "commit ") && !strings.HasPrefix(t, "diff ")
			heads++
			s.keep[i] = heads <= maxHeads/s.scale && total < maxChanged/s.scale
			if strings.HasPrefix(t, "diff ") && named < maxHeads/2/s.scale {
				s.keep[i] = true
				named++
			}
		case strings.HasPrefix(t, "+") || strings.HasPrefix(t, "-"):
			hunk = append(hunk, i)
		case !within && heads < maxHeads/s.scale:
			s.keep[i] = true
			heads++
		}
	}
	done()
	s.first(part{3, 600})
	s.last(part{3, 600})
}
