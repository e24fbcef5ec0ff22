package deps

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePort returns a loopback port that nothing listens on. The system hands such ports out in turn, so that two
// callers rarely meet although the port is not held.
func FreePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback(0))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}

// The ports that the system does not hand out, from which a row can be had for servers that stop and start again: nobody
// gets one of them by chance meanwhile.
const (
	lowestRow  = 12_000
	highestRow = 30_000
	rowTries   = 200
)

var errNoRow = errors.New("no row of free ports found")

// FreeRow returns the first of so many loopback ports in a row that nothing listens on.
func FreeRow(ctx context.Context, ports int) (int, error) {
	for range rowTries {
		first := lowestRow + rand.IntN(highestRow-lowestRow) //nolint:gosec // Any row will do.
		if RowFree(ctx, first, ports) {
			return first, nil
		}
	}
	return 0, errNoRow
}

// RowFree says whether nothing listens on so many loopback ports from the first on.
func RowFree(ctx context.Context, first, ports int) bool {
	for port := first; port < first+ports; port++ {
		if requireFree(ctx, "row", port) != nil {
			return false
		}
	}
	return true
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// requireFree fails when something listens on the port, before a server fails on it with a message of its own.
func requireFree(ctx context.Context, what string, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback(port))
	if err != nil {
		return fmt.Errorf("%s cannot use port %d: %w", what, port, err)
	}
	return listener.Close()
}
