package job

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Depth is an environment variable of every process that Start begins. It turns hooks off, so that
// Reverie does not learn from itself.
const Depth = "REVERIE_HOOK_DEPTH"

// DisableVariable is the environment variable by which a user turns hooks off.
const DisableVariable = "REVERIE_DISABLE"

// Disabled reports whether the environment turns hooks off.
func Disabled() bool {
	off := os.Getenv(DisableVariable)
	return off != "" && off != "0" || os.Getenv(Depth) != ""
}

// Loop is the environment variable that holds a loop's name in everything that the loop starts.
const Loop = "REVERIE_LOOP"

// Given is the environment variable of an agent whose prompt holds memories: the name of its
// session in the ledger. The agent's hooks leave those memories out.
const Given = "REVERIE_LOOP_GIVEN"

// Wake requests work and starts a worker unless one is running.
func Wake(repo *git.Repo, state string) error {
	if err := Request(state, Worker); err != nil {
		return err
	}
	lock, err := TryLock(state, Worker)
	if err != nil {
		return err
	}
	if lock == nil {
		endOverdue(state, Worker, time.Now())
		return nil
	}
	lock.Close()
	dir := cmp.Or(repo.WorkTree, repo.CommonDir)
	return Start(dir, state, string(Worker))
}

// Start runs a reverie command in a process that outlives the caller. The process has its own
// session and none of the caller's files. Its stderr goes to the log.
func Start(dir, state string, args ...string) error {
	cmd, err := Begin(dir, state, args...)
	if err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Begin is Start for a caller that watches the process. The caller must wait for it or release it.
func Begin(dir, state string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"-q", "-C", dir}, args...)...)
	cmd.Dir = dir
	// A loop kills every process that bears its variable.
	cmd.Env = append(slices.DeleteFunc(git.Environ(), func(kv string) bool { return strings.HasPrefix(kv, Loop) }), Depth+"=1")
	cmd.SysProcAttr = apart()
	log, err := OpenLog(state)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return cmd, nil
}
