package netguard

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	long := "https://example.com/" + strings.Repeat("a", 2048-len("https://example.com/"))
	for _, good := range []string{
		"https://example.com", "https://example.com/hook?x=1&y=%20", "https://EXAMPLE.com./", "https://example.com:8443/a",
		"https://example.com:1/", "https://example.com:65535/", "https://a-b.c_d.example.co.uk/", "https://xn--bcher-kva.example/",
		"https://8.8.8.8/", "https://[2606:4700::1111]/", "https://[2606:4700::1111]:8443/", "https://1.example.com/", long,
	} {
		require.Empty(t, CheckURL(good, Options{}), good)
	}

	for refusal, all := range map[string]map[string]string{
		"must have at most 2048 characters": {"too long": long + "a"},
		"must begin with https://": {
			"empty": "", "no scheme": "example.com", "http": "http://example.com/", "ftp": "ftp://example.com/",
		},
		"must have a host": {"no host": "https:///path", "only a port": "https://:443/", "opaque": "https:example.com"},
		"must not have a user or a password": {
			"user": "https://user@example.com/", "user and password": "https://u:p@example.com/", "empty user": "https://@example.com/",
		},
		"must not have a fragment, which # begins": {"fragment": "https://example.com/#a", "empty fragment": "https://example.com/#"},
		"must have no port, or one from 1 to 65535": {
			"port 0": "https://example.com:0/", "port 65536": "https://example.com:65536/", "empty port": "https://example.com:/",
		},
		"must be a well-formed URL":          {"port in words": "https://example.com:https/", "bad bracket": "https://[::1/"},
		"must not have the character ' '":    {"space": "https://example.com/a b", "space at the end": "https://example.com/ "},
		`must not have the character '\n'`:   {"newline": "https://example.com/\nHost: x"},
		`must not have the character '\t'`:   {"tab": "https://exa\tmple.com/"},
		`must not have the character '\x7f'`: {"delete": "https://example.com/\x7f"},
		`must not have the character '\\'`:   {"backslash": `https://example.com\@127.0.0.1/`},
		"must have its host in ASCII: a name with other letters begins with xn-- there": {
			"unicode": "https://bücher.example/", "full-width digits": "https://１２７.0.0.1/", "dotted circle": "https://①②⑦.0.0.1/",
		},
		"must have characters other than ASCII percent-encoded": {
			"path": "https://example.com/tåg", "zero-width": "https://example.com/\u200b",
		},
		"must not lead to localhost, which is a local name": {
			"localhost": "https://localhost/", "localhost with a dot": "https://localhost./",
		},
		"must not lead to metadata.google.internal, which is a local name": {
			"internal": "https://metadata.google.internal/", "INTERNAL": "https://metadata.google.INTERNAL./",
		},
		"must not lead to a.localhost, which is a local name":   {"below localhost": "https://a.localhost/"},
		"must not lead to printer.local, which is a local name": {"local": "https://printer.local/"},
		"must not lead to nas.home.arpa, which is a local name": {"home.arpa": "https://nas.home.arpa/"},
		"must have a host that is a name of the public DNS or an IP address": {
			"single label": "https://intranet/", "decimal": "https://2130706433/", "octal": "https://0177.0.0.1/",
			"hex": "https://0x7f.0.0.1/", "hex, short": "https://0x7f.1/", "hex, whole": "https://0x7f000001/", "short": "https://127.1/",
			"leading zeros": "https://127.000.000.001/", "too many parts": "https://1.2.3.4.5/", "above 255": "https://256.1.1.1/",
			"dot at the end": "https://127.0.0.1./", "empty label": "https://a..example.com/", "leading hyphen": "https://-a.example.com/",
			"long label": "https://" + strings.Repeat("a", 64) + ".example.com/",
			"long name":  "https://" + strings.Repeat("a.", 127) + "com/",
		},
	} {
		for name, bad := range all {
			t.Run(name, func(t *testing.T) { require.Equal(t, refusal, CheckURL(bad, Options{})) })
		}
	}
	require.NotEmpty(t, CheckURL("https://%31%32%37.0.0.1/", Options{}), "percent-encoded")

	for _, bad := range []string{
		"https://127.0.0.1/", "https://10.0.0.1:8443/", "https://169.254.169.254/latest/meta-data", "https://0.0.0.0/",
		"https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[64:ff9b::7f00:1]/",
		"https://[2002:7f00:1::]/", "https://[fd00::1]/", "https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/",
	} {
		require.Regexp(t, `^must not lead to \S+, which is not a public address$`, CheckURL(bad, Options{}), bad)
	}
}

func TestCheckURLWithLoopbackAllowed(t *testing.T) {
	t.Parallel()
	o := Options{AllowLoopback: true}
	for _, good := range []string{
		"http://127.0.0.1:8080/hook", "http://localhost:8080/hook", "http://[::1]:8080/", "https://127.0.0.1/", "https://example.com/",
	} {
		require.Empty(t, CheckURL(good, o), good)
	}
	for _, bad := range []string{
		"http://example.com/", "http://8.8.8.8/", "http://10.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/", "ftp://127.0.0.1/",
		"http://127.1/", "http://2130706433/", "http://a.localhost/", "https://[::ffff:127.0.0.1]/", "http://user@localhost/",
	} {
		require.NotEmpty(t, CheckURL(bad, o), bad)
	}
}

// resolverOf answers queries for IPv4 addresses with the given ones in turn and repeats the last one. It has no IPv6 addresses.
func resolverOf(t *testing.T, answers ...netip.Addr) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	next := func() netip.Addr { return answers[min(int(asked.Add(1)), len(answers))-1] }
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go serveDNS(far, next)
			return near, nil
		},
	}
}

// serveDNS answers on a stream, where each message follows its length.
func serveDNS(conn net.Conn, next func() netip.Addr) {
	defer func() { _ = conn.Close() }()
	for {
		var length uint16
		if binary.Read(conn, binary.BigEndian, &length) != nil {
			return
		}
		raw := make([]byte, length)
		if _, err := io.ReadFull(conn, raw); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(raw) != nil || len(m.Questions) != 1 {
			return
		}
		answer := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true},
			Questions: m.Questions,
		}
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: next().As4()},
			}}
		}
		out, err := answer.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}

// TestRangeEdges lists the first and last address of each range and their public neighbors, so that it finds a missing range
// and a wrong prefix length.
func TestRangeEdges(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, first, last, before, after string
	}{
		{"this network", "0.0.0.0", "0.255.255.255", "", "1.0.0.0"},
		{"private 10", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
		{"carrier-grade NAT", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
		{"loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
		{"link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
		{"private 172", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
		{"protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"},
		{"documentation 1", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
		{"AS112", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"},
		{"AMT", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"},
		{"6to4 relay", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"},
		{"private 192", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
		{"AS112 direct", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"},
		{"benchmarking", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
		{"documentation 2", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"},
		{"documentation 3", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"},
		{"multicast, reserved and broadcast", "224.0.0.0", "255.255.255.255", "223.255.255.255", ""},
		{"Azure host service", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"},
		{"below global unicast", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", ""},
		{"protocol assignments, Teredo to ORCHID", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"},
		{"documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"},
		{"6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"},
		{"AS112", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff::", "2620:4f:8001::"},
		{"documentation, new", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"},
		{"above global unicast", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, inside := range []string{row.first, row.last} {
				require.False(t, public(netip.MustParseAddr(inside)), inside)
			}
			for _, outside := range []string{row.before, row.after} {
				if outside != "" {
					require.True(t, public(netip.MustParseAddr(outside)), outside)
				}
			}
		})
	}
}

func TestAnAddressWithAZoneIsNotPublic(t *testing.T) {
	t.Parallel()
	require.False(t, public(netip.MustParseAddr("2606:4700::1111").WithZone("eth0")))
	require.False(t, public(netip.Addr{}), "no address")
}
