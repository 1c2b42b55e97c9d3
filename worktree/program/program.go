// Package program checks in advance, as far as it can, whether a loop's programs exist: the coder
// and auditor (Of, Place.Missing), and the first words of the plan's commands (Doubts). It runs a
// shell's command -v and git ls-tree, but none of the programs.
package program

import (
	"context"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
)

// Place is the place from which a loop calls its programs.
type Place struct {
	Repo   *git.Repo
	Inside bool   // in a container, whose image was searched for programs called by name
	Commit string // the commit of the work tree
	Dir    string // the work tree if it exists, else ""
	Base   bool   // no loop works in it yet: messages say that the loop begins from the commit
}

// Of returns the program that a loop calls in a phase, or "" if it calls none or it is unknown. For
// a shell command, which shell reports, it is the first word as far as that is certain without a
// shell. The error is an agent.UnknownError.
func Of(set worktree.Settings, phase worktree.Phase, inside bool) (word string, shell bool, err error) {
	name := set.Agent
	switch {
	case phase == worktree.Auditing && set.AuditAgent == "":
		return first(set.Audit), true, nil
	case phase == worktree.Auditing:
		name = set.AuditAgent
	case name == worktree.Hand:
		return "", false, nil
	case name == "":
		return set.Command[0], false, nil
	}
	argv, _, err := agent.Call(name, "", phase, inside)
	if err != nil {
		return "", false, err
	}
	return argv[0], false, nil
}

// Missing returns why a program cannot run, and a hint; or "" if it can, or if that is unknown.
func (p Place) Missing(ctx context.Context, word string, shell bool) (why, hint string) {
	const install = "install it, or give its path"
	slashed := filepath.ToSlash(word)
	if runtime.GOOS != "windows" {
		slashed = word
	}
	switch {
	case word == "":
		return "", ""
	case strings.Contains(slashed, "/") && !path.IsAbs(slashed) && !filepath.IsAbs(word):
		if p.Dir != "" {
			if _, err := exec.LookPath(filepath.Join(p.Dir, word)); err == nil {
				return "", ""
			}
		}
		if why = p.notIn(ctx, path.Clean(slashed)); why != "" {
			return word + " " + why, "relative paths count from the top of the loop's work tree, which has what is committed: commit it, or give its whole path"
		}
	case p.Inside:
	case shell && !strings.Contains(slashed, "/"): // a shell has built-in commands
		if exec.CommandContext(ctx, "sh", "-c", `command -v -- "$1" >/dev/null`, "sh", word).Run() != nil {
			return "there is no program " + word + " in PATH", install
		}
	default:
		if _, err := exec.LookPath(word); err != nil {
			return "there is no program " + word, install
		}
	}
	return "", ""
}

// notIn returns why a path is not a program in the commit, or "" if it is one or is in a submodule.
func (p Place) notIn(ctx context.Context, name string) string {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "lies outside of the loop's work tree"
	}
	args := []string{"ls-tree", "-z", "--full-tree", p.Commit, "--", ":(literal)" + name}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		args = append(args, ":(literal)"+dir)
	}
	out, err := p.Repo.Git(ctx, nil, args...)
	if err != nil {
		return ""
	}
	absent, commit := "", "the commit"
	if p.Base {
		absent, commit = ": the loop has to make it", "the commit to begin from"
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, at, _ := strings.Cut(entry, "\t")
		mode, _, _ := strings.Cut(meta, " ")
		switch {
		case mode == "160000" && strings.HasPrefix(name, at+"/"):
			return ""
		case at != name:
		case mode == "100644" && runtime.GOOS != "windows":
			return "is not executable in " + commit
		case mode == "040000", mode == "160000":
			return "is a folder"
		default:
			return ""
		}
	}
	return "is no file of " + commit + absent
}

// Doubts lists doubts about commands of a plan whose first word is neither a program here nor a
// file of the base commit. The loop may be meant to create it. A container has other programs.
func Doubts(ctx context.Context, repo *git.Repo, plan worktree.Plan, base string, inside bool) (doubts []*worktree.PlanError) {
	place := Place{Repo: repo, Inside: inside, Commit: base, Base: true}
	for i, line := range plan.Verify {
		why, _ := place.Missing(ctx, first(line), true)
		if why != "" && ctx.Err() == nil {
			doubts = append(doubts, &worktree.PlanError{Line: plan.Lines[i], Rule: "program", Why: why})
		}
	}
	return doubts
}

// first returns the program that a command line calls first, or "" if only a shell could tell.
func first(line string) string {
	for _, word := range strings.Fields(line) {
		if at := strings.IndexAny(word, ";|&<>()"); at > 0 {
			word = word[:at]
		}
		if strings.ContainsAny(word, "\"'`$\\*?[{~;|&<>()#") {
			return ""
		}
		if name, _, assigns := strings.Cut(word, "="); assigns && name != "" {
			continue
		}
		if word != "!" {
			return word
		}
	}
	return ""
}
