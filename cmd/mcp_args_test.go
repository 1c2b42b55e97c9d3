package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/mcp"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A long query is cut at the end of a word, and the answer says so.
func TestLongQueriesAreCut(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Use pnpm, never npm")
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	for _, c := range []struct{ query, said string }{
		{"pnpm " + strings.Repeat("x", mcp.MaxQuery-6), ""}, // some bytes less than it may have
		{"pnpm " + strings.Repeat("word ", mcp.MaxQuery), "query has 10005 bytes: its first 1999 were looked for"},
		{"pnpm " + strings.Repeat("字", mcp.MaxQuery), "query has 6005 bytes: its first 2000 were looked for"},
		{`"pnpm" "never ` + strings.Repeat("word ", mcp.MaxQuery), "were looked for"},
	} {
		text, fault := callTool(t, s, "recall", fields{"query": c.query})
		if fault || !brief.Framed(text) || !strings.Contains(text, "never npm") || !strings.Contains(text, c.said) || strings.Contains(text, "looked for") != (c.said != "") {
			t.Errorf("%.30s: %s", c.query, text)
		}
	}
}

// Memories about the files that an agent works on come first, however it names them.
func TestFilesOfAnAgentCount(t *testing.T) {
	r := testrepo.New(t)
	r.Write("web/app.ts", "x")
	for i, folder := range []string{"api", "web", "ops"} {
		answer(t, r.Dir, "", "remember", "--path", folder+"/**", fmt.Sprintf("Builds take part %d of the cache", i))
	}
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	link := filepath.Join(t.TempDir(), "link")
	names := []string{"web/app.ts", "./web/new.ts", filepath.Join(r.Dir, "web", "app.ts"), filepath.Join(r.Dir, "web", "none", "new.ts")}
	if os.Symlink(r.Dir, link) == nil {
		names = append(names, filepath.Join(link, "web", "app.ts"))
	}
	for _, name := range names {
		files := []string{name}
		if text, fault := callTool(t, s, "recall", fields{"query": "builds cache", "files": files}); fault || !first(text, "- note: Builds take part 1 ") {
			t.Errorf("recall for %s: %s", name, text)
		}
		if text, fault := callTool(t, s, "context", fields{"files": files}); fault || !first(text, "- note: Builds take part 1 ") {
			t.Errorf("context for %s: %s", name, text)
		}
		if text, fault := callTool(t, s, "context", fields{"query": "and now?", "files": files}); fault || !first(text, "- note: Builds take part 1 ") || strings.Contains(text, "part 2") {
			t.Errorf("context of a prompt for %s: %s", name, text)
		}
	}
	if text, fault := callTool(t, s, "context", fields{"query": "and now?"}); fault || strings.Contains(text, "Builds") {
		t.Errorf("without files: %s", text)
	}
}

// first reports whether a line is the first of those in an answer's element that state something.
func first(text, line string) bool {
	_, list, _ := strings.Cut(text, "\n- ")
	return strings.HasPrefix("- "+list, line)
}

// An agent by tools has no command line: no answer speaks of its options.
func TestAnswersNameArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	for i := range 20 {
		answer(t, r.Dir, "", "remember", fmt.Sprintf("Rule %d about builds: %s", i, strings.Repeat("long ", 100)))
	}
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	option := regexp.MustCompile(`(^|[ '"\x60(])--?[a-z]+\b`)
	for _, c := range []struct {
		tool, want string
		args       fields
	}{
		{"recall", "kinds are constraint", fields{"query": "x", "kind": "rule"}},
		{"recall", "only says what is left out", fields{"query": "-slow"}},
		{"recall", "", fields{"query": "builds since:yesterweek"}},
		{"recall", "", fields{"query": "builds kind:rule"}},
		{"recall", "limit is 99 and may be 1 to 20", fields{"query": "x", "limit": 99}},
		{"recall", "limit: a string does not belong there", fields{"query": "x", "limit": "9"}},
		{"recall", "unknown field", fields{"query": "x", "k": "note"}},
		{"recall", "have no room here", fields{"query": "builds rule", "limit": 20}},
		{"show", "recall shows ids in brackets", fields{"id": "00000000"}},
		{"show", "want 4 to 16 hex digits", fields{"id": "Build"}},
		{"remember", "after an empty line", fields{"text": strings.Repeat("x", 1001)}},
		{"remember", "kinds are constraint", fields{"text": "x", "kind": "rule"}},
		{"forget", "recall shows ids in brackets", fields{"id": "00000000", "reason": "gone"}},
		{"context", "more are known", fields{}},
		{"context", "files: \"/etc/x\" does not lie below", fields{"files": []string{"/etc/x"}}},
		{"checkpoint", "", fields{"note": strings.Repeat("x", 3600)}},
	} {
		text, _ := callTool(t, s, c.tool, c.args)
		if found := option.FindString(strings.ReplaceAll(text, "-slow", "")); !strings.Contains(text, c.want) || found != "" {
			t.Errorf("%s %.80v: %q in %.500s", c.tool, c.args, found, text)
		}
	}
}

// If the statement does not answer a query, the passage that does is shown. Notes about the search
// follow the hits.
func TestFoundShowsWhatAnswers(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Pods are listed on the wiki")
	body := strings.Repeat("The first part is about something else entirely. ", 12) + "\n\nRestart the zookeeper ensemble afterwards.\n"
	answer(t, r.Dir, "Deploy on Tuesdays\n\n"+body, "remember", "-")
	s := serveMCP(t, r.Dir, "c", mcpOptions{})
	text, fault := callTool(t, s, "recall", fields{"query": `"zookeeper ensemble restart" pods`})
	if fault || !brief.Framed(text) || !strings.Contains(text, "Deploy on Tuesdays") || !strings.Contains(text, "Restart the zookeeper ensemble") {
		t.Errorf("%s", text)
	}
	if !strings.HasSuffix(text, "\nnothing says \"zookeeper ensemble restart\" word for word; these have words of it\n</reverie-memory>\n") {
		t.Errorf("the notice: %s", text)
	}
}

// An agent that does not say which session calls notes where the one stands that its hooks told of
// last, though nothing of it is kept yet; not an earlier one, and not another agent's.
func TestCheckpointIsOfTheSessionAtWork(t *testing.T) {
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "Use pnpm")
	w := at(t, r.Dir, time.Now())
	s := serveMCP(t, r.Dir, "opencode", mcpOptions{})
	if text, fault := callTool(t, s, "checkpoint", fields{"note": "Nobody told of me."}); !fault {
		t.Errorf("without a session: %s", text)
	}
	for _, e := range []hooks.Event{
		{Agent: "opencode", Session: "ses_1", Kind: hooks.Prompt, Prompt: "Begin."},
		{Agent: "opencode", Session: "ses_1", Kind: hooks.End},
		{Agent: "opencode", Session: "ses_2", Kind: hooks.Prompt, Prompt: "Go on."},
		{Agent: "gemini", Session: "g-3", Kind: hooks.Prompt, Prompt: "Something else."},
	} {
		e.Time = time.Now()
		if err := w.Spool().Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if text, fault := callTool(t, s, "checkpoint", fields{"note": "Half of it is done."}); fault || !strings.Contains(text, "noted as opencode/ses_2#1") {
		t.Errorf("%s", text)
	}
}
