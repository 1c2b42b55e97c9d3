package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// What a container with a network has inside.
const (
	insideSocket  = "/run/reverie/proxy"
	insideForward = "/run/reverie/forward"
	insideProxy   = "127.0.0.1:3128"
)

// Forward runs inside a container: it runs argv, which reaches the proxy of the host at an address of its own, and returns its exit code, 128 and more
// where a signal ended it. Whoever calls it is the program that Spec.Forward names.
func Forward(argv []string) (int, error) { return forward(insideProxy, insideSocket, argv) }

func forward(address, socket string, argv []string) (int, error) {
	if len(argv) == 0 {
		return 0, errors.New("there is no command")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return 0, fmt.Errorf("the network of the container: %w", err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go carry(c, socket)
		}
	}()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 127, err
	}
	ctx, ended := context.WithCancel(context.Background())
	defer ended()
	go func() {
		for {
			select {
			case s := <-signals:
				cmd.Process.Signal(s)
			case <-ctx.Done():
				return
			}
		}
	}()
	err = cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitCode(cmd.ProcessState), nil
}

// carry passes one connection on to the socket.
func carry(c net.Conn, socket string) {
	defer c.Close()
	out, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer out.Close()
	var both sync.WaitGroup
	both.Go(func() { io.Copy(out, c); closeWrite(out) })
	both.Go(func() { io.Copy(c, out); closeWrite(c) })
	both.Wait()
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
