package relay

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

func TestUnderLoadABatchTakesAllRowsCommittedSinceTheLastOne(t *testing.T) {
	t.Parallel()
	const interval = time.Second
	each := func(rows int) time.Duration { return time.Duration(rows) * interval }
	f := setup(t, Config{PollInterval: time.Hour, BatchInterval: each}, telemetry.Discard())
	began := time.Now()
	f.start(t)
	f.addEvent(t, 0)
	f.Wake()
	published := func() int { return len(f.published.subjects(t)) }
	require.Eventually(t, func() bool { return published() == 1 }, waitLimit, pollInterval)
	for range 2 {
		f.addEvent(t, 0)
		f.Wake()
	}
	require.Eventually(t, func() bool {
		require.NotEqual(t, 2, published())
		return published() == 3
	}, waitLimit, pollInterval)
	require.GreaterOrEqual(t, time.Since(began), interval)
}

func TestASourceThatIsNotReadHasNoAge(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	measured := func() (found []string) {
		for _, name := range []string{"oldest_age", "held", "clock_offset", "unconfirmed_age"} {
			if len(tel.Values(t, "gifting.relay."+name)) > 0 {
				found = append(found, name)
			}
		}
		return found
	}
	f.metrics.lead(true)
	require.Empty(t, measured(), "the leader has not read yet")
	f.published.fail = func(int) int { return 0 }
	f.addEvent(t, 1)
	_, err := f.publishBatch(t.Context())
	require.ErrorIs(t, err, errPublish)
	require.Equal(t, []string{"oldest_age", "held", "clock_offset", "unconfirmed_age"}, measured())

	f.metrics.readAt = f.metrics.readAt.Add(-unreadAfter)
	ages := tel.Values(t, "gifting.relay.oldest_age")
	require.GreaterOrEqual(t, ages["source=links"], unreadAfter.Seconds(), "what was not published still waits")
	require.NotContains(t, ages, "source=orders", "there may be changes by now")
	require.Equal(t, []string{"oldest_age", "unconfirmed_age"}, measured())
	f.metrics.lead(false)
	f.metrics.lead(true)
	require.Empty(t, measured(), "another term begins with nothing")
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	f.published.fail = func(int) int { return 0 }
	leads := func() float64 { return tel.Values(t, "gifting.relay.leads")[""] }
	ages := func() map[string]float64 { return tel.Values(t, "gifting.relay.oldest_age") }
	require.Zero(t, leads())
	require.Empty(t, ages(), "only the leader reports ages")
	require.Equal(t, map[string]float64{"": 0}, tel.Values(t, "gifting.relay.published"))
	f.start(t)
	f.addEvent(t, 1)
	require.Eventually(t, func() bool { return ages()["source=links"] > 0.1 }, waitLimit, pollInterval,
		"the age grows while nothing can be published")
	require.InDelta(t, 0, ages()["source=orders"], 0)
	require.InDelta(t, 1, leads(), 0)
	require.Positive(t, tel.Values(t, "gifting.relay.failures")[""])
	f.published.lock.Lock()
	f.published.fail = nil
	f.published.lock.Unlock()
	require.Eventually(t, func() bool { return ages()["source=links"] == 0 }, waitLimit, pollInterval)
	require.Equal(t, map[string]float64{"": 1}, tel.Values(t, "gifting.relay.published"))
	require.Contains(t, tel.Values(t, "db.client.connection.max"),
		"db.client.connection.pool.name=outbox/links,db.system.name=postgresql")
}

func TestBatch(t *testing.T) {
	t.Parallel()
	t.Run("a source with more rows than a batch takes delays later rows of the others", func(t *testing.T) {
		f := setup(t, Config{BatchSize: 2}, telemetry.Discard())
		want := []string{}
		for _, source := range []int{0, 0, 1, 0, 0, 1, 1, 1, 0} {
			want = append(want, f.addEvent(t, source))
		}
		n := f.publish(t)
		require.Equal(t, 3, n, "only one row of the other source was recorded before those that are left")
		for n > 0 {
			n = f.publish(t)
		}
		require.Equal(t, want, f.published.subjects(t))
		require.Zero(t, f.rowsLeft(t))
	})

	t.Run("nothing is published while a source is down, and everything when it is back", func(t *testing.T) {
		f := setup(t, Config{}, telemetry.Discard())
		first, second := f.addEvent(t, 0), f.addEvent(t, 1)
		name := f.owners[1].Config().ConnConfig.Database
		server := f.owners[0]
		pgtest.Exec(t, server, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
		pgtest.Exec(t, server, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '"+name+"'")
		for range 3 {
			_, err := f.publishBatch(t.Context())
			require.ErrorContains(t, err, "links")
		}
		require.Empty(t, f.published.subjects(t))
		pgtest.Exec(t, server, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
		require.Equal(t, 2, f.publish(t))
		require.Equal(t, []string{first, second}, f.published.subjects(t))
	})

	t.Run("a failed publish deletes nothing and the next begins with the oldest", func(t *testing.T) {
		f := setup(t, Config{}, telemetry.Discard())
		want := []string{f.addEvent(t, 0), f.addEvent(t, 1), f.addEvent(t, 0)}
		f.published.fail = func(int) int { return 2 }
		_, err := f.publishBatch(t.Context())
		require.ErrorIs(t, err, errPublish)
		require.Equal(t, 3, f.rowsLeft(t))
		f.published.fail = nil
		require.Equal(t, 3, f.publish(t))
		require.Equal(t, append(want[:2:2], want...), f.published.subjects(t))
		require.Zero(t, f.rowsLeft(t))
	})
}

func TestMessageHoldsTheWholeChange(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	})
	e := event("0190a000-0000-7000-8000-000000000001")
	require.NoError(t, postgres.Pipeline(t.Context(), f.owners[0], func(b *pgx.Batch) {
		outbox.Append(trace.ContextWithSpanContext(t.Context(), span), b, e)
	}))
	f.publish(t)
	c := f.published.changes(t)[0]
	require.Equal(t, e.ID, c.GetEventId())
	require.Equal(t, e.Type, c.GetType())
	require.Equal(t, e.TenantID, c.GetTenantId())
	require.Equal(t, e.BrandID, c.GetBrandId())
	require.Equal(t, e.SubjectID, c.GetSubjectId())
	require.Equal(t, e.OriginKeyID, c.GetOriginKeyId())
	require.Equal(t, e.OccurredAt, c.GetOccurredAt().AsTime())
	require.Equal(t, e.Data, c.GetData())
	require.WithinDuration(t, time.Now(), c.GetRecordedAt().AsTime(), time.Minute)
	require.Contains(t, c.GetTraceparent(), span.TraceID().String())
	require.Equal(t, []kafka.Header{{Key: "traceparent", Value: []byte(c.GetTraceparent())}}, f.published.messages[0].Headers)
}

func TestOfTwoSourcesWhoseClocksAreAheadTheOneThatRecordedFirstComesFirst(t *testing.T) {
	t.Parallel()
	at := &server{instance: "one"}
	began := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	// An earlier read has seen both rows, so both count as recorded no later than now. The sources share a clock, which has
	// stepped back.
	read := func(recordedAt time.Time) reading {
		return reading{rows: []row{{id: 1, recordedAt: recordedAt}}, tick: tick{server: at}}
	}
	for first := range 2 {
		readings := []reading{read(began.Add(2 * time.Hour)), read(began.Add(2 * time.Hour))}
		readings[first] = read(began.Add(time.Hour))
		r := &Relay{windows: []window{{lastRead: 1}, {lastRead: 1}}, clockOffsets: map[string]*clockOffset{"one": {}}}
		b := batch{began: began, readings: readings}
		r.merge(&b)
		require.Equal(t, []int{first, 1 - first}, []int{b.items[0].source, b.items[1].source})
	}
}

func TestARowOfTheServerBeforeAFailoverIsConvertedByItsClock(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	ahead, behind := 40*time.Second, -3*time.Second
	r := &Relay{
		windows: make([]window, 2), servers: []*server{{instance: "before"}, {instance: "other"}}, log: slog.New(slog.DiscardHandler),
		sources:      []*source{{name: "orders"}, {name: "links"}},
		clockOffsets: map[string]*clockOffset{"before": {low: ahead, high: ahead}, "other": {}},
	}
	r.outstanding.reset(len(r.sources))
	cause := row{id: 1, recordedAt: began.Add(-2 * time.Second).Add(ahead), change: &eventsv1.Change{}}
	effect := row{id: 1, recordedAt: began.Add(-time.Second), change: &eventsv1.Change{}}
	other := r.servers[1]
	after := &server{instance: "after"}
	readings := []reading{
		{rows: []row{cause}, tick: tick{asked: began, answered: began, clock: began.Add(behind), server: after}},
		{rows: []row{effect}, tick: tick{asked: began, answered: began, clock: began, server: other}},
	}
	require.ErrorIs(t, r.observeTicks(readings), errServerChanged)
	require.NoError(t, r.observeTicks(readings), "the source is read again")
	for i := range readings {
		r.windows[i].noteRead(readings[i].rows)
	}
	b := batch{began: began, readings: readings}
	r.merge(&b)
	require.Len(t, b.items, 2)
	require.Equal(t, 0, b.items[0].source, "the cause comes first")
	require.Equal(t, began.Add(-2*time.Second), b.items[0].at)
	r.windows[0].advance(readings[0], 1)
	require.Empty(t, r.windows[0].formerClocks, "later rows are those of the new server")
}

func TestADisconnectedLeaderStopsBeforeAnotherOneLeads(t *testing.T) {
	t.Parallel()
	require.Greater(t, idleSession, pingInterval+postgres.CheckTimeout)
}

// candidate is a process that campaigns.
type candidate struct{ leads atomic.Bool }

// campaign runs until the returned function is called, or the test ends.
func (c *candidate) campaign(t *testing.T, url string) (end func()) {
	t.Helper()
	return testenv.Run(t, func(ctx context.Context) error {
		return campaign{url: url, log: telemetry.Discard().Logger}.run(ctx, func(ctx context.Context) {
			c.leads.Store(true)
			<-ctx.Done()
			c.leads.Store(false)
		})
	})
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
