package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// The Markdown form of memories has a heading per kind, and below it for each memory
//
// 	### [3f9a1c2b7d104e55] Use pnpm, never npm, in web/.
//
// 	- kind: "convention"
// 	- paths: ["web/**"]
//
// 	its body
//
// with the fields of Line and their values in JSON. Another text of a contested memory follows a
// heading "#### [or]". A backslash escapes a line of a body that looks like one of these headings.

const (
	markdownTitle = "# Memories"
	variantMark   = "#### [or] "
)

var (
	kindHeading   = pattern.New(`^\\*## (?:Constraints|Conventions|Decisions|Workflows|Failures|Patterns|Facts|Preferences|Notes) \(\d+\)$`)
	memoryHeading = pattern.New(`^\\*### \[[0-9a-f]{16}\] `)
	orHeading     = pattern.New(`^\\*#### \[or\] `)
	fieldLine     = pattern.New(`^- ([a-z]+): (.+)$`)
)

func isHeading(line string) bool {
	return kindHeading.MatchString(line) || memoryHeading.MatchString(line) || orHeading.MatchString(line)
}

// WriteMarkdown writes lines in the order of their kinds, and among those of a kind in theirs.
func WriteMarkdown(w io.Writer, lines []Line) error {
	var b bytes.Buffer
	b.WriteString(markdownTitle + "\n")
	for _, kind := range record.Kinds {
		of := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Kind != string(kind) })
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s%ss (%d)\n", strings.ToUpper(string(kind[:1])), kind[1:], len(of))
		for _, l := range of {
			if err := writeSection(&b, l); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeSection(b *bytes.Buffer, l Line) error {
	fmt.Fprintf(b, "\n### [%s] %s\n\n", l.ID, l.Text)
	texts := append([]Variant{{l.Text, l.Body}}, l.Variants...)
	l.ID, l.Text, l.Body, l.Variants = "", "", "", nil
	var fields bytes.Buffer
	enc := json.NewEncoder(&fields)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return err
	}
	dec := json.NewDecoder(&fields)
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if key != "text" {
			fmt.Fprintf(b, "- %s: %s\n", key, value)
		}
	}
	for i, t := range texts {
		if i > 0 {
			b.WriteString("\n" + variantMark + t.Text + "\n")
		}
		if t.Body == "" {
			continue
		}
		b.WriteByte('\n')
		for line := range strings.SplitSeq(t.Body, "\n") {
			if isHeading(line) {
				line = `\` + line
			}
			b.WriteString(line + "\n")
		}
	}
	return nil
}

// IsMarkdown reports whether text is output of WriteMarkdown.
func IsMarkdown(text string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	return strings.TrimSpace(first) == markdownTitle
}

// ReadMarkdown parses the output of WriteMarkdown. Each number is that of the heading's line.
func ReadMarkdown(text string) iter.Seq[Numbered] {
	return func(yield func(Numbered) bool) {
		var section []string
		at := 0
		flush := func() bool {
			lines := section
			section = nil
			return at == 0 || yield(readSection(lines, at))
		}
		n := 0
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
			n++
			switch {
			case strings.HasPrefix(line, "### ") && memoryHeading.MatchString(line):
				if !flush() {
					return
				}
				at = n
			case strings.HasPrefix(line, "## ") && kindHeading.MatchString(line):
				if !flush() {
					return
				}
				at = 0
				continue
			}
			if at > 0 {
				section = append(section, line)
			} else if s := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); s != "" && s != markdownTitle {
				if !yield(Numbered{N: n, Err: fmt.Errorf("%q stands outside of a memory", line)}) {
					return
				}
			}
		}
		flush()
	}
}

// readSection reads the lines of one memory, its heading first.
func readSection(lines []string, n int) Numbered {
	one := Numbered{N: n}
	id, text, _ := strings.Cut(strings.TrimPrefix(lines[0], "### ["), "] ")
	lines = lines[1:]
	object := []string{}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 {
		f := fieldLine.FindStringSubmatch(lines[0])
		if f == nil {
			break
		}
		object = append(object, fmt.Sprintf("%q:%s", f[1], f[2]))
		lines = lines[1:]
	}
	if one.Err = json.Unmarshal([]byte("{"+strings.Join(object, ",")+"}"), &one.Line); one.Err != nil {
		one.Err = fmt.Errorf("the fields below the heading: %w", one.Err)
		return one
	}
	one.ID, one.Text = id, text
	body, into := []string{}, &one.Body
	put := func() { *into = strings.Trim(strings.Join(body, "\n"), "\n") }
	for _, line := range lines {
		if strings.HasPrefix(line, variantMark) {
			put()
			one.Variants = append(one.Variants, Variant{Text: strings.TrimPrefix(line, variantMark)})
			body, into = nil, &one.Variants[len(one.Variants)-1].Body
			continue
		}
		if strings.HasPrefix(line, `\`) && isHeading(line) {
			line = line[1:]
		}
		body = append(body, line)
	}
	put()
	return one
}
