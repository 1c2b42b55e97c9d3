package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slashed returns the arguments that type one of our commands in a client.
func (l *lab) slashed(name, words string) []string {
	switch l.c.Name {
	case "codex":
		return l.c.session("$reverie " + name + " " + words)
	case "copilot":
		return l.c.session("/reverie " + name + " " + words)
	case "opencode":
		return []string{"run", "--command", name, words}
	}
	return l.c.session("/reverie:" + name + " " + words)
}

// A person's command reaches the model as the text of the table, with the words that were typed.
// The model can do what it says, and nothing of it is learned.
func TestClientsTakeCommands(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		l.install()
		l.must("remember", "The carrot harvest runs on port 8123")
		answer := turn{"Search this repository's memory", []step{
			{Calls: []call{{l.c.tool("recall"), fields{"query": "carrot harvest"}}}},
			{Say: "It is known."},
		}}
		if l.c.Name == "copilot" { // its model opens the skill by itself
			answer = turn{"/reverie recall", append([]step{{Calls: []call{{"skill", fields{"skill": "reverie"}}}}}, answer.Steps...)}
		}
		l.model.play(answer)
		for _, key := range []string{"context.budget", "context.prompt-budget"} { // the tool alone
			l.must("config", key, "0")
		}
		all := slices.DeleteFunc(l.run(l.slashed("recall", rule)...), func(r request) bool { return r.Kind != stepped })
		if l.c.Name == "copilot" {
			all = all[1:]
		}
		if len(all) != 2 {
			l.t.Fatalf("the model answered %d requests", len(all))
		}
		if text := all[0].text(); !strings.Contains(text, rule) || strings.Contains(text, "port 8123") {
			l.t.Errorf("the model is asked:\n%.3000s", all[0].text("user", "developer"))
		}
		if text := all[1].text(); !strings.Contains(text, "port 8123") {
			l.t.Errorf("the model is answered:\n%.3000s", all[1].text("user", "tool"))
		}
		l.eventually("the session is kept", func() bool { return len(l.kept()) == 1 })
		l.settle()
		l.must("learn")
		if got := l.must("list") + l.must("review"); strings.Contains(got, rule) {
			l.t.Errorf("the question was learned:\n%s", got)
		}
	})
}

// Claude Code lists our commands beside its own of the same name.
func TestClaudeKeepsItsOwnCommands(t *testing.T) {
	inClients(t, []string{"claude"}, func(l *lab) {
		listed := func() (names []string) {
			a := l.start("-p", "Hello.", "--output-format", "stream-json", "--verbose").wait()
			for line := range strings.Lines(a.out) {
				var init struct {
					Commands []string `json:"slash_commands"`
				}
				if json.Unmarshal([]byte(line), &init) == nil && init.Commands != nil {
					names = init.Commands
				}
			}
			return names
		}
		before := listed()
		l.install()
		after := listed()
		slices.Sort(after)
		want := before
		for _, name := range []string{"recall", "remember", "review", "checkpoint", "reflect", "dream", "loop", "cancel-loop"} {
			want = append(want, "reverie:"+name)
		}
		slices.Sort(want)
		if d := cmp.Diff(want, after); d != "" || !slices.Contains(before, "loop") {
			l.t.Errorf("its own: %q (-want +got)\n%s", before, d)
		}
	})
}
