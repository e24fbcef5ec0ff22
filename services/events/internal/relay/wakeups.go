package relay

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// lateWakeup is longer than the notification of a change takes, after the change was recorded.
	lateWakeup = 100 * time.Millisecond
	// pollAfterLoss is how long the relay polls after it has found a change of which it was not notified.
	pollAfterLoss = 30 * time.Second
)

// wakeups notify the relay of changes. It relies on them while it listens to all sources and every change was announced lately.
// Otherwise it polls.
type wakeups struct {
	due chan struct{}
	// unheard is how many sources the relay does not listen to.
	unheard atomic.Int64
	// lostAt is when a change was found of which the relay was not notified.
	lostAt time.Time
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
	if w.unheard.Load() > 0 || !w.lostAt.IsZero() && time.Since(w.lostAt) < pollAfterLoss {
		return cfg.PollInterval
	}
	return max(cfg.PollInterval, cfg.HeartbeatInterval)
}

// checkWakeups looks at a batch that nothing has announced. If a change was recorded long enough before, its notification is lost.
func (r *Relay) checkWakeups(ctx context.Context, done outcome) {
	if done.published == 0 || r.clock.now().Sub(done.oldest) < lateWakeup {
		return
	}
	r.wakeups.lostAt = time.Now()
	r.metrics.lostWakeups.Add(ctx, 1)
	r.log.WarnContext(ctx, "relay found changes of which it was not notified, polling for a time", "changes", done.published)
}
