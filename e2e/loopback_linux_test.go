package e2e

import (
	"errors"
	"net"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// loopback is a network with only 127.0.0.1: its processes can reach this test and no other
// machine.
type loopback struct {
	tasks chan func() // run on the only thread in that network
	own   bool        // false if the system does not permit one
}

func newLoopback(t *testing.T) *loopback {
	t.Helper()
	n := &loopback{tasks: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // permanently: the thread ends with this function
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		if err == nil {
			err = raise("lo")
		}
		made <- err
		for task := range n.tasks {
			task()
		}
	}()
	t.Cleanup(func() { close(n.tasks) })
	switch err := <-made; {
	case errors.Is(err, syscall.EPERM):
		t.Log("not root: the clients keep the machine's network")
	case err != nil:
		t.Fatalf("make a network of its own: %v", err)
	default:
		n.own = true
	}
	return n
}

// raise switches a network interface on.
func raise(name string) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var request struct { // struct ifreq of <net/if.h>
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], name)
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

// do runs f in the network.
func (n *loopback) do(f func() error) error {
	done := make(chan error)
	n.tasks <- func() { done <- f() }
	return <-done
}

func (n *loopback) start(cmd *exec.Cmd) error { return n.do(cmd.Start) }

func (n *loopback) listen(t *testing.T) net.Listener {
	t.Helper()
	var l net.Listener
	err := n.do(func() (err error) {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// reachable returns the existing network interfaces.
func (n *loopback) reachable(t *testing.T) []string {
	t.Helper()
	var names []string
	err := n.do(func() error {
		all, err := net.Interfaces()
		for _, i := range all {
			names = append(names, i.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
