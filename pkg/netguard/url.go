package netguard

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxURLLength   = 2048
	maxNameLength  = 253
	maxLabelLength = 63
)

// localSuffixes are names that never lead to the public internet.
var localSuffixes = []string{
	".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".in-addr.arpa", ".ip6.arpa", ".onion",
}

// CheckURL returns why a URL cannot be a receiver's, in words for the person who entered it, or nothing. It resolves no name.
func CheckURL(raw string, o Options) (refusal string) {
	if len(raw) > maxURLLength {
		return fmt.Sprintf("must have at most %d characters", maxURLLength)
	}
	// A receiver's URL in plain ASCII, without blanks and backslashes, means the same to every parser.
	if i := strings.IndexFunc(raw, func(r rune) bool { return r <= ' ' || r == '\\' || r == del }); i >= 0 {
		return fmt.Sprintf("must not have the character %q", raw[i])
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "must be a well-formed URL"
	}
	switch {
	case !o.schemeAllowed(u):
		return "must begin with https://"
	case u.Opaque != "" || u.Hostname() == "":
		return "must have a host"
	case u.User != nil:
		return "must not have a user or a password"
	case strings.Contains(raw, "#"):
		return "must not have a fragment, which # begins"
	case !ascii(u.Host):
		return "must have its host in ASCII: a name with other letters begins with xn-- there"
	case !ascii(raw):
		return "must have characters other than ASCII percent-encoded"
	case !validPort(u):
		return "must have no port, or one from 1 to 65535"
	}
	return o.checkHost(u.Hostname())
}

const del = '\x7f'

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// schemeAllowed allows https, and http to this machine if the options allow it.
func (o Options) schemeAllowed(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	if u.Scheme != "http" || !o.AllowLoopback {
		return false
	}
	return IsLoopback(u.Hostname())
}

// IsLoopback reports whether the host is an address of this machine that no other one reaches.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func validPort(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

func (o Options) checkHost(host string) (refusal string) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !o.allowed(addr) {
			return fmt.Sprintf("must not lead to %s, which is not a public address", addr)
		}
		return ""
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if o.AllowLoopback && name == "localhost" {
		return ""
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix("."+name, suffix) {
			return fmt.Sprintf("must not lead to %s, which is a local name", name)
		}
	}
	if !validName(name) {
		return "must have a host that is a name of the public DNS or an IP address"
	}
	return ""
}

// validName accepts a host name of the public DNS and nothing that some resolver might take for a number. 2130706433,
// 0177.0.0.1 and 0x7f.1 are all 127.0.0.1 to the C library; a public top-level domain always begins with a letter.
func validName(name string) bool {
	labels := strings.Split(name, ".")
	if len(labels) < 2 || len(name) > maxNameLength {
		return false
	}
	for _, label := range labels {
		if !validLabel(label) {
			return false
		}
	}
	top := labels[len(labels)-1]
	return top[0] >= 'a' && top[0] <= 'z'
}

func validLabel(label string) bool {
	if label == "" || len(label) > maxLabelLength || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		letter := c >= 'a' && c <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// forbidden lists every range that is not a public unicast address, after the IANA special-purpose registries for IPv4 and
// IPv6. Ranges that carry an IPv4 address inside an IPv6 one (mapped, compatible, translated, tunnelled) are refused as a
// whole: no receiver needs them, and a gateway on the way might use the inner address.
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
	"168.63.129.16/32",  // in a public range, but the platform service of Azure hosts
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

// globalUnicast is the part of IPv6 that is allocated to the public. Anything outside is refused even if the table does not
// list it.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Forbidden returns the refused ranges, for firewalls and network policies.
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
	// Mapped addresses are not unmapped: the table refuses them as a whole.
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

// allowed accepts public addresses, and loopback ones if the options allow them.
func (o Options) allowed(addr netip.Addr) bool {
	if o.AllowLoopback && addr.IsLoopback() && !addr.Is4In6() && addr.Zone() == "" {
		return true
	}
	return public(addr)
}
