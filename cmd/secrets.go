package cmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// The values in a project's .env files are secrets that no pattern knows. They must never get
// into the memory.

// topSecrets are the values of the .env files at the top of the work tree: what can be known
// without asking git, so that every command can afford it.
func topSecrets(repo *git.Repo) []string {
	if repo.WorkTree == "" {
		return nil
	}
	entries, _ := os.ReadDir(repo.WorkTree)
	var secrets []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".env") || slices.Contains([]string{".example", ".sample", ".template", ".dist"}, filepath.Ext(name)) {
			continue
		}
		secrets = append(secrets, fileSecrets(filepath.Join(repo.WorkTree, name))...)
	}
	return secrets
}

// allSecrets are the values of every .env file that git ignores in this work tree, and of those
// at its top.
func (w *workspace) allSecrets(ctx context.Context) []string {
	secrets := topSecrets(w.repo)
	if w.repo.WorkTree == "" {
		return secrets
	}
	cmd := w.repo.Command(ctx, "--work-tree="+w.repo.WorkTree, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", ":(glob)**/.env", ":(glob)**/.env.*")
	cmd.Dir = w.repo.WorkTree
	out, err := cmd.Output()
	if err != nil {
		return secrets // git says what is ignored; without its word only the top counts
	}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			secrets = append(secrets, fileSecrets(filepath.Join(w.repo.WorkTree, filepath.FromSlash(string(name))))...)
		}
	}
	return secrets
}

// maxEnvFile is how much of one .env file is read, in bytes.
const maxEnvFile = 1 << 20

func fileSecrets(path string) []string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return redact.EnvValues(path, io.LimitReader(f, maxEnvFile))
}
