package e2e

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// planted is a toy repository with one rule, and two ways to do a chore: one breaks the rule, the
// other keeps it. Names of files end in "/" for folders.
type planted struct {
	name, form    string
	files         []string
	rule, guard   string
	folder        string // in which alone the rule holds, or ""
	breaks, keeps string // commands
	edits         string // the folder in which a new file breaks the rule, instead of a command
}

// plantedIn are the repositories of the experiment: of different languages and layouts, with rules
// of different forms.
var plantedIn = []planted{
	{name: "site", form: "choice of a tool in a folder", files: []string{"web/package.json", "web/src/main.ts", "api/main.py"},
		rule: "Use pnpm in web/, never npm", guard: "Bash(npm *)", folder: "web",
		breaks: "cd web && npm root", keeps: "cd web && pnpm --version"},
	{name: "crate", form: "generated folder", files: []string{"Cargo.toml", "src/lib.rs", "src/generated/types.rs"},
		rule: "Never edit src/generated/ by hand, because build.rs writes it", guard: "Edit(src/generated/**)",
		edits: "src/generated", keeps: "sh tools/generate"},
	{name: "service", form: "option", files: []string{"go.mod", "cmd/service/main.go", "internal/store/store.go"},
		rule: "Never push with --force: the release job reads the old commits", guard: "Bash(git push --force *)",
		breaks: "git push --force origin main", keeps: "git push origin main"},
	{name: "app", form: "command", files: []string{"pyproject.toml", "app/models.py", "migrations/0001.sql"},
		rule: "Migrations go through tools/migrate, never through psql", guard: "Bash(psql *)",
		breaks: "psql --version", keeps: "sh tools/migrate"},
	{name: "engine", form: "order of two steps", files: []string{"Makefile", "src/engine.c", "include/engine.h"},
		rule: "Before make release, run make clean: make clean release does both", guard: "Bash(make release *)",
		breaks: "make release", keeps: "make clean release"},
	{name: "infra", form: "path", files: []string{"live/main.tf", "staging/main.tf", "modules/net/net.tf"},
		rule: "Only plan in live/: the pipeline alone runs terraform apply there", guard: "Bash(terraform apply *)", folder: "live",
		breaks: "cd live && terraform apply", keeps: "cd live && terraform plan"},
	{name: "gateway", form: "target of a task runner", files: []string{"build.gradle.kts", "src/main/java/gateway/Gateway.java"},
		rule: "Run tests with sh test.sh, because make test skips half of them", guard: "Bash(make test)",
		breaks: "make test", keeps: "sh test.sh"},
	{name: "protocol", form: "wrapper of a tool", files: []string{"proto/api.proto", "clients/ruby/api.rb", "clients/swift/Api.swift"},
		rule: "Generated clients come from tools/generate, so protoc is never called by hand", guard: "Bash(protoc *)",
		breaks: "protoc --version", keeps: "sh tools/generate"},
}

// The arms of the experiment.
const (
	armNothing = "nothing"
	armFile    = "the agent's instruction file"
	armStart   = "the block at the session's start"
	armSay     = "guards of strength say"
	armHold    = "guards that a person names: strength hold"
	armDeny    = "guards of strength deny"
)

// A forgetful model heeds only so many bytes of the end of a conversation. The command noise prints
// more before it is tempted.
const (
	forgetful = 4000
	noise     = "seq 1 2000"
)

// broken counts the temptations in which a rule was broken: by a model that heeds all, and by a
// forgetful one that is tempted twice in a row.
type broken struct{ heeds, first, again, of int }

func (b *broken) add(c broken) {
	b.heeds, b.first, b.again, b.of = b.heeds+c.heeds, b.first+c.first, b.again+c.again, b.of+c.of
}

func (b broken) String() string {
	return fmt.Sprintf("%d of %d\t%d of %[2]d\t%[4]d of %[2]d", b.heeds, b.of, b.first, b.again)
}

// tempt returns the step of a model that is about to break a rule. It keeps the rule if it sees it
// in the end of the conversation that it heeds, or in all of it for 0 bytes.
func (l *lab) tempt(p planted, heeds int, name string) step {
	return step{Decide: func(r request) step {
		text := html.UnescapeString(r.text())
		if heeds > 0 {
			text = text[max(0, len(text)-heeds):]
		}
		c := l.c.shell(p.breaks + "; touch " + filepath.Join(l.repo, name))
		switch {
		case strings.Contains(text, p.rule):
			c = l.c.shell(p.keeps + "; true")
		case p.edits != "":
			c = l.c.create(filepath.Join(l.repo, p.edits, name), "x")
		}
		return step{Calls: []call{c}}
	}}
}

// violations tempts an agent in one session.
func (l *lab) violations(p planted) broken {
	loud := step{Calls: []call{l.c.shell(noise)}}
	l.model.play(turn{"Do the chores.", []step{loud, l.tempt(p, 0, "heeds"), loud, l.tempt(p, forgetful, "first"), l.tempt(p, forgetful, "again"), {Say: "Done."}}})
	l.run(l.c.session("Do the chores.")...)
	happened := func(name string) int {
		if _, err := os.Stat(filepath.Join(l.repo, p.edits, name)); err != nil {
			return 0
		}
		return 1
	}
	return broken{happened("heeds"), happened("first"), happened("again"), 1}
}

// plant makes the repository with its rule.
func (l *lab) plant(p planted, arm string) {
	l.t.Helper()
	for _, name := range p.files {
		write(l.t, filepath.Join(l.repo, name), "toy\n")
	}
	git(l.t, l.repo, "add", ".")
	git(l.t, l.repo, "commit", "-qm", "begin "+p.name)
	switch arm {
	case armNothing:
		return
	case armFile:
		file := map[string]string{"claude": "CLAUDE.md", "gemini": "GEMINI.md"}[l.c.Name]
		if file == "" {
			file = "AGENTS.md"
		}
		write(l.t, filepath.Join(l.repo, file), "- "+p.rule+".\n")
		return
	}
	l.install()
	args := []string{"-q", "remember", "-k", "constraint"}
	if p.folder != "" {
		args = append(args, "--in", p.folder)
	}
	switch arm {
	case armStart:
		args = append(args, "--no-guard")
	case armSay:
		args = append(args, "--guard", p.guard, "--strength", "say")
	case armHold:
		args = append(args, "--guard", p.guard)
	case armDeny:
		args = append(args, "--guard", p.guard, "--strength", "deny")
	}
	l.must(append(args, p.rule)...)
}

// TestClientsKeepPlantedRules counts how often sessions break the rule of their repository, in each
// agent: with nothing, with the rule in the agent's instruction file, with Reverie's block at the
// start, and with guards. The model is scripted. So the figures tell only whether and when the rule
// arrives at a model, for one that heeds everything that it is sent, and for one that heeds only
// the end, as when a rule was stored, loaded and ignored. They do not tell how well a real model
// obeys. REVERIE_PLANTED=all plays all repositories in all agents, otherwise one in two.
func TestClientsKeepPlantedRules(t *testing.T) {
	agents, repositories := []string{"claude", "codex"}, plantedIn[:1]
	if os.Getenv("REVERIE_PLANTED") == "all" {
		agents, repositories = looping, plantedIn
	}
	arms := []string{armNothing, armFile, armStart, armSay, armHold, armDeny}
	in := make([][]broken, len(agents)) // by arm
	inClients(t, agents, func(l *lab) {
		sums := make([]broken, len(arms))
		in[slices.Index(agents, l.c.Name)] = sums
		for i, arm := range arms {
			for _, p := range repositories {
				l.t.Run(arm+" "+p.name, func(t *testing.T) {
					l := newLab(t, l.c, l.folder)
					l.plant(p, arm)
					b := l.violations(p)
					sums[i].add(b)
					switch {
					case arm == armNothing && b != broken{1, 1, 1, 1}:
						t.Errorf("without any rule: %v", b)
					case slices.Contains([]string{armFile, armStart, armSay}, arm) && b.heeds > 0, arm == armSay && b.again > 0:
						t.Errorf("%s (%s) is broken: %v", p.rule, p.form, b)
					}
				})
			}
		}
	})
	t.Cleanup(func() { // after all agents
		var table strings.Builder
		w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		row := func(agent, rules string, b broken) { fmt.Fprintf(w, "%s\t%s\t%s\n", agent, rules, b) }
		fmt.Fprintf(w, "agent\tthe rule comes from\tbroken if all is heeded\tif the last %d bytes are\tand right after that\n", forgetful)
		all := make([]broken, len(arms))
		for a, sums := range in {
			for i, b := range sums {
				row(agents[a], arms[i], b)
				all[i].add(b)
			}
		}
		for i, b := range all {
			row("all", arms[i], b)
			if arm := arms[i]; (arm == armHold || arm == armDeny) && 20*(b.heeds+b.first+b.again) > 3*b.of {
				t.Errorf("%s: rules are broken in more than 5 of 100 temptations: %v", arm, b)
			}
		}
		w.Flush()
		t.Logf("%d repositories\n%s", len(repositories), table.String())
	})
}
