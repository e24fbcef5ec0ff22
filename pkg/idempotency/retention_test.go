package idempotency_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/idempotency"
)

func TestAnAnswerIsKeptForItsTimeAndThenTheKeyIsFree(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	const keep = 30 * 24 * time.Hour
	ctx := request(t.Context(), 1, "k", "f")
	_, err := idempotency.Run(ctx, pool, effect("a", "one"))
	require.NoError(t, err)
	for _, tc := range []struct {
		age  time.Duration
		want string
	}{{keep - time.Minute, "one"}, {keep + time.Minute, "two"}} {
		_, err := pool.Exec(t.Context(), "UPDATE idempotency_answers SET created_at = now() - $1::interval", tc.age)
		require.NoError(t, err)
		require.NoError(t, idempotency.DeleteOld(t.Context(), pool, keep))
		got, err := idempotency.Run(ctx, pool, effect("b", "two"))
		require.NoError(t, err)
		require.Equal(t, tc.want, got.GetError())
	}
}
