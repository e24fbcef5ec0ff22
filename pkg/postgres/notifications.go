package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Listen makes a connection that receives the notifications of a channel. The caller closes it.
func Listen(ctx context.Context, cfg *pgx.ConnConfig, channel string) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}

// CheckTimeout is how long AwaitNotifications waits for the answer of a connection that it checks.
const CheckTimeout = 2 * time.Second

// AwaitNotifications passes the payloads of the notifications that a connection receives until ctx ends, or returns an error when
// the connection breaks. It checks a connection that was quiet for the interval.
func AwaitNotifications(ctx context.Context, conn *pgx.Conn, interval time.Duration, notified func(payload string)) error {
	for {
		wait, cancel := context.WithTimeout(ctx, interval)
		notification, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			notified(notification.Payload)
			continue
		case ctx.Err() != nil:
			return nil
		case !pgconn.Timeout(err):
			return fmt.Errorf("wait for notification: %w", err)
		}
		answered, cancel := context.WithTimeout(ctx, CheckTimeout)
		err = conn.Ping(answered)
		cancel()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("check the connection: %w", err)
		}
	}
}
