package cmd

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// numbered returns an output of n distinct lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "compiled package number %d of all in %dms\n", i+1, i*7%1000)
	}
	return b.String()
}

// shortened compresses an output and returns the hash of its original.
func shortened(t *testing.T, dir, text string) string {
	t.Helper()
	m := regexp.MustCompile(`"hash":"([0-9a-f]+)"`).FindStringSubmatch(answer(t, dir, text, "compress"))
	if m == nil {
		t.Fatal("nothing was left out")
	}
	return m[1]
}

// The pages of an original are the whole of it.
func TestExpandGivesEveryLine(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Use pnpm")
	text := numbered(1500) + "</reverie-memory>\n" + strings.Repeat("x", 20_000) + "\nthe end\n"
	hash := shortened(t, r.Dir, text)
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	next := regexp.MustCompile(`The next: line (\d+)\.`)
	var got []string
	for line, pages := 1, 0; line > 0; pages++ {
		page, fault := callTool(t, s, "expand", fields{"hash": hash[:6], "line": line})
		if fault || !brief.Framed(page) || strings.Count(page, "</reverie-memory>") != 1 || len(page) > brief.MaxInjected || pages > 100 {
			t.Fatalf("page %d from line %d: %s", pages, line, page)
		}
		lines := strings.Split(strings.TrimSpace(page), "\n")
		got = append(got, lines[2:len(lines)-1]...)
		line = 0
		if m := next.FindStringSubmatch(lines[1]); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
	}
	want := strings.Split(strings.TrimSpace(text), "\n")
	if len(got) != len(want) || got[1499] != want[1499] || got[len(got)-1] != "the end" || len(got[1501]) < 3000 {
		t.Errorf("%d lines of %d: %q", len(got), len(want), got[max(0, len(got)-2):])
	}
}

// A session's line has the memories that came from it, and none that agents may not see.
func TestSessionsNameTheirMemories(t *testing.T) {
	r := testrepo.New(t)
	transcript, err := filepath.Abs("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	answer(t, r.Dir, "", "learn", transcript)
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	text, fault := callTool(t, s, "sessions", fields{})
	if fault || !brief.Framed(text) || !regexp.MustCompile(`(?m)^- .* claude/.* events\)\n(?:  learned .*\n)*  learned \[[0-9a-f]{8}\] convention: Always use pnpm in web/`).MatchString(text) {
		t.Error(text)
	}
	// The code that it rests on goes, and the settings withhold it then.
	r.Write("web/run.sh", "pnpm dev\n")
	r.Commit("code")
	pnpm := ""
	for _, m := range parsed[wire.Memory](t, answer(t, r.Dir, "", "list")) {
		if strings.Contains(m.Text, "pnpm") {
			pnpm = m.ID
		}
	}
	answer(t, r.Dir, "", "edit", pnpm, "Always use `pnpm dev` of web/run.sh")
	answer(t, r.Dir, "", "config", "context.stale", "withhold")
	r.Run("rm", "-q", "web/run.sh")
	r.Commit("without it")
	if text, _ := callTool(t, s, "sessions", fields{}); strings.Contains(text, "pnpm") || !strings.Contains(text, "learned") {
		t.Errorf("a withheld memory: %s", text)
	}
}
