package foreign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRules(t *testing.T) {
	long := strings.Repeat("It is a long story. ", 20)
	for _, c := range []struct {
		name, text string
		style      style
		want       []string // line kind text
	}{
		{"bullets, steps and boxes", "- Use tabs.\n* [x] Keep it small\n1. Run `make gen` first\n", instructions,
			[]string{"1 convention Use tabs.", "2 convention Keep it small", "3 convention Run `make gen` first"}},
		{"what a bullet goes on with", "Before a release:\n- **tag** it\n- Docs:\n  - build them\n", instructions,
			[]string{"2 convention Before a release: tag it", "4 fact Docs: build them"}},
		{"what explains a bullet", "- The cache is old\n  - it lies in tmp\n    - and in var\n- Never clear it\n", instructions,
			[]string{"1 fact The cache is old|- it lies in tmp|- and in var", "4 constraint Never clear it"}},
		{"few words have their heading", "# All\n- strict\n## Types\n- strict mode\n- one word more here\n", instructions,
			[]string{"2 fact strict", "4 fact Types: strict mode", "5 fact one word more here"}},
		{"rules in other languages", "Всегда используй pnpm. Это быстро.\n\nToujours utiliser pnpm.\n\nEin Satz.\n\n- Niemals `gen/` ändern\n", instructions,
			[]string{"1 convention Всегда используй pnpm. Это быстро.", "3 convention Toujours utiliser pnpm.", "7 constraint Niemals `gen/` ändern"}},
		{"a section's kind", "## Gotchas\n- always late\n## Constraints\n- no cgo\n## Decisions\n- Postgres it is\n## Commands\n- `make all` builds it\n", instructions,
			[]string{"2 failure Gotchas: always late", "4 constraint Constraints: no cgo", "6 decision Decisions: Postgres it is", "8 workflow `make all` builds it"}},
		{"paragraphs that give a rule", "This is a tool.\n\nYou must sign commits.\n\n提交前必须运行测试。\n\n" + long + "Never push. " + long + "\n", instructions,
			[]string{"3 constraint You must sign commits.", "5 constraint 提交前必须运行测试。", "7 constraint Never push."}},
		{"what is left out", "- [Contents](#contents)\n- https://example.org\n- ![x](y)\n- ---\n- Like this:\n\n```\n- code\n```\n\n    - indented\n\n| Never | x |\n|---|---|\n<!-- - hidden -->\n@AGENTS.md\n*(none yet)*\n" +
			"<!-- reverie:begin v1 -->\n- ours\n<!-- reverie:end -->\n", instructions, nil},
		{"each line of a plain file", "You are an expert.\nUse tabs.\nNever guess.\n", plain, []string{"2 convention Use tabs.", "3 constraint Never guess."}},
		{"a tool's own paragraphs and dates", "## 2026-01-31T15:04:05Z (session 1)\nThe API is v2 [truncated]\n", memory, []string{"2 fact The API is v2"}},
		{"a tool's own bullets", "Some words, always.\n## Facts\n- always on [2026-03-04]\n", bullets, []string{"3 fact Facts: always on"}},
		{"nothing private", "- Use tabs <private>and more</private>\n", instructions, []string{"1 convention Use tabs [private]"}},
	} {
		var got []string
		for _, i := range rules(c.text, "f", c.style) {
			got = append(got, fmt.Sprint(strings.TrimPrefix(i.At, "f:"), " ", i.Kind, " ", strings.ReplaceAll(i.Text, "\n", "|")))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("- a\n  - b\n\tc\n```\n", uint8(0))
	f.Add("---\nx: y\n---\n> q\n|t|\n===\n", uint8(2))
	f.Fuzz(func(t *testing.T, text string, s uint8) {
		lines := strings.Count(text, "\n") + 1
		for _, i := range rules(text, "f", style(s%4)) {
			var line int
			if _, err := fmt.Sscanf(i.At, "f:%d", &line); err != nil || line < 1 || line > lines || strings.TrimSpace(i.Text) == "" || i.Kind == "" {
				t.Fatalf("%+v of %d lines", i, lines)
			}
		}
		fact(text, "f")
	})
}

func TestFilesStayInTheirFolder(t *testing.T) {
	outside, top := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "a.md"), "- Use tabs\n")
	if err := os.Symlink(filepath.Join(outside, "a.md"), filepath.Join(top, "CLAUDE.md")); err != nil {
		t.Skip(err)
	}
	write(filepath.Join(top, "AGENTS.md"), "- Use spaces\n")
	if err := os.Symlink("AGENTS.md", filepath.Join(top, "GEMINI.md")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(top, ".cursorrules"), strings.Repeat("Use tabs\n", maxNotes/8))
	found, err := Read(context.Background(), "instructions", Query{Dirs: []string{top}})
	if err != nil || len(found.Items) != 1 || found.Items[0].Text != "Use spaces" || found.Bad != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	for _, tool := range Files {
		if _, err := Read(context.Background(), tool, Query{Dirs: []string{t.TempDir()}, Home: outside, Folder: func(string) string { return outside }}); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}
