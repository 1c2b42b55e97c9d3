package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// Paths and addresses inside a container with a network.
const (
	insideSocket  = "/run/reverie/proxy"
	insideForward = "/run/reverie/forward"
	insideProxy   = "127.0.0.1:3128"
)

// Forward runs inside a container. It runs the command after "--" in args, which reaches the host's
// proxy at an address of its own. At each address before "--" the command reaches the host's
// service with the same address. Forward returns the command's exit code, 128 and more after a
// signal. The program in Spec.Forward calls it.
func Forward(args []string) (int, error) {
	dashes := slices.Index(args, "--")
	if dashes < 0 || dashes == len(args)-1 {
		return 0, errors.New("there is no command")
	}
	return forward(insideProxy, insideSocket, args[:dashes], args[dashes+1:])
}

func forward(address, socket string, services, argv []string) (int, error) {
	for _, at := range append([]string{address}, services...) {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return 0, fmt.Errorf("the network of the container: %w", err)
		}
		defer l.Close()
		to := at
		if at == address {
			to = ""
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go carry(c, socket, to)
			}
		}()
	}
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
	err := cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitCode(cmd.ProcessState), nil
}

// carry forwards one connection to the socket, and from there to a service of the host unless that
// is "".
func carry(c net.Conn, socket, service string) {
	defer c.Close()
	out, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer out.Close()
	from := bufio.NewReader(out)
	if service != "" {
		fmt.Fprintf(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", service, service)
		answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
		if err != nil || answer.StatusCode != http.StatusOK {
			return // the client sees the connection end; the host reports the reason
		}
	}
	var both sync.WaitGroup
	both.Go(func() { io.Copy(out, c); closeWrite(out) })
	both.Go(func() { io.Copy(c, from); closeWrite(c) })
	both.Wait()
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
