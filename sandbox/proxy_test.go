package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeniedAddresses(t *testing.T) {
	deny := denied([]netip.Addr{netip.MustParseAddr("93.184.215.14")})
	for address, want := range map[string]string{
		"127.0.0.1": "this machine", "127.8.8.8": "this machine", "::1": "this machine", "::ffff:127.0.0.1": "this machine",
		"169.254.169.254": "of the link alone", "::ffff:169.254.169.254": "of the link alone", "fe80::1": "of the link alone", "fe80::1%eth0": "of the link alone",
		"10.0.0.1": "of a private network", "172.16.0.1": "of a private network", "192.168.1.1": "of a private network", "fd00:ec2::254": "of a private network",
		"224.0.0.1": "no machine", "ff02::1": "no machine", "0.0.0.0": "no machine", "::": "no machine",
		"0.1.2.3": "reserved", "100.100.100.200": "reserved", "198.18.0.1": "reserved", "192.0.0.192": "reserved", "255.255.255.255": "reserved",
		"64:ff9b::a9fe:a9fe": "reserved", "2002:a9fe:a9fe::1": "reserved", "2001:0:1::1": "reserved", "::127.0.0.1": "reserved", "fec0::1": "reserved",
		"93.184.215.14": "this machine",
		"1.1.1.1":       "", "172.32.0.1": "", "2606:4700:4700::1111": "", "100.63.255.255": "",
	} {
		if got := deny(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if deny(netip.Addr{}) == "" {
		t.Error("no address is allowed")
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"Proxy.Example.COM:443": "proxy.example.com:443", "a.b.:80": "a.b:80", "[2606:4700::1]:443": "[2606:4700::1]:443", "1.1.1.1:0443": "1.1.1.1:443",
		"": "", "host": "", "host:": "", "host:0": "", "host:70000": "", ":443": "", "a b:1": "", "user@host:1": "", "host/path:1": "", "*.example.com:443": "", "höst:1": "", "h\r\nX: y:1": "",
	} {
		got, err := parseTarget(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// echo starts a loopback server that returns its input in capitals.
func echo(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				lines := bufio.NewScanner(c)
				for lines.Scan() {
					fmt.Fprintln(c, strings.ToUpper(lines.Text()))
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// namesOf returns a proxy that resolves names by a table and may reach loopback.
func namesOf(table map[string]string, server netip.AddrPort) proxy {
	return proxy{
		resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			var out []netip.Addr
			for a := range strings.FieldsSeq(table[host]) {
				out = append(out, netip.MustParseAddr(a))
			}
			if out == nil {
				return nil, errors.New("no such host")
			}
			return out, nil
		},
		dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.Addr().String() == "9.9.9.9" {
				return nil, errors.New("refused")
			}
			return new(net.Dialer).DialContext(ctx, "tcp", server.String())
		},
	}
}

// socketIn returns a short path for a socket, whose path is limited to about a hundred bytes.
func socketIn(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "p")
}

func TestProxyReachesWhatIsAllowed(t *testing.T) {
	server := echo(t)
	p := namesOf(map[string]string{
		"open.example.com": "1.1.1.1", "second.example.com": "9.9.9.9 1.1.1.1", "down.example.com": "9.9.9.9",
		"metadata.example.com": "169.254.169.254", "rebound.example.com": "127.0.0.1 10.0.0.1", "half.example.com": "127.0.0.1 1.1.1.1",
	}, server)
	socket := socketIn(t)
	s, err := p.listen(socket, []string{"open.example.com:443", "second.example.com:443", "down.example.com:443", "metadata.example.com:80", "rebound.example.com:443",
		"half.example.com:443", "169.254.169.254:80", "[::ffff:127.0.0.1]:443", "gone.example.com:443"})
	if err != nil {
		t.Fatal(err)
	}
	connect := func(target string) string { return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n" }
	for _, test := range []struct {
		name, ask string
		status    int
		says      string
	}{
		{"allowed", connect("open.example.com:443"), 200, "HELLO"},
		{"in another spelling", connect("OPEN.example.com.:443"), 200, "HELLO"},
		{"words sent with the request", connect("open.example.com:443") + "early\n", 200, "EARLY"},
		{"the second address answers", connect("second.example.com:443"), 200, "HELLO"},
		{"one address may be reached", connect("half.example.com:443"), 200, "HELLO"},
		{"another port", connect("open.example.com:22"), 403, "not among"},
		{"another host", connect("evil.example.com:443"), 403, "not among"},
		{"an address in the place of the name", connect("1.1.1.1:443"), 403, "not among"},
		{"a name of the metadata service", connect("metadata.example.com:80"), 403, "169.254.169.254 is of the link alone"},
		{"the metadata service, allowed", connect("169.254.169.254:80"), 403, "of the link alone"},
		{"loopback in another family, allowed", connect("[::ffff:127.0.0.1]:443"), 403, "this machine"},
		{"a name that means this machine now", connect("rebound.example.com:443"), 403, "10.0.0.1 is of a private network"},
		{"nobody there", connect("down.example.com:443"), 502, "cannot be reached"},
		{"no such name", connect("gone.example.com:443"), 502, "cannot be reached"},
		{"plain http", "GET http://open.example.com/ HTTP/1.1\r\nHost: open.example.com\r\n\r\n", 405, "CONNECT"},
		{"a request of its own", "GET / HTTP/1.1\r\nHost: open.example.com:443\r\n\r\n", 405, "CONNECT"},
		{"no request", "\x16\x03\x01\r\n\r\n", 400, "not a request"},
		{"a long request", "CONNECT open.example.com:443 HTTP/1.1\r\nX: " + strings.Repeat("x", proxyHead) + "\r\n\r\n", 400, "not a request"},
		{"no port", connect("open.example.com"), 400, "host and port"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := net.Dial("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(20 * time.Second))
			go io.WriteString(c, test.ask)
			r := bufio.NewReader(c)
			answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if answer.StatusCode == 200 {
				if !strings.HasSuffix(test.ask, "early\n") {
					io.WriteString(c, "hello\n")
				}
				text, _ = r.ReadString('\n')
			} else {
				all, _ := io.ReadAll(io.LimitReader(r, answer.ContentLength))
				text = string(all)
			}
			if answer.StatusCode != test.status || !strings.Contains(text, test.says) {
				t.Errorf("%d %q, want %d with %q", answer.StatusCode, text, test.status, test.says)
			}
		})
	}
	want := []string{
		"169.254.169.254:80: 169.254.169.254 is of the link alone", "1.1.1.1:443: it is not among what may be reached", "[::ffff:127.0.0.1]:443: 127.0.0.1 is this machine",
		"evil.example.com:443: it is not among what may be reached", "metadata.example.com:80: 169.254.169.254 is of the link alone",
		"open.example.com:22: it is not among what may be reached", "rebound.example.com:443: 10.0.0.1 is of a private network",
	}
	got := s.close()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// TestProxyEnds ends the proxy with an open connection: both sides see the end, and nothing listens
// any more.
func TestProxyEnds(t *testing.T) {
	socket := socketIn(t)
	s, err := namesOf(map[string]string{"a.example.com": "1.1.1.1"}, echo(t)).listen(socket, []string{"a.example.com:1"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT a.example.com:1 HTTP/1.1\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect}); err != nil {
		t.Fatal(err)
	}
	s.close()
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes after the end", n)
	}
	if c, err := net.Dial("unix", socket); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

// TestProxyEndsWhatIsBeingReached tests a host that does not answer: the end of the proxy ends the
// attempt.
func TestProxyEndsWhatIsBeingReached(t *testing.T) {
	for _, what := range []string{"a name", "a connection"} {
		asked, why := make(chan bool, 1), make(chan error, 1)
		hang := func(ctx context.Context) error {
			asked <- true
			<-ctx.Done()
			why <- ctx.Err()
			return ctx.Err()
		}
		p := namesOf(map[string]string{"a.example.com": "1.1.1.1"}, echo(t))
		if what == "a name" {
			p.resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) { return nil, hang(ctx) }
		} else {
			p.dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) { return nil, hang(ctx) }
		}
		socket := socketIn(t)
		s, err := p.listen(socket, []string{"a.example.com:1"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "CONNECT a.example.com:1 HTTP/1.1\r\n\r\n")
		<-asked
		s.close()
		if err := <-why; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: it is waited for until %v", what, err)
		}
	}
}

// TestForwardReachesTheProxy tests the inside: a program with a proxy address reaches the socket.
func TestForwardReachesTheProxy(t *testing.T) {
	socket := socketIn(t)
	s, err := namesOf(map[string]string{"a.example.com": "1.1.1.1"}, echo(t)).listen(socket, []string{"a.example.com:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	inside, outside := net.Pipe()
	go carry(outside, socket, "")
	inside.SetDeadline(time.Now().Add(20 * time.Second))
	go fmt.Fprintf(inside, "CONNECT a.example.com:1 HTTP/1.1\r\n\r\nhello\n")
	r := bufio.NewReader(inside)
	if _, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}); err != nil {
		t.Fatal(err)
	}
	if text, err := r.ReadString('\n'); text != "HELLO\n" {
		t.Errorf("%q, %v", text, err)
	}
	inside.Close()
}
