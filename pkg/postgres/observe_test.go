package postgres_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func observedPool(t *testing.T, tel *telemetrytest.Record) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.OpenObserved(t.Context(), postgres.Config{URL: pgtest.NewURL(t, table()), MaxConns: 3}, tel.Telemetry)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestStatementsOfATraceAreSpansWithoutValues(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	pool := observedPool(t, tel)
	database := pool.Config().ConnConfig.Database
	ctx, span := tel.StartSpan(t.Context())

	var n int
	require.NoError(t, pool.QueryRow(ctx, "\nSELECT n FROM counter WHERE id = $1", 1).Scan(&n))
	found := tel.Spans("SELECT " + database)
	require.Len(t, found, 1)
	require.Equal(t, span.SpanContext().SpanID(), found[0].Parent().SpanID())
	attributes := telemetrytest.Attributes(found[0])
	require.Equal(t, "postgresql", attributes["db.system.name"])
	require.Equal(t, "SELECT", attributes["db.operation.name"])
	require.Equal(t, "\nSELECT n FROM counter WHERE id = $1", attributes["db.query.text"])

	t.Run("a batch is one", func(t *testing.T) {
		require.NoError(t, postgres.Pipeline(ctx, pool, func(b *pgx.Batch) {
			b.Queue("UPDATE counter SET n = $1 WHERE id = 1", 42)
		}))
		found := tel.Spans("BATCH " + database)
		require.Len(t, found, 1)
		attributes := telemetrytest.Attributes(found[0])
		require.Equal(t, "BEGIN; UPDATE counter SET n = $1 WHERE id = 1; COMMIT", attributes["db.query.text"])
		require.Equal(t, "3", attributes["db.operation.batch.size"])
		require.Equal(t, codes.Unset, found[0].Status().Code)
	})
	t.Run("an error has its SQLSTATE, not the server's message", func(t *testing.T) {
		_, err := pool.Exec(ctx, "INSERT INTO counter VALUES ($1, 0)", 1)
		require.Error(t, err)
		require.Error(t, postgres.Pipeline(ctx, pool, func(b *pgx.Batch) { b.Queue("INSERT INTO counter VALUES ($1, 0)", 1) }))
		for _, name := range []string{"INSERT ", "BATCH "} {
			found := tel.Spans(name + database)
			last := found[len(found)-1]
			require.Equal(t, codes.Error, last.Status().Code)
			require.Empty(t, last.Status().Description)
			require.Empty(t, last.Events())
			require.Equal(t, "23505", telemetrytest.Attributes(last)["db.response.status_code"])
		}
	})
	t.Run("no row found is no error", func(t *testing.T) {
		require.ErrorIs(t, pool.QueryRow(ctx, "SELECT n FROM counter WHERE id = 7").Scan(&n), pgx.ErrNoRows)
		for _, s := range tel.Spans("SELECT " + database) {
			require.Equal(t, codes.Unset, s.Status().Code)
		}
	})
	t.Run("a long one is cut between letters", func(t *testing.T) {
		_, err := pool.Exec(ctx, "SELECT 1 -- "+strings.Repeat("—", 1<<10))
		require.NoError(t, err)
		found := tel.Spans("SELECT " + database)
		text := telemetrytest.Attributes(found[len(found)-1])["db.query.text"]
		require.Len(t, text, 2046)
		require.True(t, utf8.ValidString(text))
	})
	t.Run("a statement outside of a trace has no span", func(t *testing.T) {
		before := len(tel.SpanNames())
		_, err := pool.Exec(t.Context(), "SELECT 1")
		require.NoError(t, err)
		require.NoError(t, postgres.Pipeline(t.Context(), pool, func(b *pgx.Batch) { b.Queue("SELECT 1") }))
		require.Len(t, tel.SpanNames(), before)
	})
}

func TestWithoutTracingNothingIsInstalled(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	tel.Tracing = false
	require.Nil(t, observedPool(t, tel).Config().ConnConfig.Tracer)
}

func TestAPoolMeasuresItsConnections(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	pool := observedPool(t, tel)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	const name = "db.client.connection.pool.name=discard"
	count := tel.Values(t, "db.client.connection.count")
	require.InDelta(t, 1, count[name+",db.client.connection.state=used,db.system.name=postgresql"], 0)
	require.Contains(t, count, name+",db.client.connection.state=idle,db.system.name=postgresql")
	require.InDelta(t, 3, tel.Values(t, "db.client.connection.max")[name+",db.system.name=postgresql"], 0)
	require.Contains(t, tel.Values(t, "gifting.db.pool.waits"), name+",db.system.name=postgresql")
	require.Contains(t, tel.Values(t, "gifting.db.pool.wait_time"), name+",db.system.name=postgresql")
}
