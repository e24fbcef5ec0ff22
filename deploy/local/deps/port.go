package deps

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Rows are taken from ports below those that the system gives to outgoing connections. So a server finds its port still free, also
// when it restarts.
const (
	lowestRow  = 12_000
	highestRow = 30_000
	rowTries   = 200
)

var errNoRow = errors.New("no row of free ports found")

// FreeRow returns the first of a row of loopback ports that nothing listens on.
func FreeRow(ctx context.Context, ports int) (int, error) {
	for range rowTries {
		first := lowestRow + rand.IntN(highestRow-lowestRow) //nolint:gosec // Any row will do.
		if PortsFree(ctx, first, ports) {
			return first, nil
		}
	}
	return 0, errNoRow
}

// FreePort is FreeRow for one port.
func FreePort(ctx context.Context) (int, error) { return FreeRow(ctx, 1) }

// PortsFree reports whether nothing listens on a row of loopback ports.
func PortsFree(ctx context.Context, first, ports int) bool {
	for port := first; port < first+ports; port++ {
		if RequireFree(ctx, "row", port) != nil {
			return false
		}
	}
	return true
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// RequireFree returns an error that names the port when something listens on it.
func RequireFree(ctx context.Context, what string, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", loopback(port))
	if err != nil {
		return fmt.Errorf("%s cannot use port %d: %w", what, port, err)
	}
	return listener.Close()
}
