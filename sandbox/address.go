package sandbox

import (
	"net"
	"net/netip"
	"slices"
)

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
