package testenv

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports of FreeAddr. The system gives these to no connection, so none of them is taken between FreeAddr and its use.
const (
	lowestPort  = 31_000
	highestPort = 32_700
)

// FreeAddr returns a loopback address that nothing listens on. No other test gets it before this one ends: its UDP port is
// bound until then.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range highestPort - lowestPort {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // Any port will do.
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		reserved, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", addr)
		if err != nil {
			continue
		}
		if listens(t.Context(), addr) {
			require.NoError(t, reserved.Close())
			continue
		}
		t.Cleanup(func() { require.NoError(t, reserved.Close()) })
		return addr
	}
	require.FailNow(t, "no port is free")
	return ""
}

// listens reports whether the TCP port of the address is taken.
func listens(ctx context.Context, addr string) bool {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	return err != nil || listener.Close() != nil
}
