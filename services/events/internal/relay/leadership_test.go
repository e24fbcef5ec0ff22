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

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestADisconnectedLeaderStopsBeforeAnotherOneLeads(t *testing.T) {
	t.Parallel()
	require.Greater(t, idleSession, pingInterval+postgres.CheckTimeout)
}

// candidate is a process that campaigns.
type candidate struct{ leads atomic.Bool }

// campaign runs until the returned function is called, or the test ends.
func (c *candidate) campaign(t *testing.T, url string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- campaign{url: url, log: telemetry.Discard().Logger}.run(ctx, func(ctx context.Context) {
			c.leads.Store(true)
			<-ctx.Done()
			c.leads.Store(false)
		})
	}()
	end = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(end)
	return end
}

// endSession ends the session that leads.
func endSession(ctx context.Context, pool *pgxpool.Pool, url string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
JOIN pg_database d ON d.oid = l.database AND d.datname = $1 WHERE l.locktype = 'advisory' AND l.granted`, cfg.Database)
	return err
}

func TestOneRelayLeads(t *testing.T) {
	t.Parallel()
	url, pool := pgtest.NewURL(t), pgtest.New(t)
	all, ends := []*candidate{{}, {}, {}}, []func(){}
	for _, c := range all {
		ends = append(ends, c.campaign(t, url))
	}
	leaders := func() (found []int) {
		for i, c := range all {
			if c.leads.Load() {
				found = append(found, i)
			}
		}
		return found
	}
	oneLeads := func() bool { return len(leaders()) == 1 }
	require.Eventually(t, oneLeads, waitLimit, pollInterval)
	require.Never(t, func() bool { return !oneLeads() }, 3*campaignInterval, pollInterval, "no other one takes the lock")
	first := leaders()[0]
	ends[first]()
	require.Eventually(t, oneLeads, waitLimit, pollInterval)
	second := leaders()[0]
	require.NotEqual(t, first, second)

	killed := time.Now()
	require.NoError(t, endSession(t.Context(), pool, url))
	require.Eventually(t, func() bool { return !slices.Contains(leaders(), second) }, waitLimit, time.Millisecond)
	require.Less(t, time.Since(killed), campaignInterval, "noticed immediately, not by the next check")
	require.Eventually(t, oneLeads, waitLimit, pollInterval)
}
