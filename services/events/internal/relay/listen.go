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

// checkEvery is how often a quiet connection is asked whether it still lives.
const checkEvery = 10 * time.Second

// listen is woken by every source until ctx ends. Without it the relay polls, so a source that
// cannot be listened to delays its changes by the poll's interval and loses none.
func (r *Relay) listen(ctx context.Context) {
	var group errgroup.Group
	for _, s := range r.sources {
		group.Go(func() error {
			for ctx.Err() == nil {
				if err := s.listen(ctx, r.Wake); err != nil && ctx.Err() == nil {
					r.log.WarnContext(ctx, "relay is not woken by a source, it polls", "source", s.name, "error", err)
				}
				pause(ctx, maxBackoff, nil)
			}
			return nil
		})
	}
	_ = group.Wait()
}

// listen calls wake for each notification, over a connection of its own, until that breaks.
func (s *source) listen(ctx context.Context, wake func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+outbox.Channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	wake() // For rows of before.
	for {
		wait, cancel := context.WithTimeout(ctx, checkEvery)
		_, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			wake()
		case ctx.Err() != nil:
			return nil
		case !pgconn.Timeout(err):
			return fmt.Errorf("wait for notification: %w", err)
		default:
			if err := conn.Ping(ctx); err != nil {
				return fmt.Errorf("ping: %w", err)
			}
		}
	}
}
