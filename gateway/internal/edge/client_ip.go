package edge

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the load balancers in front of the gateway, which alone are believed when they say
// whom they forward for.
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

// ClientIP is the address a request comes from: that of the connection, or, while that is a
// trusted proxy's, the one before it in X-Forwarded-For. What stands further left was written by
// the caller and counts for nothing.
func (p Proxies) ClientIP(r *http.Request) string {
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
		hop, err := hopAddr(hops[i])
		if err != nil {
			break
		}
		client = hop.Unmap()
	}
	return subject(client)
}

// subject is what a limit counts: a whole /64 of IPv6, which one caller commands.
func subject(addr netip.Addr) string {
	const network = 64
	if addr.Is4() {
		return addr.String()
	}
	prefix, err := addr.Prefix(network)
	if err != nil {
		return addr.String()
	}
	return prefix.String()
}

// hopAddr reads an entry of X-Forwarded-For, which some proxies write with a port.
func hopAddr(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr(), nil
	}
	return netip.ParseAddr(text)
}

func (p Proxies) trusts(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
