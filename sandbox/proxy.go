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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of a proxy.
const (
	proxyHead  = 16 << 10         // bytes of a request
	proxyWait  = 15 * time.Second // for a request, a name and a connection, each
	proxyIdle  = 5 * time.Minute  // without traffic from either side
	proxyConns = 128              // at once
	maxDenied  = 32
)

// proxy holds the parts of the network. The zero value is the real one.
type proxy struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	deny    func(netip.Addr) string
	dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// serving is a proxy for one container: it accepts CONNECT to allowed targets, and nothing else. It
// resolves names here and connects to the checked address, because a name may resolve differently
// the next time.
type serving struct {
	proxy
	allow  []string
	listen net.Listener
	places chan struct{} // one for each connection
	all    sync.WaitGroup
	life   context.Context // of all lookups and connections; end ends it
	end    context.CancelFunc

	mu     sync.Mutex
	denied []string
}

// listen serves on a socket in a folder that only its owner can enter. allow lists host:port, or
// [address]:port.
func (p proxy) listen(socket string, allow []string) (*serving, error) {
	s := &serving{proxy: p, places: make(chan struct{}, proxyConns)}
	for _, a := range allow {
		target, err := parseTarget(a)
		if err != nil {
			return nil, err
		}
		if at, ok := loopback(target); ok {
			target = at.String()
		}
		s.allow = append(s.allow, target)
	}
	if s.resolve == nil {
		s.resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if s.deny == nil {
		s.deny = denied(ownAddresses())
	}
	if s.dial == nil {
		s.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", to.String())
		}
	}
	var err error
	if s.listen, err = net.Listen("unix", socket); err != nil {
		return nil, fmt.Errorf("listen for the network of a container: %w", err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		// The user inside may differ. Outside, only the folder's owner can enter it.
		s.listen.Close()
		return nil, err
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.all.Go(s.accept)
	return s, nil
}

// parseTarget parses host:port from an allow-list, and normalises it.
func parseTarget(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	n, err2 := strconv.ParseUint(port, 10, 16)
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if err != nil || err2 != nil || n == 0 || host == "" || strings.ContainsFunc(host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' || r == ':')
	}) {
		return "", fmt.Errorf("%w: %q is not a host and port such as proxy.example.com:443", ErrBadSpec, text)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

func (s *serving) accept() {
	for {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		select {
		case s.places <- struct{}{}:
		default:
			c.Close()
			continue
		}
		s.all.Go(func() {
			defer func() { <-s.places }()
			defer s.own(c)()
			s.serve(c)
		})
	}
}

// own closes a connection when the proxy ends. done closes it earlier.
func (s *serving) own(c net.Conn) (done func()) {
	stop := context.AfterFunc(s.life, func() { c.Close() })
	return func() {
		stop()
		c.Close()
	}
}

// close ends every connection, and returns the refused targets.
func (s *serving) close() []string {
	s.listen.Close()
	s.end()
	s.all.Wait()
	return s.denied
}

// refuse records a refusal and reports it to the command.
func (s *serving) refuse(c net.Conn, status int, target, why string) {
	s.mu.Lock()
	if note := target + ": " + why; !slices.Contains(s.denied, note) && len(s.denied) < maxDenied {
		s.denied = append(s.denied, note)
	}
	s.mu.Unlock()
	say(c, status, why)
}

func say(c net.Conn, status int, text string) {
	fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, http.StatusText(status), len(text)+1, text)
}

func (s *serving) serve(c net.Conn) {
	c.SetDeadline(time.Now().Add(proxyWait))
	from := bufio.NewReader(io.LimitReader(c, proxyHead))
	r, err := http.ReadRequest(from)
	if err != nil {
		say(c, http.StatusBadRequest, "not a request")
		return
	}
	if r.Method != http.MethodConnect {
		say(c, http.StatusMethodNotAllowed, "only CONNECT is taken here: use https")
		return
	}
	target, err := parseTarget(r.RequestURI)
	if err != nil {
		say(c, http.StatusBadRequest, "not a host and port")
		return
	}
	if !slices.Contains(s.allow, target) {
		s.refuse(c, http.StatusForbidden, target, "it is not among what may be reached")
		return
	}
	ctx, cancel := context.WithTimeout(s.life, proxyWait)
	defer cancel()
	to, why, err := s.reach(ctx, target)
	if why != "" {
		s.refuse(c, http.StatusForbidden, target, why)
		return
	}
	if err != nil {
		say(c, http.StatusBadGateway, "it cannot be reached")
		return
	}
	defer s.own(to)()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	early, _ := from.Peek(from.Buffered()) // sent along with the request
	pipe(c, to, early)
}

// reach connects to the first allowed address of a target, or returns the reason in why. It reaches
// this machine only at a literal address in the target, never through a name.
func (s *serving) reach(ctx context.Context, target string) (c net.Conn, why string, err error) {
	if at, ok := loopback(target); ok {
		if c, err = s.dial(ctx, at); err != nil {
			return nil, "nobody answers there", nil
		}
		return c, "", nil
	}
	host, port, _ := net.SplitHostPort(target)
	n, _ := strconv.ParseUint(port, 10, 16)
	var addresses []netip.Addr
	if a, perr := netip.ParseAddr(host); perr == nil {
		addresses = []netip.Addr{a}
	} else if addresses, err = s.resolve(ctx, host); err != nil {
		return nil, "", err
	}
	err = errors.New("no address")
	for _, a := range addresses {
		a = a.Unmap().WithZone("")
		if no := s.deny(a); no != "" {
			why = fmt.Sprintf("%s is %s", a, no)
			continue
		}
		if c, err = s.dial(ctx, netip.AddrPortFrom(a, uint16(n))); err == nil {
			return c, "", nil
		}
		why = ""
	}
	return nil, why, err
}

// pipe copies both ways until both sides are done or silent for long.
func pipe(a, b net.Conn, early []byte) {
	var both sync.WaitGroup
	copyTo := func(to, from net.Conn, first []byte) {
		defer closeWrite(to)
		buf := make([]byte, 32<<10)
		for {
			if len(first) > 0 {
				if _, err := to.Write(first); err != nil {
					return
				}
			}
			until := time.Now().Add(proxyIdle)
			a.SetDeadline(until)
			b.SetDeadline(until)
			n, err := from.Read(buf)
			if first = buf[:n]; n == 0 && err != nil {
				return
			}
		}
	}
	both.Go(func() { copyTo(b, a, early) })
	both.Go(func() { copyTo(a, b, nil) })
	both.Wait()
}

// reserved returns the networks outside the public internet, by IANA's registries of special
// addresses, and those whose addresses embed another one for a translator.
func reserved() []string {
	return []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	}
}

// denied returns the rule for addresses forbidden to a container: it returns the reason, or "".
func denied(own []netip.Addr) func(netip.Addr) string {
	var networks []netip.Prefix
	for _, r := range reserved() {
		networks = append(networks, netip.MustParsePrefix(r))
	}
	return func(a netip.Addr) string {
		a = a.Unmap().WithZone("")
		switch {
		case !a.IsValid():
			return "no address"
		case a.IsLoopback():
			return "this machine"
		case a.IsLinkLocalUnicast(): // 169.254.169.254 gives away the secrets of a cloud machine
			return "of the link alone"
		case a.IsPrivate():
			return "of a private network"
		case a.IsMulticast(), a.IsUnspecified():
			return "no machine"
		case slices.Contains(own, a):
			return "this machine"
		case slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) }):
			return "reserved"
		}
		return ""
	}
}

// ownAddresses returns the addresses of this machine.
func ownAddresses() []netip.Addr {
	var own []netip.Addr
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				own = append(own, ip.Unmap())
			}
		}
	}
	return own
}

// loopback parses an entry of Spec.Network for a service of this machine: a literal address such as
// 127.0.0.1:11434 or [::1]:8080. It rejects a name that resolves to one, and an IPv4 address in
// IPv6 notation.
func loopback(target string) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(target)
	return at, err == nil && at.Port() > 0 && at.Addr().IsLoopback() && !at.Addr().Is4In6() && at.Addr().Zone() == ""
}

// loopbacks returns the loopback services in an allow-list, each once.
func loopbacks(network []string) ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	for _, entry := range network {
		target, err := parseTarget(entry)
		if err != nil {
			return nil, err
		}
		at, ok := loopback(target)
		switch {
		case !ok || slices.Contains(all, at):
		case at.String() == insideProxy:
			return nil, fmt.Errorf("%w: %s is where the proxy is inside; have the service listen at another port", ErrBadSpec, at)
		default:
			all = append(all, at)
		}
	}
	return all, nil
}
