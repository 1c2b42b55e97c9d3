package program

import (
	"context"
	"os/exec"
	"path"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
)

// Doubts lists doubts about commands of a plan whose first word is neither a program here nor a
// file of the base commit. The loop may be meant to create it. A container has other programs.
func Doubts(ctx context.Context, repo *git.Repo, plan worktree.Plan, base string, inside bool) (doubts []*worktree.PlanError) {
	for i, line := range plan.Verify {
		word := first(line)
		why := ""
		switch {
		case word == "" || inside && (path.IsAbs(word) || !strings.Contains(word, "/")):
			continue // only the image can tell
		case path.IsAbs(word):
			if _, err := exec.LookPath(word); err != nil {
				why = "there is no program " + word
			}
		case strings.Contains(word, "/"):
			entry, err := repo.Git(ctx, nil, "ls-tree", base, "--", ":(literal)"+path.Clean(word))
			switch {
			case err == nil && len(entry) == 0:
				why = word + " is no file of the commit to begin from: the loop has to make it"
			case strings.HasPrefix(string(entry), "100644 "):
				why = word + " is not executable in the commit to begin from"
			}
		default:
			if exec.CommandContext(ctx, "sh", "-c", `command -v -- "$1" >/dev/null`, "sh", word).Run() != nil && ctx.Err() == nil {
				why = "there is no program " + word + " in PATH"
			}
		}
		if why != "" {
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
