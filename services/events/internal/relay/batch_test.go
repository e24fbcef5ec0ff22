package relay

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

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
		exec(t, server, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
		exec(t, server, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '"+name+"'")
		for range 3 {
			_, err := f.publishBatch(t.Context())
			require.ErrorContains(t, err, "links")
		}
		require.Empty(t, f.published.subjects(t))
		exec(t, server, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
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

func exec(t *testing.T, on *pgxpool.Pool, sql string) {
	t.Helper()
	_, err := on.Exec(t.Context(), sql)
	require.NoError(t, err)
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
	require.Nil(t, r.windows[0].formerClockOffset, "later rows are those of the new server")
}
