package relay

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// candidate is a process that campaigns.
type candidate struct {
	lock   sync.Mutex
	groups []int32
	leads  atomic.Int64
}

func (c *candidate) held() []int32 {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Clone(c.groups)
}

func (c *candidate) assign(groups []int32) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.groups = groups
}

// campaign runs until the returned function is called, or the test ends.
func (c *candidate) campaign(t *testing.T, url string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- campaign{url: url, log: telemetry.Discard().Logger, assign: c.assign}.run(ctx, func(ctx context.Context) {
			c.leads.Add(1)
			<-ctx.Done()
			c.leads.Add(-1)
		})
	}()
	end = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(end)
	return end
}

// divided waits until the candidates hold so many groups, each group once.
func divided(t *testing.T, candidates []*candidate, want ...int) {
	t.Helper()
	require.Eventually(t, func() bool {
		var counts []int
		var all []int32
		for _, c := range candidates {
			counts, all = append(counts, len(c.held())), append(all, c.held()...)
		}
		slices.Sort(counts)
		slices.Sort(all)
		return slices.Equal(counts, want) && slices.Equal(all, allGroups().groups)
	}, waitLimit, pollInterval, "%v", want)
}

// endSessions ends some of the sessions that campaign.
func endSessions(ctx context.Context, pool *pgxpool.Pool, url string, limit int) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT l.pid FROM pg_locks l
JOIN pg_database d ON d.oid = l.database AND d.datname = $1
WHERE l.locktype = 'advisory' AND l.granted ORDER BY l.pid LIMIT $2) s`, cfg.Database, limit)
	return err
}

func TestRelaysDivideTheGroups(t *testing.T) {
	t.Parallel()
	url, pool := pgtest.NewURL(t), pgtest.New(t)
	all := []*candidate{{}, {}, {}}
	all[0].campaign(t, url)
	divided(t, all, 0, 0, 8)
	endOfSecond := all[1].campaign(t, url)
	divided(t, all, 0, 4, 4)
	all[2].campaign(t, url)
	divided(t, all, 2, 3, 3)
	require.Eventually(t, func() bool { return all[2].leads.Load() == 1 }, waitLimit, pollInterval, "it leads right after it holds")
	endOfSecond()
	require.Empty(t, all[1].held())
	divided(t, all, 0, 4, 4)

	killed := time.Now()
	require.NoError(t, endSessions(t.Context(), pool, url, 3))
	require.Eventually(t, func() bool { return len(all[0].held())+len(all[2].held()) == 0 }, waitLimit, time.Millisecond)
	require.Less(t, time.Since(killed), campaignInterval, "noticed immediately, not by the next tick")
	divided(t, all, 0, 4, 4)
}
