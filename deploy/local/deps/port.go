package deps

import (
	"context"
	"fmt"
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
