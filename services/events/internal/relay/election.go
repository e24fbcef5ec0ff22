package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/outbox"
)

const (
	// checkInterval is how often a quiet connection is checked, and checkTimeout how long that takes. The heartbeat notices earlier
	// that a connection is dead, if there are changes.
	checkInterval = 10 * time.Second
	checkTimeout  = 2 * time.Second
)

// listen wakes the relay at each notification of a source until ctx ends. While it does not listen to all, the relay polls.
func (r *Relay) listen(ctx context.Context) {
	var group errgroup.Group
	for _, s := range r.sources {
		group.Go(func() error {
			for ctx.Err() == nil {
				if err := s.listen(ctx, r.wakeups); err != nil && ctx.Err() == nil {
					r.log.WarnContext(ctx, "cannot listen to a source, polling it", "source", s.name, "error", err)
				}
				pause(ctx, maxBackoff, nil)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// listen wakes for each notification, over a connection of its own, until the connection breaks.
func (s *source) listen(ctx context.Context, w *wakeups) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+outbox.Channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer w.listens()()
	for {
		wait, cancel := context.WithTimeout(ctx, checkInterval)
		_, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			w.wake()
		case ctx.Err() != nil:
			return nil
		case !pgconn.Timeout(err):
			return fmt.Errorf("wait for notification: %w", err)
		default:
			if err := ping(ctx, conn); err != nil {
				return fmt.Errorf("ping: %w", err)
			}
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return conn.Ping(ctx)
}
