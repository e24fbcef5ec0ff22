package outbox_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const waitLimit = 20 * time.Second

// listen returns a function that waits for a notification of the relay.
func listen(t *testing.T, pool *pgxpool.Pool) (notified func() error) {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(conn.Release)
	_, err = conn.Exec(t.Context(), "LISTEN "+outbox.Channel)
	require.NoError(t, err)
	return func() error {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		_, err := conn.Conn().WaitForNotification(ctx)
		return err
	}
}

func TestAWakeBeforeTheEndIsNotLost(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	notified := listen(t, pool)
	w := outbox.NewWaker(pool, telemetry.Discard().Logger)
	w.Wake()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, w.Run(ended))
	require.NoError(t, notified())
}

func TestANotificationThatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	const failing = 3 // The pool itself makes one of these attempts.
	other := pgtest.New(t)
	notified := listen(t, other)
	cfg := other.Config()
	var attempts atomic.Int64
	cfg.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if attempts.Add(1) <= failing {
			return errors.New("the server does not answer")
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	w := outbox.NewWaker(pool, telemetry.Discard().Logger)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.Wake()
	require.NoError(t, notified())
	require.Greater(t, attempts.Load(), int64(failing))
	cancel()
	require.NoError(t, <-done)
}
