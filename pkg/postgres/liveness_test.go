package postgres_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func poolOfOneConnection(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.NewURL(t), MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// wouldPing reports whether the pool would ping its connection after it was idle.
func wouldPing(t *testing.T, pool *pgxpool.Pool, idle time.Duration) (ping bool) {
	t.Helper()
	require.NoError(t, pool.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		ping = wouldPingConn(t, pool, c, idle)
		return nil
	}))
	return ping
}

func wouldPingConn(t *testing.T, pool *pgxpool.Pool, c *pgxpool.Conn, idle time.Duration) bool {
	t.Helper()
	return pool.Config().ShouldPing(t.Context(), pgxpool.ShouldPingParams{Conn: c.Conn(), IdleDuration: idle})
}

func backend(t *testing.T, pool *pgxpool.Pool) (pid uint32) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	return pid
}

func TestAnIdleConnectionIsPingedOnlyAfterLong(t *testing.T) {
	t.Parallel()
	pool := poolOfOneConnection(t)
	require.False(t, wouldPing(t, pool, 0))
	require.False(t, wouldPing(t, pool, 29*time.Second))
	require.True(t, wouldPing(t, pool, 31*time.Second))
}

func TestAServerOnTheSameMachineMayHaveAUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	cfg, err := pgxpool.ParseConfig("postgres:///orders?host=" + filepath.Dir(path))
	require.NoError(t, err)
	postgres.NoticeLostServers(cfg)
	conn, err := cfg.ConnConfig.DialFunc(t.Context(), "unix", path)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestAConnectionThatTheServerHasEndedIsNotUsed(t *testing.T) {
	t.Parallel()
	pool, other := poolOfOneConnection(t), pgtest.New(t)
	ended := backend(t, pool)
	_, err := other.Exec(t.Context(), "SELECT pg_terminate_backend($1, 60000)", int32(ended))
	require.NoError(t, err)
	idleFor(t, pool, 50*time.Millisecond)
	require.NotEqual(t, ended, backend(t, pool), "the statement runs on a new connection")
}

func TestAConnectionWithUnreadDataIsPinged(t *testing.T) {
	t.Parallel()
	pool := poolOfOneConnection(t)
	cfg := pool.Config().ConnConfig
	_, err := pool.Exec(t.Context(), "LISTEN news")
	require.NoError(t, err)
	notifier, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = notifier.Close(context.WithoutCancel(t.Context())) })
	_, err = notifier.Exec(t.Context(), "NOTIFY news")
	require.NoError(t, err)
	// Acquired, so that the pool does not ping the connection: a ping reads the notification.
	acquired, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return wouldPingConn(t, pool, acquired, time.Second) }, time.Minute, time.Millisecond)
	acquired.Release()
	idleFor(t, pool, 50*time.Millisecond)
	require.NotZero(t, backend(t, pool), "the connection still works")
	require.False(t, wouldPing(t, pool, time.Second), "the ping has read the notification")
}

// idleFor waits until the pool's connection has been idle for longer than this.
func idleFor(t *testing.T, pool *pgxpool.Pool, d time.Duration) {
	t.Helper()
	<-time.After(2 * d)
	require.EqualValues(t, 1, pool.Stat().IdleConns())
}
