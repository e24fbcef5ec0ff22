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
		require.NoError(t, CheckURL(good, Options{}), good)
	}

	for name, bad := range map[string]string{
		"empty": "", "no scheme": "example.com", "http": "http://example.com/", "ftp": "ftp://example.com/",
		"no host": "https:///path", "only a port": "https://:443/", "opaque": "https:example.com",
		"user": "https://user@example.com/", "user and password": "https://u:p@example.com/", "empty user": "https://@example.com/",
		"fragment": "https://example.com/#a", "empty fragment": "https://example.com/#",
		"too long": long + "a", "port 0": "https://example.com:0/", "port 65536": "https://example.com:65536/",
		"empty port": "https://example.com:/", "port in words": "https://example.com:https/",
		"single label": "https://intranet/", "localhost": "https://localhost/", "localhost with a dot": "https://localhost./",
		"below localhost": "https://a.localhost/", "local": "https://printer.local/", "internal": "https://metadata.google.internal/",
		"INTERNAL": "https://metadata.google.INTERNAL./", "home.arpa": "https://nas.home.arpa/",
		"decimal": "https://2130706433/", "octal": "https://0177.0.0.1/", "hex": "https://0x7f.0.0.1/", "hex, short": "https://0x7f.1/",
		"hex, whole": "https://0x7f000001/", "short": "https://127.1/", "leading zeros": "https://127.000.000.001/",
		"too many parts": "https://1.2.3.4.5/", "above 255": "https://256.1.1.1/", "dot at the end": "https://127.0.0.1./",
		"percent-encoded": "https://%31%32%37.0.0.1/", "full-width digits": "https://１２７.0.0.1/",
		"dotted circle": "https://①②⑦.0.0.1/", "empty label": "https://a..example.com/", "leading hyphen": "https://-a.example.com/",
		"long label": "https://" + strings.Repeat("a", 64) + ".example.com/", "long name": "https://" + strings.Repeat("a.", 127) + "com/",
		"space": "https://example.com/a b", "newline": "https://example.com/\nHost: x", "backslash": `https://example.com\@127.0.0.1/`,
		"tab": "https://exa\tmple.com/", "unicode": "https://bücher.example/", "bad bracket": "https://[::1/",
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, CheckURL(bad, Options{}), ErrURL) })
	}

	for _, bad := range []string{
		"https://127.0.0.1/", "https://10.0.0.1:8443/", "https://169.254.169.254/latest/meta-data", "https://0.0.0.0/",
		"https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[64:ff9b::7f00:1]/",
		"https://[2002:7f00:1::]/", "https://[fd00::1]/", "https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/",
	} {
		require.ErrorIs(t, CheckURL(bad, Options{}), ErrForbiddenAddress, bad)
	}
}

func TestCheckURLWithLoopbackAllowed(t *testing.T) {
	t.Parallel()
	o := Options{AllowLoopback: true}
	for _, good := range []string{
		"http://127.0.0.1:8080/hook", "http://localhost:8080/hook", "http://[::1]:8080/", "https://127.0.0.1/", "https://example.com/",
	} {
		require.NoError(t, CheckURL(good, o), good)
	}
	for _, bad := range []string{
		"http://example.com/", "http://8.8.8.8/", "http://10.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/", "ftp://127.0.0.1/",
		"http://127.1/", "http://2130706433/", "http://a.localhost/", "https://[::ffff:127.0.0.1]/", "http://user@localhost/",
	} {
		require.Error(t, CheckURL(bad, o), bad)
	}
}

// resolverOf answers queries for IPv4 addresses with the given ones in turn, the
// last one for ever, and has no IPv6 addresses.
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
