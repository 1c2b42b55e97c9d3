package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs the command as a person does, with a terminal of its own, types what is given into
// it, and returns what the terminal showed.
func onTerminal(t testing.TB, dir, typed string, args ...string) answer {
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(&shown, master) }) // until nobody has the other side open
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
