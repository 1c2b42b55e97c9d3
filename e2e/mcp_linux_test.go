package e2e

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A model uses the memory by our tools in each agent: recalled memories reach it, and its
// suggestions wait for a person. None of that is learned as if it were news.
func TestClientsCallOurTools(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		t := l.t
		settings := l.settings()
		l.install()
		const known, wanted = "Use pnpm, never npm, in web/", "The web client is served from port 4100"
		l.must("remember", "-k", "convention", known)
		before := l.must("--json", "list")
		l.model.play(turn{"How are packages installed?", []step{
			{Say: "I ask the memory.", Calls: []call{{l.c.tool("recall"), fields{"query": "install packages npm"}}}},
			{Calls: []call{{l.c.tool("remember"), fields{"text": wanted, "kind": "fact"}}}},
			{Calls: []call{{l.c.tool("checkpoint"), fields{"note": "Looked at how packages are installed."}}}},
			{Say: "By pnpm."},
		}})
		last := newest(l.run(l.c.session("How are packages installed?")...))
		got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\"`, `"`).Replace(html.UnescapeString(last.text("tool", "user")))
		if !strings.Contains(got, `<reverie-memory for="recall">`) || !strings.Contains(got, known) {
			t.Errorf("what was recalled did not reach the model:\n%s", got)
		}
		if !strings.Contains(got, "waits for a person") {
			t.Errorf("the model was not told what became of its wish:\n%s", got)
		}
		waiting := objects[struct {
			Op, How string
			Memory  struct{ Text, Source string }
		}](t, l.must("--json", "review"))
		by := l.c.Name
		if by != "gemini" && by != "opencode" { // those do not name the calling session
			by += "/"
		}
		if len(waiting) != 1 || waiting[0].Memory.Text != wanted || !strings.Contains(waiting[0].Memory.Source, " "+by) {
			t.Errorf("what waits: %+v", waiting)
		}
		l.settle()
		if got, kept := l.must("checkpoint", "list"), l.kept(); len(kept) != 1 || !strings.Contains(got, kept[0]+"#1") {
			t.Errorf("of the sessions %q the checkpoints are %s", kept, got)
		}
		if got := l.must("--json", "list"); got != before {
			t.Errorf("what a tool said was learned:\n%s\n%s", before, got)
		}
		if n := len(objects[any](t, l.must("--json", "review"))); n != 1 {
			t.Errorf("%d wait", n)
		}
		if a := l.reverie("doctor"); l.c.Name == "claude" && !strings.Contains(a.out, "has Reverie's tools") {
			t.Errorf("doctor: %s", a)
		}
		l.must("uninstall", "--yes")
		if diff := cmp.Diff(settings, l.settings()); diff != "" {
			t.Errorf("uninstall leaves the agent's settings otherwise than they were (-before +after):\n%s", diff)
		}
		if text, err := os.ReadFile(filepath.Join(l.home, ".claude.json")); err == nil && strings.Contains(string(text), "reverie") && strings.Contains(string(text), `"mcp"`) {
			t.Errorf("left in .claude.json: %s", text)
		}
	})
}
