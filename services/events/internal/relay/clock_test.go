package relay

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestClockOffset(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	observe := func(o *clockOffset, took, ahead time.Duration) {
		at = at.Add(time.Millisecond)
		o.observe(at.Add(-took), at, at.Add(-took/2).Add(ahead))
	}
	t.Run("slow readings do not spoil exact ones", func(t *testing.T) {
		var o clockOffset
		observe(&o, 2*time.Millisecond, 40*time.Second)
		for range 100 {
			observe(&o, 300*time.Millisecond, 40*time.Second)
		}
		require.InDelta(t, 40, o.value().Seconds(), 0.001)
		require.Less(t, o.high-o.low, 3*time.Millisecond)
	})
	t.Run("it follows a clock that drifts and one that steps", func(t *testing.T) {
		var o clockOffset
		for i := range 1000 {
			observe(&o, time.Millisecond, time.Duration(i)*time.Microsecond/2)
		}
		require.InDelta(t, 0.0005, o.value().Seconds(), 0.001)
		observe(&o, time.Millisecond, -time.Hour)
		require.InDelta(t, -3600, o.value().Seconds(), 0.001)
	})
}

func TestAFullBatchWaitsForTheRowsItLeavesAfterAClockStepsBack(t *testing.T) {
	t.Parallel()
	const size = 3
	f := setup(t, Config{BatchSize: size}, telemetry.Discard())
	f.setClocks(t, "10 minutes")
	f.publish(t)
	f.publish(t)
	f.setClocks(t, "0")
	f.publish(t)
	var want []string
	for range 2 * size {
		want = append(want, f.addEvent(t, 0))
	}
	want = append(want, f.addEvent(t, 1)) // It was requested when all others had been answered.
	for range 2 * size {
		f.publish(t)
	}
	require.Equal(t, want, f.published.subjects(t))
}

func TestAFullBatchWaitsForTheRowsItLeavesAfterAClockStepsForwards(t *testing.T) {
	t.Parallel()
	const size = 3
	f := setup(t, Config{BatchSize: size}, telemetry.Discard())
	f.setClocks(t, "0")
	f.publish(t)
	f.publish(t)
	var want []string
	for range 3 * size {
		want = append(want, f.addEvent(t, 0))
	}
	want = append(want, f.addEvent(t, 1)) // It was requested when all others had been answered.
	f.setClocks(t, "10 minutes")
	for range 3 * size {
		f.publish(t)
	}
	require.Equal(t, want, f.published.subjects(t))
}

// Both sources are on one server, whose clock steps back.
func TestAFullBatchOfTheSecondSourceWaitsAfterAClockStepsBack(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{BatchSize: 3}, telemetry.Discard())
	for _, ahead := range []string{"10 minutes", "0"} {
		f.setClocks(t, ahead)
		f.publish(t)
		f.publish(t)
	}
	var want []string
	for range 6 {
		want = append(want, f.addEvent(t, 1))
	}
	want = append(want, f.addEvent(t, 0))
	for range 6 {
		f.publish(t)
	}
	require.Equal(t, want, f.published.subjects(t))
}

// The rows of a long transaction were recorded before others were published, and are visible after that.
func TestAFullBatchWaitsForTheRowsItLeavesOfALongTransaction(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{BatchSize: 3}, telemetry.Discard())
	var want []string
	require.NoError(t, pgx.BeginFunc(t.Context(), f.owners[1], func(tx pgx.Tx) error {
		for range 6 {
			want = append(want, uuid.NewString())
			b := &pgx.Batch{}
			outbox.Append(t.Context(), b, event(want[len(want)-1]))
			require.NoError(t, tx.SendBatch(t.Context(), b).Close())
		}
		f.addEvent(t, 0)
		f.publish(t)
		f.publish(t)
		return nil
	}))
	early := f.published.subjects(t)
	want = append(early, append(want, f.addEvent(t, 0))...)
	for range 6 {
		f.publish(t)
	}
	require.Equal(t, want, f.published.subjects(t))
}

// setClocks puts the clocks of all sources ahead.
func (f *fixture) setClocks(t *testing.T, ahead string) {
	t.Helper()
	for source := range f.sources {
		f.setClock(t, source, ahead)
	}
}

// setClock puts the clock of a source ahead. The relay and the outbox of the source then use it.
func (f *fixture) setClock(t *testing.T, source int, ahead string) {
	t.Helper()
	owner, s := f.owners[source], f.sources[source]
	pgtest.Exec(t, owner, "CREATE SCHEMA IF NOT EXISTS ahead")
	pgtest.Exec(t, owner, "GRANT USAGE ON SCHEMA ahead TO gifting_relay")
	pgtest.Exec(t, owner, `CREATE OR REPLACE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
AS $$ SELECT pg_catalog.clock_timestamp() + interval '`+ahead+`' $$`)
	pgtest.Exec(t, owner, "ALTER TABLE outbox ALTER recorded_at SET DEFAULT ahead.clock_timestamp()")
	cfg := s.pool.Config()
	if cfg.ConnConfig.RuntimeParams["search_path"] != "" {
		return
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = "ahead, pg_catalog, public"
	s.pool.Close()
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	s.pool = pool
	f.forget(source, nil)
}

func TestASourceWhoseClockIsAheadDoesNotWait(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	// Both sources are on one server, and a server has one clock.
	f.setClock(t, 0, "40 seconds")
	f.setClock(t, 1, "40 seconds")
	want := []string{f.addEvent(t, 0), f.addEvent(t, 1), f.addEvent(t, 0)}
	require.Equal(t, 3, f.publish(t))
	require.Equal(t, want, f.published.subjects(t))
	for _, c := range f.published.changes(t) {
		require.WithinDuration(t, time.Now(), c.GetRecordedAt().AsTime(), 10*time.Second, "by the relay's clock")
	}
}

// Kafka refuses what is more than an hour ahead of its clock. Here the host is two hours ahead of all others.
func TestARelayWhoseHostIsHoursAheadPublishes(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.setClock(t, 0, "-2 hours")
	f.setClock(t, 1, "-2 hours")
	now := time.Now().Add(-2 * time.Hour)
	f.published.latest = now.Add(time.Hour)
	want := []string{f.addEvent(t, 0), f.addEvent(t, 1)}
	_, err := f.publishBatch(t.Context())
	require.ErrorIs(t, err, kafka.ErrTime)
	require.Equal(t, 2, f.publish(t))
	require.Equal(t, want, f.published.subjects(t))
	require.WithinDuration(t, now, f.published.messages[0].Time, time.Minute, "by the clock of a source")

	f.published.latest = now.Add(-time.Hour)
	f.addEvent(t, 0)
	for range 2 {
		_, err := f.publishBatch(t.Context())
		require.ErrorIs(t, err, kafka.ErrTime)
	}
	f.published.latest = time.Time{}
	require.Equal(t, 1, f.publish(t))
	require.WithinDuration(t, time.Now(), f.published.messages[2].Time, time.Minute, "after all sources, the host again")
}

func TestAClockThatStepsBackNeitherInvertsNorDelays(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.setClock(t, 0, "1 hour")
	f.setClock(t, 1, "1 hour")
	want := []string{f.addEvent(t, 0), f.addEvent(t, 0)}
	f.setClock(t, 0, "0")
	f.setClock(t, 1, "0")
	want = append(want, f.addEvent(t, 0), f.addEvent(t, 1))
	require.Equal(t, 4, f.publish(t))
	require.Equal(t, want, f.published.subjects(t))

	f.setClock(t, 0, "1 hour")
	last := f.addEvent(t, 0)
	f.setClock(t, 0, "0")
	require.Equal(t, 1, f.publish(t), "the second read of the batch began after the first had seen it")
	require.Equal(t, append(want, last), f.published.subjects(t))
}
