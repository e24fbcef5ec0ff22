package relay

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestARowStaysUntilAllReadersHaveStoredIt(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	f.metrics.lead(true)
	age := func() float64 { return tel.Values(t, "gifting.relay.unconfirmed_age")[""] }
	behind := int64(0)
	f.readers = append(f.readers, func(context.Context) (map[int]int64, error) { return map[int]int64{0: behind}, nil })
	want := []string{f.addEvent(t, 0), f.addEvent(t, 1), f.addEvent(t, 0)}
	require.Equal(t, 3, f.publish(t))
	require.Equal(t, 3, f.rowsLeft(t))
	require.Positive(t, age())
	behind = 2
	require.Zero(t, f.publish(t), "what was published is not published again")
	require.Equal(t, 1, f.rowsLeft(t))
	behind = 3
	require.Zero(t, f.publish(t))
	require.Zero(t, f.rowsLeft(t))
	require.Zero(t, age())
	require.Equal(t, want, f.published.subjects(t))
}

func TestTheNextLeaderPublishesAgainWhatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.published.stored = 1
	first, second := f.addEvent(t, 0), f.addEvent(t, 0)
	f.publish(t)
	f.reset()
	f.publish(t)
	require.Equal(t, []string{first, second, second}, f.published.subjects(t))
}

func TestAHostWhoseClockIsSetPublishesAgainByTheRightTime(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.published.stored = 1
	first, second := f.addEvent(t, 0), f.addEvent(t, 0)
	f.publish(t)
	f.clock.at = f.clock.at.Add(2 * time.Hour)
	f.publish(t)
	require.Equal(t, []string{first, second, second}, f.published.subjects(t))
	require.WithinDuration(t, time.Now(), f.clock.now(), time.Minute)
}

func TestOnlyTheClocksOfServersInUseAreKept(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.clockOffsets["a server that was restarted"] = &clockOffset{}
	f.addEvent(t, 0)
	f.publish(t)
	require.NotContains(t, f.clockOffsets, "a server that was restarted")
	require.NotEmpty(t, f.clockOffsets)
}

func TestMessagesThatKafkaLosesArePublishedAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, f *fixture){
		"the log ends before them": func(_ *testing.T, f *fixture) { f.published.lose(1) },
		"others have their offsets": func(_ *testing.T, f *fixture) {
			f.published.lose(1)
			for range 3 {
				f.published.messages = append(f.published.messages, f.published.messages[0])
			}
		},
		"the topic is made anew": func(_ *testing.T, f *fixture) { f.published.lose(0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tel := telemetrytest.New()
			f := setup(t, Config{}, tel.Telemetry)
			f.published.stored = 1
			f.addEvent(t, 0)
			second, third := f.addEvent(t, 1), f.addEvent(t, 0)
			require.Equal(t, 3, f.publish(t))
			lose(t, f)
			f.published.stored = 100
			require.Zero(t, f.publish(t))
			require.Equal(t, 2, f.rowsLeft(t), "the offsets of lost messages confirm nothing")
			require.Equal(t, 2, f.publish(t))
			got := f.published.subjects(t)
			require.Equal(t, []string{second, third}, got[len(got)-2:])
			require.Zero(t, f.rowsLeft(t))
			require.InDelta(t, 1, tel.Values(t, "gifting.relay.lost_tails")[""], 0)
		})
	}
}

// TestMessagesThatAreWrittenOverThoseThatKafkaLost lets the relay itself use the offsets of lost messages, before it asks for
// these.
func TestMessagesThatAreWrittenOverThoseThatKafkaLost(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	f := setup(t, Config{}, tel.Telemetry)
	f.published.stored = 0
	publish := func() {
		_, err := f.publishBatch(t.Context())
		require.NoError(t, err)
	}
	first, second := f.addEvent(t, 0), f.addEvent(t, 1)
	publish()
	f.published.lose(0)
	third, fourth := f.addEvent(t, 0), f.addEvent(t, 1)
	publish()
	f.published.stored = 2 // The readers have stored the messages that are there now.
	require.NoError(t, f.confirm(t.Context()))
	require.Equal(t, 4, f.rowsLeft(t), "the offsets of lost messages confirm nothing")
	publish()
	require.Equal(t, []string{third, fourth, first, second, third, fourth}, f.published.subjects(t))
	f.published.stored = -1
	require.NoError(t, f.confirm(t.Context()))
	require.Zero(t, f.rowsLeft(t))
	require.InDelta(t, 1, tel.Values(t, "gifting.relay.lost_tails")[""], 0)
}

func TestConfirmedRowsAreKeptForTheRetention(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{Retention: time.Hour}, telemetry.Discard())
	f.addEvent(t, 0)
	f.addEvent(t, 1)
	require.Equal(t, 2, f.publish(t))
	require.NoError(t, f.deleteOld(t.Context()))
	require.Equal(t, 2, f.rowsLeft(t))
	f.reset()
	require.Zero(t, f.publish(t), "a new leader does not publish confirmed rows")
	pgtest.Exec(t, f.owners[0], "UPDATE outbox SET confirmed_at = now() - interval '61 minutes'")
	pgtest.Exec(t, f.owners[0], "UPDATE retention_clock SET at = now() - interval '2 minutes'")
	require.NoError(t, f.deleteOld(t.Context()))
	require.Equal(t, 2, f.rowsLeft(t), "the database's clock has jumped ahead")
	pgtest.Exec(t, f.owners[0], "UPDATE retention_clock SET at = now()")
	require.NoError(t, f.deleteOld(t.Context()))
	require.Equal(t, 1, f.rowsLeft(t))

	pgtest.Exec(t, f.owners[1], "UPDATE outbox SET confirmed_at = now() + interval '30 days'")
	require.NoError(t, f.deleteOld(t.Context()))
	require.Equal(t, 1, f.rowsLeft(t))
	pgtest.Exec(t, f.owners[1], "UPDATE outbox SET confirmed_at = confirmed_at - interval '61 minutes'")
	pgtest.Exec(t, f.owners[1], "UPDATE retention_clock SET at = now()")
	require.NoError(t, f.deleteOld(t.Context()))
	require.Zero(t, f.rowsLeft(t), "a row that was confirmed while the clock was ahead is kept from now on, not from then")
}

// TestARestoredOutboxLosesNothing puts another table into the place of an outbox, whose ids begin again.
func TestARestoredOutboxLosesNothing(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.published.stored = 0
	before := []string{f.addEvent(t, 0), f.addEvent(t, 0)}
	require.Equal(t, 2, f.publish(t))
	for _, sql := range []string{
		"ALTER TABLE outbox RENAME TO lost", "ALTER SEQUENCE outbox_id_seq RENAME TO lost_seq",
		"ALTER INDEX outbox_unconfirmed RENAME TO lost_unconfirmed", "DROP FUNCTION event_seal_key CASCADE",
		"DROP TABLE migrations_outbox",
	} {
		pgtest.Exec(t, f.owners[0], sql)
	}
	owner := postgres.Config{URL: f.owners[0].Config().ConnString()}
	require.NoError(t, postgres.Migrate(t.Context(), owner, io.Discard, outbox.Migrations()))
	f.sources[0].pool.Reset()
	after := []string{f.addEvent(t, 0), f.addEvent(t, 0)}
	f.published.stored = -1
	for range 3 { // The change of the table ends the first batch.
		_, _ = f.publishBatch(t.Context())
	}
	require.NoError(t, f.confirm(t.Context()))
	require.Equal(t, append(before, after...), f.published.subjects(t))
	require.Zero(t, f.rowsLeft(t))
}

func TestRowsBeyondTheLimitArePublishedAgainUnderLoad(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	publish := func() {
		f.addEvent(t, 0)
		_, err := f.publishBatch(t.Context())
		require.NoError(t, err)
	}
	publish()
	f.outstanding.count = maxOutstanding
	publish()
	f.outstanding.count = fewOutstanding + 2
	require.NoError(t, f.confirm(t.Context()))
	require.False(t, f.resetRequested.Load(), "the readers are far behind")
	publish()
	require.NoError(t, f.confirm(t.Context()))
	f.outstanding.count = 1
	require.NoError(t, f.confirm(t.Context()))
	require.True(t, f.resetRequested.Load())
	publish()
	require.NoError(t, f.confirm(t.Context()))
	require.Zero(t, f.rowsLeft(t))
}

// TestANewLeaderSoonReadsNoRowsThatAreKept lets a leader begin where thousands of rows are kept, and nothing is written.
func TestANewLeaderSoonReadsNoRowsThatAreKept(t *testing.T) {
	t.Parallel()
	const kept = 3000
	f := setup(t, Config{Retention: time.Hour}, telemetry.Discard())
	pgtest.Exec(t, f.owners[0], fmt.Sprintf(`
INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data, confirmed_at)
SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'order.created', now(), '{}', now()
FROM generate_series(1, %d)`, kept))
	require.Eventually(t, func() bool {
		require.Zero(t, f.publish(t))
		return f.windows[0].low == kept && len(f.windows[0].gaps) == 0
	}, time.Minute, 10*time.Millisecond, "transactions of other tests end")
	late := f.addEvent(t, 0)
	require.Equal(t, 1, f.publish(t))
	require.Equal(t, []string{late}, f.published.subjects(t))
}

// TestReadsAreFlatUnderAnOldSnapshot keeps a snapshot open, as a backup does, while rows come and go.
func TestReadsAreFlatUnderAnOldSnapshot(t *testing.T) {
	t.Parallel()
	const rows, batches = 2000, 5
	f := setup(t, Config{BatchSize: rows}, telemetry.Discard())
	pgtest.HoldSnapshot(t, f.owners[0].Config().ConnString())
	for range batches {
		pgtest.Exec(t, f.owners[0], fmt.Sprintf(`INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data)
SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'order.created', now(), '{}'
FROM generate_series(1, %d)`, rows-1))
		for f.publish(t) > 0 {
		}
	}
	require.Zero(t, f.rowsLeft(t))
	pgtest.Exec(t, f.owners[0], "ANALYZE outbox") // It finds no row, so every plan seems cheap.
	f.addEvent(t, 0)
	first, last := f.windows[0].ranges()
	low := f.windows[0].low
	require.Less(t, f.pages(t, readRows, low, rows, first, last, false), 20, "a read after %d dead rows", rows*batches)
	require.Less(t, f.pages(t, readRows, low, rows, []int64{low - 2}, []int64{low - 1}, false), 20, "a read with a gap")
	f.publish(t)
	ids, events := []int64{rows * batches}, postgres.UUIDs{uuid.NewString()}
	require.Less(t, f.pages(t, deleteRows, ids, events), 20, "a delete after %d dead rows", rows*batches)
}

// pages returns how many pages a statement touches in the first source.
func (f *fixture) pages(t *testing.T, sql string, args ...any) int {
	t.Helper()
	rows, err := f.sources[0].pool.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING off, SUMMARY off) "+sql, args...)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	_, line, found := strings.Cut(strings.Join(plan, " "), "hit=")
	require.True(t, found, plan)
	var pages int
	_, err = fmt.Sscanf(line, "%d", &pages)
	require.NoError(t, err)
	return pages
}
