package netguard

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// last returns the highest address of a prefix.
func last(p netip.Prefix) netip.Addr {
	raw := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(raw); bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	addr, _ := netip.AddrFromSlice(raw)
	return addr
}

// TestRangeEdges names each range by its first and last address and by the public neighbours of those, so that
// neither a missing line nor a wrong length in the table goes unseen.
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

func TestEveryLineOfTheTableIsRefusedAtBothEdges(t *testing.T) {
	t.Parallel()
	for _, prefix := range forbidden {
		require.Equal(t, prefix.Masked(), prefix, "the prefix has bits beyond its length")
		require.False(t, public(prefix.Addr()), prefix)
		require.False(t, public(last(prefix)), prefix)
	}
}

func TestAddressesThatHideAnother(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"::1", "::", "::127.0.0.1", "::8.8.8.8", // loopback, unspecified, compatible
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", // mapped
		"::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", // translated
		"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", // NAT64
		"2002:7f00:1::", "2002:808:808::1", // 6to4
		"2001:0:4136:e378:8000:63bf:3fff:fdd2", // Teredo
		"100::1", "100:0:0:1::1",               // discard, dummy
		"2001:10::1", "2001:20::1", "2001:2::1", // ORCHID, ORCHIDv2, benchmarking
		"5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
	} {
		require.False(t, public(netip.MustParseAddr(text)), text)
	}
	require.False(t, public(netip.MustParseAddr("2606:4700::1111").WithZone("eth0")), "an address with a zone")
	require.False(t, public(netip.Addr{}), "no address")
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::1"} {
		require.True(t, public(netip.MustParseAddr(text)), text)
	}
}

func TestAllowLoopbackAllowsLoopbackAndNothingElse(t *testing.T) {
	t.Parallel()
	o := Options{AllowLoopback: true}
	for _, text := range []string{"127.0.0.1", "127.255.255.255", "::1", "8.8.8.8"} {
		require.True(t, o.allowed(netip.MustParseAddr(text)), text)
	}
	for _, text := range []string{"0.0.0.0", "::", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1"} {
		require.False(t, o.allowed(netip.MustParseAddr(text)), text)
	}
}
