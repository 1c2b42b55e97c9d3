package git

import (
	"os"
	"path/filepath"
	"strings"
)

// MayHaveState reports whether a repository that holds dir may have a state folder. Only "no" is certain, and it costs
// a few looks at the file system and no process: what is called at every prompt of an agent, in any folder of the machine,
// asks this first.
func MayHaveState(dir string) bool {
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		if common := commonDirAt(dir); common != "" {
			info, err := os.Lstat(filepath.Join(common, "reverie"))
			return err == nil && info.IsDir()
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// commonDirAt is the common git directory of the repository whose top, or whose git directory, is dir; "" if it is neither.
func commonDirAt(dir string) string {
	gitDir := filepath.Join(dir, ".git")
	info, err := os.Stat(gitDir)
	switch {
	case err == nil && info.Mode().IsRegular(): // a linked worktree, or a submodule
		to, ok := strings.CutPrefix(firstLine(gitDir), "gitdir: ")
		if !ok {
			return ""
		}
		gitDir = within(dir, to)
	case err != nil:
		gitDir = dir
	}
	if _, err := os.Stat(filepath.Join(gitDir, "HEAD")); err != nil {
		return ""
	}
	if to := firstLine(filepath.Join(gitDir, "commondir")); to != "" {
		return within(gitDir, to)
	}
	if info, err := os.Stat(filepath.Join(gitDir, "objects")); err != nil || !info.IsDir() {
		return ""
	}
	return gitDir
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// firstLine is the first line of a small file, "" if it cannot be read.
func firstLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r")
}

// Environ is the environment of this process without what a hook or an enclosing git command put there, for
// what outlives them.
func Environ() []string { return cleanEnviron() }

// LeaveRepository takes out of the environment of this process what says which repository git is to use, so that the folder
// decides.
func LeaveRepository() {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX"} {
		os.Unsetenv(name)
	}
}
