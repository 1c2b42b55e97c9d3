package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reverie-memory/reverie/hooks"
	"golang.org/x/sys/unix"
)

// screen is a terminal of a size in cells; 0 × 0 is one that does not know its size. It echoes
// nothing.
type screen struct {
	columns, rows int
	env           []string // of the command, beside the test's own
}

// onTerminal runs the command as a person does, with a terminal of its own, types what is given
// into it, and returns what the terminal showed.
func onTerminal(t testing.TB, dir, typed string, args ...string) answer {
	t.Helper()
	return screen{}.run(t, dir, typed, args...)
}

// run is onTerminal on this screen. Lines end with a line feed alone.
func (s screen) run(t testing.TB, dir, typed string, args ...string) answer {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(s.rows), Col: uint16(s.columns)}); err != nil {
		t.Fatal(err)
	}
	mode, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Lflag &^= unix.ECHO
	mode.Oflag &^= unix.ONLCR
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = dir, append(notAnAgents(os.Environ()), s.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(&shown, master) }) // until the other side is closed
	if _, err := io.WriteString(master, typed); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	reading.Wait()
	if ctx.Err() != nil {
		t.Fatalf("hangs on a terminal: %q\n%s", args, &shown)
	}
	return answer{args: args, out: shown.String(), code: cmd.ProcessState.ExitCode()}
}

// notAnAgents returns an environment without the marks of an agent's shell: a person is at the
// terminal.
func notAnAgents(environ []string) []string {
	return append(slices.DeleteFunc(environ, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "NO_COLOR" || name == "LESS" || slices.Contains(hooks.Marks(os.Getenv), name)
	}), "TERM=xterm")
}
