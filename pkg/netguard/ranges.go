package netguard

import (
	"net/netip"
	"slices"
)

// forbidden lists every range that is not a public unicast address, after the IANA special-purpose registries for
// IPv4 and IPv6. Ranges that carry an IPv4 address inside an IPv6 one (mapped, compatible, translated, tunnelled) are
// refused as a whole: no receiver needs them, and what a gateway on the way would do with the inner address is not
// ours to know.
var forbidden = prefixes(
	"0.0.0.0/8",         // this network, unspecified
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // carrier-grade NAT
	"127.0.0.0/8",       // loopback
	"169.254.0.0/16",    // link-local, cloud metadata services
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relays
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarking
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, broadcast
	"168.63.129.16/32",  // public by number, but the platform service of Azure hosts
	"::/96",             // unspecified, loopback, IPv4-compatible
	"::ffff:0:0/96",     // IPv4-mapped
	"::ffff:0:0:0/96",   // IPv4-translated
	"64:ff9b::/96",      // NAT64
	"64:ff9b:1::/48",    // NAT64, local use
	"100::/64",          // discard
	"100:0:0:1::/64",    // dummy prefix
	"2001::/23",         // protocol assignments: Teredo, ORCHID, benchmarking, AMT
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
	"5f00::/16",         // segment routing
	"fc00::/7",          // unique local
	"fe80::/10",         // link-local
	"fec0::/10",         // site-local
	"ff00::/8",          // multicast
)

// globalUnicast is all of IPv6 that is handed out to the public. Anything
// outside it is refused even when no line above names it.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Forbidden are the ranges that are refused, for others who guard the way out: firewalls, network policies.
func Forbidden() []netip.Prefix { return slices.Clone(forbidden) }

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public reports whether an address belongs to the public internet.
func public(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	// Is4In6 is left as it is: the table refuses the mapped form as a whole.
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	for _, prefix := range forbidden {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// allowed is public, and loopback where the options say so.
func (o Options) allowed(addr netip.Addr) bool {
	if o.AllowLoopback && addr.IsLoopback() && !addr.Is4In6() && addr.Zone() == "" {
		return true
	}
	return public(addr)
}
