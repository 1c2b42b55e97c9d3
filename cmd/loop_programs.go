package cmd

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
)

// loopPrograms looks for what a loop calls to code and to audit, before anything is made.
type loopPrograms struct {
	w      *workspace
	inside bool   // in a container, whose image was asked for what is called by name
	commit string // of which the work tree is made
	dir    string // the work tree where it is there already, else ""
}

// look returns an error unless the coder and the auditor of a loop can be run. Of a shell's command it is the first word, as far as that is
// known without a shell.
func (p loopPrograms) look(ctx context.Context, set worktree.Settings) error {
	for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
		word, shell, err := loopProgram(set, phase, p.inside)
		if err != nil {
			return err
		}
		who := map[worktree.Phase]string{worktree.Coding: "the coder", worktree.Auditing: "the audit"}[phase]
		if why, hint := p.missing(ctx, word, shell); why != "" {
			return loopFailure(worktree.Refusal, fmt.Errorf("%s: %s", who, visible(why)), hint)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// loopProgram is what a loop calls in a phase; "" if nothing is, or nothing that is known. shell reports whether a shell calls it.
func loopProgram(set worktree.Settings, phase worktree.Phase, inside bool) (word string, shell bool, err error) {
	name := set.Agent
	switch {
	case phase == worktree.Auditing && set.AuditAgent == "":
		return firstWord(set.Audit), true, nil
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

// missing says why a program cannot be run, and what to do; "" if it can, or that cannot be known from here.
func (p loopPrograms) missing(ctx context.Context, word string, shell bool) (why, hint string) {
	const install = "install it, or give its path"
	slashed := filepath.ToSlash(word)
	if runtime.GOOS != "windows" {
		slashed = word
	}
	switch {
	case word == "":
		return "", ""
	case strings.Contains(slashed, "/") && !path.IsAbs(slashed) && !filepath.IsAbs(word):
		if p.dir != "" {
			if _, err := exec.LookPath(filepath.Join(p.dir, word)); err == nil {
				return "", ""
			}
		}
		if why = p.notIn(ctx, path.Clean(slashed)); why != "" {
			return word + " " + why, "relative paths count from the top of the loop's work tree, which has what is committed: commit it, or give its whole path"
		}
	case p.inside:
	case shell && !strings.Contains(slashed, "/"): // a shell has programs of its own
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

// notIn says why a path is none of a program in the commit; "" if it is, or lies in a submodule.
func (p loopPrograms) notIn(ctx context.Context, name string) string {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "lies outside of the loop's work tree"
	}
	args := []string{"ls-tree", "-z", "--full-tree", p.commit, "--", ":(literal)" + name}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		args = append(args, ":(literal)"+dir)
	}
	out, err := p.w.repo.Git(ctx, nil, args...)
	if err != nil {
		return ""
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, at, _ := strings.Cut(entry, "\t")
		mode, _, _ := strings.Cut(meta, " ")
		switch {
		case mode == "160000" && strings.HasPrefix(name, at+"/"):
			return ""
		case at != name:
		case mode == "100644" && runtime.GOOS != "windows":
			return "is not executable in the commit"
		case mode == "040000", mode == "160000":
			return "is a folder"
		default:
			return ""
		}
	}
	return "is no file of the commit"
}
