package relay

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
)

// checkInterval is how often a quiet connection that listens is checked.
const checkInterval = 10 * time.Second

// wakeups notify the relay of changes. It relies on them while it listens to all sources, and otherwise polls.
type wakeups struct {
	due chan struct{}
	// unheard is how many sources the relay does not listen to.
	unheard atomic.Int64
}

func newWakeups(sources int) *wakeups {
	w := &wakeups{due: make(chan struct{}, 1)}
	w.unheard.Store(int64(sources))
	return w
}

// wake never waits, and many calls count as one.
func (w *wakeups) wake() {
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// listens notes that the relay listens to a source, until the returned function is called.
func (w *wakeups) listens() (ended func()) {
	w.unheard.Add(-1)
	w.wake() // For changes that were recorded before.
	return func() {
		w.unheard.Add(1)
		w.wake() // An idle relay begins to poll.
	}
}

// interval is how long an idle relay waits.
func (w *wakeups) interval(cfg Config) time.Duration {
	if w.unheard.Load() > 0 {
		return cfg.PollInterval
	}
	return max(cfg.PollInterval, cfg.HeartbeatInterval)
}

// listen wakes the relay at each notification of a source until ctx ends.
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
	conn, err := postgres.Listen(ctx, s.pool.Config().ConnConfig, outbox.Channel)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	defer w.listens()()
	return postgres.AwaitNotifications(ctx, conn, checkInterval, func(string) { w.wake() })
}
