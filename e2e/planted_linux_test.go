package e2e

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// planted is a rule of a repository, with a command that breaks it and one that keeps it.
type planted struct{ rule, guard, breaks, keeps string }

var plantedRules = []planted{
	{"Use pnpm in this repository, never npm", "Bash(npm *)", "npm --version", "pnpm --version"},
	{"Migrations go through tools/migrate, never through psql", "Bash(psql *)", "psql --version", "sh tools/migrate"},
	{"Run tests with sh test.sh, because make test skips half of them", "Bash(make test)", "make test", "sh test.sh"},
	{"Never push with --force: the release job reads the old commits", "Bash(git push --force *)", "git push --force origin main", "git push origin main"},
	{"Generated clients come from tools/generate, so protoc is never called by hand", "Bash(protoc *)", "protoc --version", "sh tools/generate"},
}

// The arms of the experiment.
const (
	armNothing = "nothing"
	armFile    = "instruction file"
	armStart   = "start of the session"
	armSay     = "guards that say"
	armDeny    = "guards that deny"
)

// A forgetful model heeds only so many bytes of the end of a conversation. The command noise prints
// more between two temptations.
const (
	forgetful = 4000
	noise     = "seq 1 2000"
)

// tempt returns the steps of a model that is about to break a rule. It keeps the rule if it sees
// it in the part of the conversation that it heeds, 0 for all.
func (l *lab) tempt(p planted, heeds int, broken string) []step {
	sees := func(r request) bool {
		text := html.UnescapeString(r.text())
		if heeds > 0 {
			text = text[max(0, len(text)-heeds):]
		}
		return strings.Contains(text, p.rule)
	}
	do := func(command string) step { return step{Calls: []call{l.c.shell(command)}} }
	return []step{
		do(noise),
		{Decide: func(r request) step {
			if sees(r) {
				return do(p.keeps + "; true")
			}
			return do(p.breaks + "; echo " + broken + " >>broken")
		}},
		{Decide: func(r request) step {
			if sees(r) {
				return do(p.keeps + "; true")
			}
			return do("true")
		}},
	}
}

// violations plays all temptations in one session, and counts the rules that it broke: for the
// model that heeds everything, and for the forgetful one.
func (l *lab) violations() (attentive, forgotten int) {
	var all []step
	for _, p := range plantedRules {
		all = append(all, l.tempt(p, 0, "attentive")...)
		all = append(all, l.tempt(p, forgetful, "forgetful")...)
	}
	l.model.play(turn{"Do the chores.", append(all, step{Say: "Done."})})
	l.run(l.c.session("Do the chores.")...)
	text, _ := os.ReadFile(filepath.Join(l.repo, "broken"))
	return strings.Count(string(text), "attentive"), strings.Count(string(text), "forgetful")
}

// arm prepares an arm of the experiment.
func (l *lab) arm(name string) {
	l.t.Helper()
	var lines strings.Builder
	for _, p := range plantedRules {
		fmt.Fprintf(&lines, "- %s.\n", p.rule)
	}
	switch name {
	case armNothing:
		return
	case armFile:
		file := map[string]string{"claude": "CLAUDE.md", "gemini": "GEMINI.md"}[l.c.Name]
		if file == "" {
			file = "AGENTS.md"
		}
		write(l.t, filepath.Join(l.repo, file), lines.String())
		return
	}
	l.install()
	for _, p := range plantedRules {
		args := []string{"-q", "remember", "-k", "constraint", "--no-guard", p.rule}
		if name != armStart {
			strength := map[string]string{armSay: "say", armDeny: "deny"}[name]
			args = []string{"-q", "remember", "-k", "constraint", "--guard", p.guard, "--strength", strength, p.rule}
		}
		l.must(args...)
	}
}

// TestClientsKeepPlantedRules counts how often a session breaks five rules of its repository, in
// each agent: with nothing, with the rules in the agent's instruction file, with Reverie's block at
// the start, and with guards. The model is scripted. One heeds everything that it is sent, the
// other only the end of the conversation, as when a rule was stored, loaded and ignored. The
// figures tell what reaches a model and when, not how well a real one obeys. REVERIE_PLANTED=all
// plays it in all agents, otherwise in the two quick ones.
func TestClientsKeepPlantedRules(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "agent\trules from\tbroken if all is heeded\tbroken if the last %d bytes are\n", forgetful)
	agents := []string{"claude", "codex"}
	if os.Getenv("REVERIE_PLANTED") == "all" {
		agents = nil
	}
	inClients(t, agents, func(l *lab) {
		for _, name := range []string{armNothing, armFile, armStart, armSay, armDeny} {
			l.t.Run(name, func(t *testing.T) {
				l := newLab(t, l.c, l.folder)
				l.arm(name)
				attentive, forgotten := l.violations()
				fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d of %[4]d\n", l.c.Name, name, attentive, len(plantedRules), forgotten)
				switch {
				case name == armNothing && attentive+forgotten != 2*len(plantedRules):
					t.Errorf("without any rule, %d and %d of %d are broken", attentive, forgotten, len(plantedRules))
				case name != armNothing && name != armSay && attentive > 0, name == armDeny && forgotten > 0:
					t.Errorf("%d and %d of %d rules are broken", attentive, forgotten, len(plantedRules))
				}
			})
		}
	})
	w.Flush()
	t.Logf("\n%s", table.String())
}
