package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
)

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
