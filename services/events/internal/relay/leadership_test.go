package relay

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestTheServerEndsTheSessionOfALeaderThatVanished(t *testing.T) {
	t.Parallel()
	c := campaign{url: pgtest.NewURL(t), log: telemetry.Discard().Logger}
	conn, err := c.connect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for name, want := range map[string]string{
		"idle_session_timeout":    "10s",
		"tcp_keepalives_idle":     "5",
		"tcp_keepalives_interval": "2",
		"tcp_keepalives_count":    "3",
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SHOW "+name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	require.Greater(t, idleSession, pingInterval+checkTimeout, "a disconnected leader stops before another one leads")
}

func TestOneRelayLeads(t *testing.T) {
	t.Parallel()
	url := pgtest.NewURL(t)
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	pool := pgtest.New(t)
	c := campaign{url: url, log: telemetry.Discard().Logger}
	ctx, cancel := context.WithCancel(t.Context())
	leading := make(chan int, 10)
	ended := make(chan int, 10)
	done := make(chan error, 2)
	for id := range 2 {
		go func() {
			done <- c.run(ctx, func(ctx context.Context) {
				leading <- id
				<-ctx.Done()
				ended <- id
			})
		}()
	}
	first := <-leading
	require.Never(t, func() bool { return len(leading) > 0 }, 3*campaignInterval, pollInterval, "only one leads")

	// The server ends the session that holds the lock.
	killed := time.Now()
	exec(t, pool, `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
JOIN pg_database d ON d.oid = l.database AND d.datname = '`+cfg.Database+`'
WHERE l.locktype = 'advisory' AND l.granted`)
	require.Equal(t, first, <-ended)
	require.Less(t, time.Since(killed), pingInterval, "noticed immediately, not by the next ping")
	<-leading
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	<-ended
}
