package idempotency_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/idempotency"
)

func TestAnAnswerIsKeptForItsTimeAndThenTheKeyIsFree(t *testing.T) {
	pool := setup(t)
	retention := &idempotency.Retention{Pool: pool, Keep: time.Hour, Log: slog.New(slog.DiscardHandler)}
	age := func(minutes int) {
		_, err := pool.Exec(t.Context(), "UPDATE idempotency_answers SET created_at = now() - make_interval(mins => $1)", minutes)
		require.NoError(t, err)
	}
	ctx := request(t.Context(), 1, "k", "f")
	_, err := idempotency.Run(ctx, pool, empty, effect("a", "one"))
	require.NoError(t, err)

	age(59)
	require.NoError(t, retention.Sweep(t.Context()))
	got, err := idempotency.Run(ctx, pool, empty, effect("b", "two"))
	require.NoError(t, err)
	require.Equal(t, "one", got.GetError())

	age(61)
	require.NoError(t, retention.Sweep(t.Context()))
	got, err = idempotency.Run(ctx, pool, empty, effect("c", "three"))
	require.NoError(t, err)
	require.Equal(t, "three", got.GetError())
}

func TestAnAnswerIsKeptFor30DaysByDefault(t *testing.T) {
	pool := setup(t)
	retention := &idempotency.Retention{Pool: pool, Log: slog.New(slog.DiscardHandler)}
	kept := func(age time.Duration) int {
		_, err := pool.Exec(t.Context(), "UPDATE idempotency_answers SET created_at = now() - $1::interval", age)
		require.NoError(t, err)
		require.NoError(t, retention.Sweep(t.Context()))
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_answers").Scan(&n))
		return n
	}
	_, err := idempotency.Run(request(t.Context(), 1, "k", "f"), pool, empty, effect("a", "one"))
	require.NoError(t, err)

	const promised = 30 * 24 * time.Hour
	require.Equal(t, promised, idempotency.DefaultRetention)
	require.Equal(t, 1, kept(promised-time.Minute))
	require.Zero(t, kept(promised+time.Minute))
}
