package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// programKey returns the setting for the program of a git variable.
func programKey(variable string) string {
	if variable == "GIT_PAGER" {
		return "core.pager"
	}
	return "core.editor"
}

// Program returns the command that git runs as GIT_EDITOR or GIT_PAGER, from the environment, the
// user's or system's configuration, or git's default. It never returns a program that only the
// repository's own configuration names, because the repository may come from a stranger; passed
// then names that setting.
func (c *Config) Program(ctx context.Context, variable string) (command, passed string, err error) {
	if command := os.Getenv(variable); command != "" {
		return command, "", nil
	}
	s, err := c.list(ctx)
	if err != nil {
		return "", "", err
	}
	key := programKey(variable)
	if s.all[key] != s.trusted[key] {
		passed = key
	}
	if command := s.trusted[key]; command != "" {
		return command, passed, nil
	}
	cmd := exec.CommandContext(ctx, "git", "var", variable)
	cmd.Env = append(cleanEnviron(), "GIT_DIR="+os.DevNull) // in no repository at all
	out, err := run(cmd)
	if err != nil {
		return "", passed, fmt.Errorf("find %s: %w", variable, err)
	}
	return strings.TrimSuffix(string(out), "\n"), passed, nil
}
