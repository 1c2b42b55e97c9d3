package cmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// Every link between the documents leads to an existing file, and to a heading in it.
func TestLinksOfTheDocuments(t *testing.T) {
	names := []string{"../README.md", "../CHANGELOG.md", "../CONTRIBUTING.md", "../gitstore/FORMAT.md"}
	err := filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	seen := 0
	for _, name := range names {
		for _, found := range link.FindAllStringSubmatch(prose(t, name), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			seen++
			file, anchor, _ := strings.Cut(found[1], "#")
			to := name
			if file != "" {
				to = filepath.Join(filepath.Dir(name), filepath.FromSlash(file))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s: %v", name, found[1], err)
			} else if anchor != "" && !headings(prose(t, to))[anchor] {
				t.Errorf("%s: %s: no such heading", name, found[1])
			}
		}
	}
	if seen < 20 {
		t.Fatalf("only %d links were found", seen)
	}
}

// prose returns a document without indented and fenced code.
func prose(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// headings are the names that a forge gives to the headings of a document.
func headings(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !is || !strings.HasPrefix(line, "#") {
			continue
		}
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))] = true
	}
	return all
}
