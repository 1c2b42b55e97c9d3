// Package agents makes the agents of this machine call Reverie. It adds entries to their settings,
// or a plugin, and can remove them so that each file gets its original bytes back.
//
// Machine locates the files; User and Project select the one that an agent reads. Begin with
// Installer.Install, Installer.Remove and Examine. Any number of processes may call them at once.
// Writers share a lock, and a file that another program changes meanwhile is left alone.
package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// ErrPassing means that the running program may vanish: it is a temporary build, or of npx.
var ErrPassing = errors.New("this program is not installed")

// Command returns the command for an agent's settings, which its shell runs for every event. If our
// program is missing, fails or hangs, the agent must continue as if it had no hook.
func Command(program, agent string) string {
	call := quote(program) + " hook " + agent
	a, _ := hooks.Find(agent)
	if runtime.GOOS == "windows" || a.Line == "" { // the shells of Windows disagree on continued lines
		return call
	}
	return strings.Replace(a.Line, "CALL", call, 1)
}

var plainPath = pattern.New(`^[A-Za-z0-9_@%+=:,./\-]+$`)

// quote writes a path as one word for the shell that an agent has on this system.
func quote(path string) string {
	switch {
	case plainPath.MatchString(path):
		return path
	case runtime.GOOS == "windows":
		return `"` + path + `"`
	}
	return hooks.Quote(path)
}

// ourCommand parses a command line if it is `… hook AGENT` of our program.
func ourCommand(line, agent string) (program string, ours bool) {
	line = strings.TrimSpace(line)
	a, _ := hooks.Find(agent)
	before, after, _ := strings.Cut(a.Line, "CALL")
	if len(line) > len(a.Line) && strings.HasPrefix(line, before) && strings.HasSuffix(line, after) {
		line = line[len(before) : len(line)-len(after)]
	}
	word, ok := strings.CutSuffix(line, " hook "+agent)
	if !ok {
		return "", false
	}
	switch {
	case len(word) > 1 && strings.HasPrefix(word, "'") && strings.HasSuffix(word, "'"):
		program = strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
	case len(word) > 1 && strings.HasPrefix(word, `"`) && strings.HasSuffix(word, `"`):
		program = word[1 : len(word)-1]
	default:
		program = word
	}
	return program, ourProgram(program)
}

// ourProgram reports whether a path has the name of our program, of any version.
func ourProgram(path string) bool {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	return strings.HasPrefix(base, "reverie") || strings.HasPrefix(base, "git-reverie")
}

// passing matches the folders of temporary builds by the go command, and of npx.
var passing = pattern.New(`[/\\](go-build\d*|_npx)[/\\]`)

// Program returns the path for hooks to the running program: absolute, and valid after an update.
// An entry of PATH that leads to the program is preferred, because the file's own folder may
// contain a version. The error wraps ErrPassing if there is no such path.
func Program() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return program(exe, filepath.SplitList(os.Getenv("PATH")))
}

func program(exe string, path []string) (string, error) {
	self, err := os.Stat(exe)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range path {
		for _, name := range []string{"reverie", "reverie.exe", "git-reverie", "git-reverie.exe"} {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && os.SameFile(info, self) && !passing.MatchString(file) {
				return file, nil
			}
		}
	}
	if passing.MatchString(exe) || !ourProgram(exe) {
		return "", fmt.Errorf("%w: %s", ErrPassing, exe)
	}
	return exe, nil
}
