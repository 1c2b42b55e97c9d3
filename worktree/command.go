package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Command describes a phase's command.
type Command struct {
	Args  []string
	Dir   string
	Env   []string // the whole environment
	Stdin []byte
	Time  time.Duration // its time limit; 0: none
	Heard func()        // called when it prints something; may be nil
	Live  io.Writer     // receives its output at once; may be nil
	Began func(pid int) // called with the leader of its process group; may be nil
}

// Result is the result of a command that ran.
type Result struct {
	Code     int    // exit status; -1 if a signal ended it
	Output   string // its output on both streams; for a long text the beginning and the end
	TimedOut bool
}

// Runner runs a command, and returns only after all of its processes have ended, even at its time
// limit or at the end of ctx. The error means that it could not run, or that ctx ended; a failed
// command gives a Result.
type Runner func(ctx context.Context, c Command) (Result, error)

const (
	grace      = 5 * time.Second // between asking an overdue process to end, and killing it
	haste      = time.Second     // the same when we must end
	lastWords  = time.Second     // for output of processes that outlive the command and its group
	keptOutput = 256 << 10       // bytes of output kept in memory
)

// Exec is the Runner of this machine. The command runs in its own process group, which is ended as
// a whole.
func Exec(ctx context.Context, c Command) (Result, error) {
	var res Result
	if len(c.Args) == 0 {
		return res, errors.New("no command")
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.Dir, c.Env, ownGroup()
	from, to, err := os.Pipe()
	if err != nil {
		return res, err
	}
	defer from.Close()
	cmd.Stdout, cmd.Stderr = to, to
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	to.Close()
	if err != nil {
		return res, fmt.Errorf("run %s: %w", c.Args[0], err)
	}
	if c.Began != nil {
		c.Began(cmd.Process.Pid)
	}
	go func() {
		stdin.Write(c.Stdin) // a program that reads nothing is not at fault
		stdin.Close()
	}()
	kept := &kept{most: keptOutput, heard: c.Heard, live: c.Live}
	read := make(chan struct{})
	go func() { io.Copy(kept, from); close(read) }()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	var late <-chan time.Time
	if c.Time > 0 {
		timer := time.NewTimer(c.Time)
		defer timer.Stop()
		late = timer.C
	}
	wait := func(most time.Duration) {
		signalGroup(cmd.Process, false)
		select {
		case err = <-ended:
		case <-time.After(most):
			signalGroup(cmd.Process, true)
			err = <-ended
		}
	}
	select {
	case err = <-ended:
	case <-late:
		res.TimedOut = true
		wait(grace)
	case <-ctx.Done():
		wait(haste)
	}
	endGroup(cmd.Process.Pid) // whatever it has left behind
	select {
	case <-read:
	case <-time.After(lastWords):
		from.Close()
		<-read
	}
	res.Output = kept.text()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case errors.As(err, &exit):
		res.Code = exit.ExitCode()
	case err != nil:
		return res, fmt.Errorf("run %s: %w", c.Args[0], err)
	}
	return res, nil
}

// Keep returns a writer for the output of a command that runs elsewhere, and its text as Exec would
// keep it.
func Keep(c Command) (w io.Writer, text func() string) {
	k := &kept{most: keptOutput, heard: c.Heard, live: c.Live}
	return k, k.text
}

// kept is a writer that keeps the first third and the end of its input, up to a number of bytes. It
// keeps whole lines of a longer input.
type kept struct {
	most  int
	heard func()
	live  io.Writer

	mu   sync.Mutex
	head []byte
	tail []byte // later output, at most twice most bytes; after a gap it begins with a line
	gone int    // bytes between the two
	torn bool   // the beginning of the incoming line is lost
}

func (k *kept) Write(p []byte) (int, error) {
	if k.heard != nil {
		k.heard()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.live != nil {
		k.live.Write(p)
	}
	n := len(p)
	if room := k.most/3 - len(k.head); room > 0 {
		take := min(room, len(p))
		k.head, p = append(k.head, p[:take]...), p[take:]
	}
	if k.torn {
		i := bytes.IndexByte(p, '\n')
		if k.torn = i < 0; k.torn {
			i = len(p) - 1
		}
		k.gone, p = k.gone+i+1, p[i+1:]
	}
	k.tail = append(k.tail, p...)
	if len(k.tail) > 2*k.most {
		end := LastLines(k.tail, k.most)
		k.torn = len(end) == 0 && !bytes.HasSuffix(k.tail, []byte("\n"))
		k.gone += len(k.tail) - len(end)
		k.tail = append(k.tail[:0], end...)
	}
	return n, nil
}

func (k *kept) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return torn(string(k.head), string(k.tail), k.gone, k.most)
}
