// Package install has the agents of this machine call us: it writes entries into their settings, or a plugin beside
// them, and takes out again what it wrote, so that each file comes back byte for byte.
//
// Machine says where the files lie, User and Project which one an agent reads. Installer.Install writes into it and
// Installer.Remove takes us out; Examine says how we stand in it. Any number of processes may do all of that at once:
// those that write wait for each other by a lock, and a file that somebody else writes meanwhile is left as it is.
package install

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

// ErrPassing is returned when the running program is no installed one: it will be gone soon.
var ErrPassing = errors.New("this program is not installed")

// Command is the line that an agent's settings get: its shell runs it for every event. Without our program, and if that
// ends badly or never, the agent must go on as if it had no hook.
func Command(program, agent string) string {
	call := quote(program) + " hook " + agent
	a, _ := hooks.Find(agent)
	if runtime.GOOS == "windows" || a.Line == "" { // the shells of Windows do not agree on how to go on
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

// ourCommand takes a command line apart if it is `… hook AGENT` of a program of ours.
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

// ourProgram reports whether a path has the name of a program of ours, of whatever version.
func ourProgram(path string) bool {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	return strings.HasPrefix(base, "reverie") || strings.HasPrefix(base, "git-reverie")
}

// passing is where the go command puts what it builds to run it once.
var passing = pattern.New(`[/\\]go-build\d*[/\\]`)

// Program is the path by which hooks should call the running program: absolute, and one that stays when it is
// brought up to date. So an entry of PATH that leads to it comes before the file itself, which may lie in a folder of
// one version. The error wraps ErrPassing where there is no such path.
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
