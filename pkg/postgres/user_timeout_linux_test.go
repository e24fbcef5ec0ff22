package postgres_test

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Nothing in one process can play a host that acknowledges nothing, so the test reads the setting of the socket.
func TestAServerThatVanishesIsNoticedInSeconds(t *testing.T) {
	t.Parallel()
	pool := poolOfOneConnection(t)
	require.Positive(t, pool.Config().PingTimeout)
	require.NoError(t, pool.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		conn := c.Conn().PgConn().Conn()
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn()
		}
		raw, err := conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		var milliseconds int
		require.NoError(t, raw.Control(func(fd uintptr) {
			milliseconds, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		}))
		require.NoError(t, err)
		require.Equal(t, 10_000, milliseconds)
		return nil
	}))
}
