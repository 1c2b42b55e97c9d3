package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// hookScripts returns git's hooks in a loop, for any POSIX shell. They record a commit, and check
// whether it is one of an agent whose supervisor was killed. They also do the work of 'reverie init
// --git-hooks', because their folder replaces the one with those sections. The user's own hooks do
// not run: they may ask, wait or change files, and the host's commits skip them too.
func hookScripts() map[string]string {
	return map[string]string{
		"pre-commit": `[ ! -x @program@ ] || exec @program@ loop hook pre-commit
`,
		"commit-msg": `[ ! -x @program@ ] || exec @program@ loop hook commit-msg <"$1"
`,
		"post-commit": `printf '%s %s\n' "$(git rev-parse --verify --quiet HEAD)" "${REVERIE_ITERATION:-0}" >>@folder@/commits
if [ "${REVERIE_DISABLE:-0}" = 0 ] && [ -x @program@ ]; then
	@program@ loop hook post-commit </dev/null >/dev/null 2>&1 &
fi
reverie_dir=@state@
[ ! -f "$reverie_dir/githooks/post-commit" ] || . "$reverie_dir/githooks/post-commit" || :
`,
		"pre-push": `echo "reverie: a loop does not push; whoever started it does, when it is done" >&2
exit 1
`,
	}
}

// noPush prefixes the push address of every remote: no transport has that name. For a remote with a
// separate push address, only the hook prevents a push.
const noPush = "reverie-loop-does-not-push::"

// HookEnv writes the hooks of a loop, which call program, and returns the variables that make git
// use them. No configuration is written. The variables also disable signing, editors, file monitors
// and errors about line endings, which would wait for a person, outlive the loop, or end it. They
// also disable git's housekeeping: if killed, it leaves a lock that prevents it forever.
func (p *Place) HookEnv(ctx context.Context, program string) ([]string, error) {
	dir := filepath.Join(p.folder, "hooks")
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	fill := strings.NewReplacer("@program@", quoted(program), "@folder@", quoted(p.folder), "@state@", quoted(filepath.Dir(filepath.Dir(p.folder))))
	for name, body := range hookScripts() {
		if err := file.Replace(filepath.Join(dir, name), []byte("#!/bin/sh\n# Reverie's, for the loop "+p.name+".\n"+fill.Replace(body)), 0o700, false); err != nil {
			return nil, err
		}
	}
	config := [][2]string{
		{"core.hooksPath", dir}, {"url." + noPush + ".pushInsteadOf", ""},
		{"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"tag.forceSignAnnotated", "false"}, {"core.fsmonitor", "false"},
		{"core.safecrlf", "false"}, {"maintenance.auto", "false"}, {"gc.auto", "0"},
	}
	configured, err := git.ConfiguredHooks(ctx, p.repo)
	if err != nil {
		return nil, err
	}
	for name := range configured {
		config = append(config, [2]string{"hook." + name + ".enabled", "false"})
	}
	env := []string{"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(config))}
	for i, kv := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, kv[1]))
	}
	return env, nil
}

// quoted returns a text as one word of a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Commits lists the agents' own commits, as recorded by the post-commit hook, oldest first.
func (p *Place) Commits() []string {
	text, err := file.Read(filepath.Join(p.folder, "commits"), 1<<20)
	if err != nil {
		return nil
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if id, _, ok := strings.Cut(line, " "); ok && p.repo.ObjectFormat.IsID(id) {
			all = append(all, id)
		}
	}
	return all
}

// CheckStaged returns the parts of an index that must not be committed on top of HEAD, both those
// of repo's work tree: large files, new secrets, our unfinished files and nested repositories.
// index is git's index file, "" for the usual one.
func CheckStaged(ctx context.Context, repo *git.Repo, index string, maxFile int64, scanner *redact.Scanner) ([]LeftOut, error) {
	p := &Place{repo: repo, Dir: repo.WorkTree, InPlace: true}
	s := screen{repo, scanner, p.Dir, maxFile}
	base := "HEAD"
	if _, err := p.git(ctx, index, nil, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, nil // a first commit does not belong to a loop
	}
	id, err := p.git(ctx, index, nil, "rev-parse", base)
	if err != nil {
		return nil, err
	}
	base = strings.TrimSpace(string(id))
	out, err := p.git(ctx, index, nil, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", base, "--")
	if err != nil {
		return nil, err
	}
	var left []LeftOut
	err = eachRaw(out, func(name, mode, blob string) error {
		why, err := s.refuseBlob(ctx, base, name, mode, blob)
		if why != "" {
			left = append(left, LeftOut{Path: name, Why: why})
		}
		return err
	})
	return left, err
}
