package cmd

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Agents read files of instructions by themselves, each its own. What the block of one shows need not be given again.

// withoutShown leaves out what the asker reads in the block of the work tree's file.
func (w *workspace) withoutShown(all []candidate, r contextRequest, in *injection) []candidate {
	body := blockInSight(w.Repo.WorkTree, w.Config.Agents, r.agent())
	if body == "" {
		return all
	}
	lines := map[string]bool{}
	for line := range strings.Lines(body) {
		lines[line] = true
	}
	return slices.DeleteFunc(all, func(c candidate) bool {
		shown := !c.m.Private && lines[renderMemory(item{c.m, c.s.Stale})]
		if shown {
			in.Cut[cutShown]++
		}
		return shown
	})
}

// maxInstructions is how much of a file of instructions is looked at, in bytes, and maxCodex how much of it Codex reads.
const (
	maxInstructions = 1 << 20
	maxCodex        = 32 << 10
)

// blockInSight is what the block of the work tree's file of instructions shows, if the agent reads that file by
// itself; else "".
func blockInSight(top, file, agent string) string {
	if top == "" || !readsFile(top, file, agent) {
		return ""
	}
	text := instructions(top, file)
	b := findBlock(text)
	if b.state != blockOK || agent == "codex" && b.to > maxCodex {
		return ""
	}
	return b.body(text)
}

// importsAgents is the line of CLAUDE.md or GEMINI.md that brings AGENTS.md in.
var importsAgents = pattern.New(`(?m)(?:^|\s)@(?:\./)?AGENTS\.md\b`)

// readsFile reports whether an agent reads a file at the top of the work tree by itself. Of an agent that is not
// known, and of a file with another name, nobody knows.
func readsFile(top, file, agent string) bool {
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(top, name)); return err == nil }
	switch {
	case file == "AGENTS.md" && (agent == "opencode" || agent == "codex"):
		return true
	case file == "AGENTS.md" && agent == "claude":
		return !exists("CLAUDE.md") || importsAgents.MatchString(instructions(top, "CLAUDE.md"))
	case file == "AGENTS.md" && agent == "gemini":
		return importsAgents.MatchString(instructions(top, "GEMINI.md"))
	case file == "CLAUDE.md":
		return agent == "claude" || agent == "opencode" && !exists("AGENTS.md")
	case file == "GEMINI.md", file == "gemini-memory/GEMINI.md", file == "gemini-memory/MEMORY.md":
		return agent == "gemini"
	case file == "claude-memory/MEMORY.md":
		return agent == "claude"
	case file == "codex-memory/MEMORY.md", file == "codex-memory/memory_summary.md":
		return agent == "codex"
	}
	return false
}

// instructions is a file of the work tree, "" where it is none that an agent would read. A link may come with the
// repository and lead anywhere, to files that have no size and no end.
func instructions(top, name string) string {
	file := filepath.Join(top, filepath.FromSlash(name))
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(top); err != nil || !strings.HasPrefix(target, real+string(filepath.Separator)) {
		return ""
	}
	info, err := os.Stat(target)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(target)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err != nil || len(text) > maxInstructions {
		return ""
	}
	return string(text)
}
