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
	now := time.Now()
	retention := &idempotency.Retention{
		Pool: pool, Keep: time.Hour, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	}
	ctx := request(t.Context(), 1, "k", "f")
	_, err := idempotency.Run(ctx, pool, empty, effect("a", "one"))
	require.NoError(t, err)

	now = now.Add(59 * time.Minute)
	require.NoError(t, retention.Sweep(t.Context()))
	got, err := idempotency.Run(ctx, pool, empty, effect("b", "two"))
	require.NoError(t, err)
	require.Equal(t, "one", got.GetError())

	now = now.Add(2 * time.Minute)
	require.NoError(t, retention.Sweep(t.Context()))
	got, err = idempotency.Run(ctx, pool, empty, effect("c", "three"))
	require.NoError(t, err)
	require.Equal(t, "three", got.GetError())
}
