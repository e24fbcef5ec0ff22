package notices

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// checkInterval is how often a quiet connection is checked, and checkTimeout how long that takes: together they bound how long a
	// dead connection goes unnoticed.
	checkInterval = 3 * time.Second
	checkTimeout  = 2 * time.Second
	listenPause   = 250 * time.Millisecond
)

// Listen publishes what other instances announce, until ctx ends. Whenever it begins to listen, notices may have been missed.
func (a *Announcer) Listen(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := a.listen(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "cannot listen to other instances, trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenPause):
		}
	}
	return nil
}

// listen returns when its connection breaks.
func (a *Announcer) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, a.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a.hub.Missed()
	for {
		wait, cancel := context.WithTimeout(ctx, checkInterval)
		notification, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			a.arrived(ctx, notification.Payload)
		case ctx.Err() != nil:
			return nil
		case !pgconn.Timeout(err):
			return fmt.Errorf("wait for notification: %w", err)
		default:
			if err := check(ctx, conn); err != nil {
				return fmt.Errorf("check the connection: %w", err)
			}
		}
	}
}

func check(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return conn.Ping(ctx)
}

func (a *Announcer) arrived(ctx context.Context, payload string) {
	sender, found, err := decode(payload)
	switch {
	case err != nil: // Of a later version.
		a.log.WarnContext(ctx, "cannot read what another instance announces", "error", err)
		a.hub.Missed()
	case sender == a.self:
	case len(found) == 0:
		a.hub.Missed()
	default:
		a.hub.Publish(found)
	}
}
