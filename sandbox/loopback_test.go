package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoopbacks(t *testing.T) {
	for _, test := range []struct {
		network string
		want    string
		says    string
	}{
		{"127.0.0.1:11434", "127.0.0.1:11434", ""},
		{"proxy.example.com:443 127.0.0.1:011434 127.8.8.8:1 127.0.0.1:11434 [0:0::1]:2 [::1]:2", "127.0.0.1:11434 127.8.8.8:1 [::1]:2", ""},
		{"localhost:1 127.1:1 127.0.0.01:1 2130706433:1 0x7f000001:1 localhost.localdomain:1", "", ""},
		{"[::ffff:127.0.0.1]:1 [::127.0.0.1]:1 0.0.0.0:1 [::]:1 10.0.0.1:1 169.254.169.254:80 192.168.1.1:1 128.0.0.1:1", "", ""},
		{"127.0.0.1:0", "", "not a host and port"},
		{"127.0.0.1", "", "not a host and port"},
		{"[::1%lo]:1", "", "not a host and port"},
		{"127.0.0.1:3128", "", "where the proxy is inside"},
	} {
		all, err := loopbacks(strings.Fields(test.network))
		var got []string
		for _, at := range all {
			got = append(got, at.String())
		}
		if strings.Join(got, " ") != test.want || (err == nil) != (test.says == "") || err != nil && (!errors.Is(err, ErrBadSpec) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %q, %v, want %q and an error with %q", test.network, got, err, test.want, test.says)
		}
	}
}

// The proxy reaches this machine only at the listed address and port, under no other name.
func TestProxyReachesOnlyTheServiceThatIsAllowed(t *testing.T) {
	server := echo(t)
	p := namesOf(map[string]string{"localhost": "127.0.0.1", "rebound.example.com": "127.0.0.1"}, server)
	var mu sync.Mutex
	var dialled []string
	toServer := p.dial
	p.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if dialled = append(dialled, to.String()); to.Port() == 9 {
			return nil, errors.New("refused")
		}
		return toServer(ctx, to)
	}
	socket := socketIn(t)
	s, err := p.listen(socket, []string{"127.0.0.1:11434", "[0::1]:80", "127.0.0.1:9", "localhost:443", "rebound.example.com:11434", "10.0.0.1:11434"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		service, want string
	}{
		{"127.0.0.1:11434", "HELLO\n"},
		{"[::1]:80", "HELLO\n"},
		{"127.0.0.1:9", ""},
		{"127.0.0.1:11435", ""},
		{"127.0.0.2:11434", ""},
		{"[::1]:11434", ""},
		{"[::ffff:127.0.0.1]:11434", ""},
		{"0.0.0.0:11434", ""},
		{"localhost:443", ""},
		{"rebound.example.com:11434", ""},
		{"10.0.0.1:11434", ""},
	} {
		inside, outside := net.Pipe()
		inside.SetDeadline(time.Now().Add(20 * time.Second))
		go carry(outside, socket, test.service)
		go fmt.Fprintf(inside, "hello\n")
		if got, err := bufio.NewReader(inside).ReadString('\n'); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v, want %q", test.service, got, err, test.want)
		}
		inside.Close()
	}
	want := []string{
		"0.0.0.0:11434: it is not among what may be reached", "10.0.0.1:11434: 10.0.0.1 is of a private network", "127.0.0.1:11435: it is not among what may be reached",
		"127.0.0.1:9: nobody answers there", "127.0.0.2:11434: it is not among what may be reached", "[::1]:11434: it is not among what may be reached",
		"[::ffff:127.0.0.1]:11434: it is not among what may be reached", "localhost:443: 127.0.0.1 is this machine", "rebound.example.com:11434: 127.0.0.1 is this machine",
	}
	got := s.close()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"127.0.0.1:11434", "[::1]:80", "127.0.0.1:9"}, dialled); diff != "" {
		t.Errorf("connected to (-want +got):\n%s", diff)
	}
}

// A program that uses CONNECT itself reaches the same service, by its only spelling.
func TestProxyTakesAServiceByConnect(t *testing.T) {
	socket := socketIn(t)
	s, err := namesOf(nil, echo(t)).listen(socket, []string{"127.0.0.1:11434"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(c, "CONNECT 127.0.0.1:11434 HTTP/1.1\r\n\r\nhello\n")
	r := bufio.NewReader(c)
	if _, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}); err != nil {
		t.Fatal(err)
	}
	if text, err := r.ReadString('\n'); text != "HELLO\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// If Forward cannot listen at one of its addresses, the command does not start.
func TestForwardStartsNothingWithoutItsAddresses(t *testing.T) {
	taken := echo(t).String()
	free := "127.0.0.1:0"
	for _, test := range []struct {
		proxy    string
		services []string
	}{{taken, nil}, {free, []string{taken}}, {free, []string{"127.0.0.1:0", "nowhere"}}} {
		code, err := forward(test.proxy, "nowhere", test.services, []string{"/nowhere/started"})
		if err == nil || !strings.Contains(err.Error(), "the network of the container") {
			t.Errorf("%+v: %d, %v", test, code, err)
		}
	}
	if code, err := forward(free, "nowhere", []string{"127.0.0.1:0"}, []string{"/nowhere/started"}); code != 127 || err == nil {
		t.Errorf("a command that is not there: %d, %v", code, err)
	}
	for _, args := range [][]string{nil, {"--"}, {"127.0.0.1:1", "--"}, {"127.0.0.1:1", "true"}} {
		if _, err := Forward(args); err == nil || !strings.Contains(err.Error(), "no command") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
