package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// The values in a project's .env files are secrets that no pattern knows. They must never get
// into the memory.

// envValues gathers the values of .env files. It has bounds: a repository may bring as many and as long ones as it likes, and
// every prompt waits for it.
type envValues struct {
	perFile, left int64 // bytes
	most          int   // values
	read          map[string]bool
	values        []string
}

// quickly is what each command and hook can afford, patiently what the worker can.
func quickly() *envValues   { return &envValues{64 << 10, 256 << 10, 500, map[string]bool{}, nil} }
func patiently() *envValues { return &envValues{1 << 20, 16 << 20, 10_000, map[string]bool{}, nil} }

func (e *envValues) add(path string) {
	most := e.most - len(e.values)
	if e.read[path] || e.left <= 0 || most <= 0 {
		return
	}
	e.read[path] = true
	f, err := file.Open(path, os.O_RDONLY|file.NoFollow, 0)
	if err != nil {
		return
	}
	defer f.Close()
	in := &io.LimitedReader{R: f, N: min(e.perFile, e.left)}
	e.left -= in.N
	e.values = append(e.values, redact.EnvValues(path, in, most)...)
	e.left += in.N // what it did not have
}

// addTop reads the .env files at the top of the work tree. Those that are seldom committed come first: no others can
// take their place.
func (e *envValues) addTop(repo *git.Repo) {
	entries, _ := os.ReadDir(repo.WorkTree)
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".env") && !slices.Contains([]string{".example", ".sample", ".template", ".dist"}, filepath.Ext(name)) {
			names = append(names, name)
		}
	}
	rank := func(name string) int {
		switch {
		case strings.HasSuffix(name, ".local"):
			return 0
		case name == ".env":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		e.add(filepath.Join(repo.WorkTree, name))
	}
}

// topSecrets are the values of the .env files at the top of the work tree and of those that the worker found: what can
// be known without asking git, so that every command can afford it.
func topSecrets(repo *git.Repo) []string {
	if repo.WorkTree == "" {
		return nil
	}
	e := quickly()
	for _, path := range knownEnvFiles(repo) {
		e.add(path)
	}
	e.addTop(repo)
	return e.values
}

// allSecrets are the values of every .env file that git ignores in this work tree, and of those
// at its top.
func (w *workspace) allSecrets(ctx context.Context) []string {
	if w.repo.WorkTree == "" {
		return nil
	}
	e := patiently()
	known := knownEnvFiles(w.repo) // of other work trees too
	cmd := w.repo.Command(ctx, "--work-tree="+w.repo.WorkTree, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", ":(glob)**/.env", ":(glob)**/.env.*")
	cmd.Dir = w.repo.WorkTree
	if out, err := cmd.Output(); err == nil { // git says what is ignored; without its word only the top counts
		var found []string
		for name := range bytes.SplitSeq(out, []byte{0}) {
			if len(name) > 0 {
				found = append(found, filepath.Join(w.repo.WorkTree, filepath.FromSlash(string(name))))
			}
		}
		slices.SortStableFunc(found, func(a, b string) int { // those of installed packages last
			return strings.Count(a, string(filepath.Separator)) - strings.Count(b, string(filepath.Separator))
		})
		w.noteEnvFiles(known, found)
		known = append(found, known...)
	}
	for _, path := range known {
		e.add(path)
	}
	e.addTop(w.repo)
	return e.values
}

// envFiles is the file of the state folder that lists where ignored .env files lie, never what is in them.
const envFiles = "env-files.json"

// maxEnvFiles is how many files it lists.
const maxEnvFiles = 64

func knownEnvFiles(repo *git.Repo) []string {
	var known []string
	text, err := file.Read(filepath.Join(repo.CommonDir, "reverie", envFiles), 1<<20)
	if err != nil || json.Unmarshal(text, &known) != nil {
		return nil
	}
	known = slices.DeleteFunc(known, func(path string) bool { return !strings.HasPrefix(filepath.Base(path), ".env") })
	return known[:min(len(known), maxEnvFiles)]
}

// noteEnvFiles lists what was found in this work tree, and what was known of others and is still there. That it cannot be
// written costs only what a hook would have known.
func (w *workspace) noteEnvFiles(known, found []string) {
	if info, err := os.Lstat(w.state); err != nil || !info.IsDir() {
		return
	}
	list := slices.Clone(found)
	for _, path := range known {
		if rel, err := filepath.Rel(w.repo.WorkTree, path); err == nil && filepath.IsLocal(rel) {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			list = append(list, path)
		}
	}
	list = list[:min(len(list), maxEnvFiles)]
	if slices.Equal(list, known) {
		return
	}
	if text, err := json.Marshal(list); err == nil {
		_ = w.repo.WriteState(envFiles, text, false)
	}
}
