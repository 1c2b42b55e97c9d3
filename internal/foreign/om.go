package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/pattern"
)

var (
	omKind  = pattern.New(`^## (Convention|Decision|Context)s \(\d+\)$`)
	omEntry = pattern.New(`^### \[(\d+)\] - Created (\d{4}-\d{2}-\d{2})$`)
)

// omTitle begins the Markdown of OpenCode Manager's memory.
const omTitle = "# Memory Export"

// IsOM reports whether a file is an export of OpenCode Manager's memory, by its beginning.
func IsOM(text string) bool {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if first, _, _ := strings.Cut(text, "\n"); strings.TrimSpace(first) == omTitle {
		return true
	}
	if !strings.HasPrefix(text, "[") {
		return false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	for depth := 0; ; {
		t, err := dec.Token()
		switch d, isDelim := t.(json.Delim); {
		case err != nil:
			return false
		case isDelim && (d == '[' || d == '{'):
			depth++
		case isDelim:
			if depth--; depth < 2 { // the first object ends
				return false
			}
		case depth == 2 && t == "content":
			return true
		case depth == 2 && t == "text":
			return false
		}
	}
}

// OM reads an export of OpenCode Manager's memory: an array in JSON, or its Markdown. Any other
// file is one item. Its scopes are kinds; unknown kinds are kept. The error names the element, from
// 1.
func OM(text string) (Found, error) {
	var f Found
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return f, f.omJSON(text)
	}
	f.omMarkdown(text)
	return f, nil
}

func (f *Found) omJSON(text string) error {
	var all []struct {
		ID       json.RawMessage
		Scope    string
		Content  *string
		FilePath *string
		Created  float64 `json:"createdAt"`
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return fmt.Errorf("is not an array of OpenCode Manager's memories: %w", err)
	}
	var bad []error
	for n, m := range all {
		if m.Content == nil || strings.TrimSpace(*m.Content) == "" {
			bad = append(bad, fmt.Errorf("element %d: content: is empty", n+1))
			continue
		}
		item := Item{Key: strings.Trim(string(m.ID), `"`), Text: *m.Content, Kind: m.Scope, Created: milliseconds(m.Created)}
		if m.FilePath != nil && *m.FilePath != "" {
			item.Paths = []string{*m.FilePath}
		}
		f.add(item)
	}
	return errors.Join(bad...)
}

// omMarkdown recognises only the tool's own headings, so that other lines which begin with # stay
// in their text.
func (f *Found) omMarkdown(text string) {
	kind, open := "", (*Item)(nil)
	var lines, outside []string
	flush := func() {
		if open != nil {
			open.Text = strings.Join(lines, "\n")
			f.add(*open)
		}
		open, lines = nil, nil
	}
	structured := false
	for line := range strings.SplitSeq(text, "\n") {
		if m := omKind.FindStringSubmatch(line); m != nil {
			flush()
			kind, structured = strings.ToLower(m[1]), true
			continue
		}
		if m := omEntry.FindStringSubmatch(line); m != nil {
			flush()
			created, _ := time.Parse(time.DateOnly, m[2])
			open, structured = &Item{Key: m[1], Kind: kind, Created: created}, true
			continue
		}
		if open != nil {
			lines = append(lines, line)
		} else {
			outside = append(outside, line)
		}
	}
	flush()
	if !structured {
		f.add(Item{Text: strings.Join(outside, "\n"), Kind: "context"})
		return
	}
	preamble := []string{"", omTitle}
	rest := slices.DeleteFunc(outside, func(l string) bool {
		return slices.Contains(preamble, strings.TrimSpace(l)) || strings.HasPrefix(l, "Exported on ")
	})
	if len(rest) > 0 {
		f.add(Item{Key: "outside-" + strconv.Itoa(len(rest)), Text: strings.Join(rest, "\n"), Kind: "context"})
	}
}
