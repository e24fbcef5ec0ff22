// Package clientip finds the client's address of a request, also behind trusted proxies.
package clientip

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the load balancers in front of the gateway. Only their X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies reads addresses and prefixes such as 10.0.0.0/8.
func ParseProxies(list []string) (Proxies, error) {
	var proxies Proxies
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("trusted proxy %q: %w", text, err)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}

// Of returns the address for limits. It starts with the connection's address, and as long as an address is a trusted proxy's,
// it takes the previous one in X-Forwarded-For. Callers can forge the rest of the header, which is ignored.
func (p Proxies) Of(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	client, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	client = client.Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusts(client); i-- {
		hop, err := parseHop(hops[i])
		if err != nil {
			break
		}
		client = hop.Unmap()
	}
	return network(client)
}

// network is the whole /64 of an IPv6 address, because one caller usually has all of it.
func network(addr netip.Addr) string {
	const bits = 64
	if addr.Is4() {
		return addr.String()
	}
	prefix, _ := addr.Prefix(bits) // No address has fewer bits.
	return prefix.String()
}

// parseHop reads an entry of X-Forwarded-For. Some proxies add a port.
func parseHop(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr(), nil
	}
	return netip.ParseAddr(text)
}

func (p Proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}
