package brief

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Each agent reads its own file of instructions. Memories in the block of such a file need not be
// given again.

// withoutShown drops memories that the asker reads in the work tree's file.
func (b *maker) withoutShown(all []candidate, in *Injection) []candidate {
	body := blockInSight(b.Repo.WorkTree, b.Config.Agents, b.asked.agent())
	if body == "" {
		return all
	}
	lines := map[string]bool{}
	for line := range strings.Lines(body) {
		lines[line] = true
	}
	return slices.DeleteFunc(all, func(c candidate) bool {
		shown := !c.m.Private && !c.m.Own && lines[Item{c.m, c.s.Stale}.Line()]
		if shown {
			in.Cut[CutShown]++
		}
		return shown
	})
}

// Bounds of a file of instructions, in bytes: maxInstructions of the file, maxCodex of the part
// that Codex reads.
const (
	maxInstructions = 1 << 20
	maxCodex        = 32 << 10
)

// blockInSight returns the body of the block in the work tree's file of instructions, if the agent
// reads that file by itself; else "".
func blockInSight(top, file, agent string) string {
	if top == "" || !readsFile(top, file, agent) {
		return ""
	}
	text := instructions(top, file)
	b := block.Find(text)
	if b.State != block.OK || agent == "codex" && b.To > maxCodex {
		return ""
	}
	return b.Body(text)
}

// importsAgents matches the line of CLAUDE.md or GEMINI.md that imports AGENTS.md.
var importsAgents = pattern.New(`(?m)(?:^|\s)@(?:\./)?AGENTS\.md\b`)

// readsFile reports whether an agent reads a file at the top of the work tree by itself. It says no
// for unknown agents and files.
func readsFile(top, file, agent string) bool {
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(top, name)); return err == nil }
	switch {
	case file == "AGENTS.md" && (agent == "opencode" || agent == "codex" || agent == "qwen" || agent == "cursor"),
		agent == "copilot" && (file == "AGENTS.md" || file == "CLAUDE.md" || file == "GEMINI.md"):
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

// instructions returns the text of a file of the work tree, or "" if no agent would read it. A link
// may come with the repository and lead anywhere, even to endless files.
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
