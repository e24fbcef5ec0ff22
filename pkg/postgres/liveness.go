package postgres

import (
	"context"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// trusted is how long a connection may be idle and still be used as it is.
	trusted = 50 * time.Millisecond
	// pingAfter is how long it may be idle before its server is asked whether it is still there, although nothing says otherwise.
	pingAfter   = 30 * time.Second
	pingTimeout = 5 * time.Second
	// lostAfter is how long a server may leave what was sent to it unacknowledged. Without it, a statement on a connection to a host
	// that has vanished waits for a quarter of an hour, also if its context has no deadline.
	lostAfter = 10 * time.Second
)

// NoticeLostServers gives up connections whose server has vanished from the network, and pings an idle one before its next use only
// if that may be so. Every pool of a service has it.
func NoticeLostServers(pc *pgxpool.Config) {
	pc.ShouldPing, pc.PingTimeout = shouldPing, pingTimeout
	pc.ConnConfig.DialFunc = (&net.Dialer{Control: func(network, _ string, raw syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil // The server is on this machine.
		}
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = setUserTimeout(fd, lostAfter) }); err != nil {
			return err
		}
		return failed
	}}).DialContext
}

// shouldPing decides which idle connections are pinged before they are used again. A ping is a round trip and a transaction; by
// default each connection would be pinged after a second, which at low rates is each time. A server that ends a connection sends a
// message or closes it, and both can be seen without a ping. Only a server that has vanished from the network says nothing.
func shouldPing(_ context.Context, params pgxpool.ShouldPingParams) bool {
	return params.IdleDuration > pingAfter || params.IdleDuration > trusted && !quiet(params.Conn.PgConn().Conn())
}

// quiet reports whether an idle connection is open and its server has sent nothing.
func quiet(conn net.Conn) bool {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Control(func(fd uintptr) { silent = nothingToRead(fd) })
	return err == nil && silent
}
