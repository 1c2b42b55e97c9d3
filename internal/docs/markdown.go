// Package docs reads statements that are already written down: the units of a Markdown text, and
// the documents and task runners of a repository.
//
// Markdown splits a text into units. Read collects a work tree's documents; Tree.Says then names
// the places that already make a statement. All input is bounded. A Tree is safe for concurrent use
// as long as no goroutine calls Says.
package docs

import (
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Form is the shape of a unit in its text.
type Form uint8

const (
	Paragraph Form = iota
	Bullet
	Code  // one line of a code block
	Table // one row
)

// Unit is one bullet, paragraph, row of a table or line of code.
type Unit struct {
	Line     int // from 1
	Form     Form
	Text     string   // on one line, with Markdown inside
	Headings []string // above it, the outermost first
	Level    int      // of the last heading
	// its enclosing bullet, or the paragraph before its list if that ends with a colon
	Under string
	In    int // the line of its enclosing bullet; 0 for none
	Block int // numbers code blocks from 1, to group their lines
}

// MaxText bounds a unit, in bytes; further lines are dropped.
const MaxText = 16 << 10

// Text is a parsed Markdown text.
type Text struct {
	Front map[string]string // keys of the front matter, nested ones too, with their values
	Units []Unit
}

var (
	fenceLine   = pattern.New("^ {0,3}(`{3,}|~{3,})")
	headingLine = pattern.New(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	ruleLine    = pattern.New(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$`)
	bulletLine  = pattern.New(`^([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$`)
	frontLine   = pattern.New(`^[ \t]*([A-Za-z][\w-]*):[ \t]*(.*)$`)
	frontItem   = pattern.New(`^[ \t]*-[ \t]+(.*)$`)
	htmlLine    = pattern.New(`^[ \t]*(?:</?[A-Za-z][^<>]*>[ \t]*)+$`)
	image       = pattern.New(`\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?|\[!\[[^\]]*\]\[[^\]]*\]\](?:\[[^\]]*\]|\([^)]*\))?`)
	ours        = pattern.New(`^\s*<!--\s*reverie:(begin\b|end\s*-->)`)
)

// Markdown parses a text. It skips front matter, comments, images, lines of only tags, and the
// block that Reverie itself keeps in a file.
func Markdown(text string) Text {
	r := reader{front: map[string]string{}}
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for n := r.readFront(lines); n < len(lines); n++ {
		r.line(n+1, lines[n])
	}
	r.flush()
	return Text{r.front, r.units}
}

// reader is the state of one Markdown.
type reader struct {
	front    map[string]string
	units    []Unit
	open     Unit // the bullet or paragraph that may go on; without a line, no unit is open
	headings []heading
	bullets  []bullet // the open bullets, outermost first, including the current one
	fence    string
	lead     string // the paragraph before, if it ends with a colon
	block    int
	blank    bool // the line before was
	comment  bool
	ours     bool // inside the block of Reverie's own
}

type heading struct {
	level int
	text  string
}

type bullet struct {
	line, indent int
	text         string
}

// readFront reads front matter and returns its number of lines.
func (r *reader) readFront(lines []string) int {
	if len(lines) == 0 || strings.TrimRight(lines[0], " \t") != "---" {
		return 0
	}
	for n, key := 1, ""; n < len(lines); n++ {
		line := strings.TrimRight(lines[n], " \t")
		if line == "---" || line == "..." {
			return n + 1
		}
		if m := frontLine.FindStringSubmatch(line); m != nil {
			key = m[1]
			r.front[key] = strings.Trim(m[2], `"'`)
		} else if m := frontItem.FindStringSubmatch(line); m != nil && key != "" {
			if value := r.front[key]; len(value) < maxFront {
				r.front[key] = strings.TrimPrefix(value+","+strings.Trim(m[1], `"'`), ",")
			}
		}
	}
	clear(r.front)
	return 0 // it never ends: a rule, and text
}

// line takes one line, numbered from 1.
func (r *reader) line(n int, line string) {
	blank := r.blank
	r.blank = strings.TrimSpace(line) == ""
	if r.fence != "" {
		if m := fenceLine.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], r.fence) && strings.TrimSpace(line) == m[1] {
			r.fence = ""
		} else if !r.ours && !r.blank {
			r.add(Unit{Line: n, Form: Code, Text: strings.TrimSpace(line), Block: r.block})
		}
		return
	}
	if line = r.visible(line); r.ours || r.comment && strings.TrimSpace(line) == "" {
		return
	}
	trimmed := strings.TrimSpace(line)
	indent := indentOf(line)
	if m := fenceLine.FindStringSubmatch(trimmed); m != nil {
		r.flush()
		if r.fence = m[1]; indent == 0 {
			r.bullets = nil
		}
		r.block++
		return
	}
	m := bulletLine.FindStringSubmatch(line)
	inList := len(r.bullets) > 0
	switch {
	case trimmed == "" && !r.blank: // nothing was visible in it
		r.flush()
	case trimmed == "":
		if r.open.Form == Paragraph {
			r.flush()
		}
	case ruleLine.MatchString(line) && r.open.Line > 0 && r.open.Form == Paragraph && !blank && !strings.ContainsAny(trimmed, " *_"):
		text := r.open.Text // of a heading that is underlined
		r.open = Unit{}
		r.under(map[bool]int{true: 1, false: 2}[trimmed[0] == '='], text)
	case ruleLine.MatchString(line):
		r.flush()
		r.bullets = nil
	case headingLine.MatchString(line):
		m := headingLine.FindStringSubmatch(line)
		r.flush()
		r.under(len(m[1]), m[2])
	case m != nil && m[2] == "": // it had only an image
		r.flush()
	case m != nil && (inList || len(m[1]) < 4):
		r.bullet(n, indentOf(line), m[2])
	case strings.HasPrefix(trimmed, "|"):
		r.flush()
		if strings.Trim(trimmed, "|-: \t") != "" {
			r.add(Unit{Line: n, Form: Table, Text: trimmed})
		}
	case indent >= 4 && !inList && r.open.Line == 0:
		if blank || len(r.units) == 0 || r.units[len(r.units)-1].Form != Code {
			r.block++
		}
		r.add(Unit{Line: n, Form: Code, Text: trimmed, Block: r.block})
	case r.open.Line > 0 && (!blank || inList && indent > r.bullets[len(r.bullets)-1].indent):
		if len(r.open.Text) < MaxText {
			r.open.Text = strings.TrimSpace(r.open.Text + " " + quoted(trimmed))
		}
	default:
		r.flush()
		if indent == 0 {
			r.bullets = nil
		}
		r.open = Unit{Line: n, Text: quoted(trimmed)}
	}
}

// visible returns a line without comments, images and lines of only tags.
func (r *reader) visible(line string) string {
	if m := ours.FindStringSubmatch(line); m != nil && !r.comment {
		r.flush()
		r.ours = strings.HasPrefix(m[1], "begin")
		return ""
	}
	if r.ours {
		return ""
	}
	var out strings.Builder
	for line != "" {
		mark := "<!--"
		if r.comment {
			mark = "-->"
		}
		before, after, found := strings.Cut(line, mark)
		if !r.comment {
			out.WriteString(before)
		}
		if !found {
			break
		}
		r.comment, line = !r.comment, after
	}
	line = image.ReplaceAllString(out.String(), "")
	if htmlLine.MatchString(line) {
		return ""
	}
	return line
}

// bullet begins a bullet.
func (r *reader) bullet(n, indent int, text string) {
	r.flush()
	for len(r.bullets) > 0 && r.bullets[len(r.bullets)-1].indent >= indent {
		r.bullets = r.bullets[:len(r.bullets)-1]
	}
	r.open = Unit{Line: n, Form: Bullet, Text: strings.TrimSpace(text)}
	if len(r.bullets) > 0 {
		above := r.bullets[len(r.bullets)-1]
		r.open.In = above.line
		r.open.Under = leadOf(above.text)
	} else {
		r.open.Under = r.lead
	}
	r.bullets = append(r.bullets, bullet{line: n, indent: indent})
}

// maxFront bounds a value of the front matter that is given as a list, in bytes.
const maxFront = 4096

// maxLead bounds a text that introduces a list, and a heading that counts for the text below it, in
// bytes.
const maxLead = 500

// leadOf returns a text that introduces a list, or "".
func leadOf(text string) string {
	if lead, ok := strings.CutSuffix(text, ":"); ok && len(lead) <= maxLead {
		return lead
	}
	return ""
}

// under begins the text below a heading.
func (r *reader) under(level int, text string) {
	for len(r.headings) > 0 && r.headings[len(r.headings)-1].level >= level {
		r.headings = r.headings[:len(r.headings)-1]
	}
	r.headings = append(r.headings, heading{level, strings.TrimSpace(text)})
	r.bullets, r.lead = nil, ""
}

// flush ends the open bullet or paragraph.
func (r *reader) flush() {
	if u := r.open; u.Line > 0 && u.Text != "" {
		switch {
		case u.Form == Bullet && len(r.bullets) > 0:
			r.bullets[len(r.bullets)-1].text = u.Text
		case u.Form == Paragraph:
			r.lead = leadOf(u.Text)
		}
		r.add(u)
	}
	r.open = Unit{}
}

func (r *reader) add(u Unit) {
	for _, h := range r.headings {
		u.Headings, u.Level = append(u.Headings, h.text), h.level
	}
	r.units = append(r.units, u)
}

// indentOf returns the width of the white space before a line; a tab counts as four.
func indentOf(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// quoted returns a line of a quotation without its mark.
func quoted(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> ")) }
