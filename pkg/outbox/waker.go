package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
)

// Channel is the PostgreSQL notification channel on which a Waker wakes the relay.
const Channel = "gifting_outbox"

const (
	notify      = `SELECT pg_notify('` + Channel + `', '')`
	wakeTimeout = time.Second
)

// Waker notifies the relay of new rows right after their commit. It notifies in a separate transaction, because a notification
// in the writing one would make all commits queue for one lock. Calls are coalesced. After a lost one, the relay finds the rows
// with its next heartbeat, and polls for a time.
type Waker struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	due  chan struct{}
	// calls counts the calls since the last notification.
	calls atomic.Int64
}

// NewWaker makes a waker for the outbox in the pool's database.
func NewWaker(pool *pgxpool.Pool, log *slog.Logger) *Waker {
	return &Waker{pool: pool, log: log, due: make(chan struct{}, 1)}
}

// Wake requests a notification. It never waits.
func (w *Waker) Wake() {
	w.calls.Add(1)
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// Run notifies until ctx ends. Calls during the delay are covered by the next notification, and those before the end by a last one.
func (w *Waker) Run(ctx context.Context) error { return Coalesce(ctx, w.due, w.notify) }

// Coalesce calls flush when due receives, but not before the gap that the last call returned is over. When ctx ends, it calls flush
// once more.
func Coalesce(ctx context.Context, due <-chan struct{}, flush func(ctx context.Context) (gap time.Duration)) error {
	gap := time.NewTimer(0)
	defer gap.Stop()
	for {
		select {
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx))
			return nil
		case <-gap.C:
		}
		select {
		case <-ctx.Done():
		case <-due:
		}
		gap.Reset(flush(ctx))
	}
}

// notify notifies the relay of the calls since the last time, and returns how long to wait before the next one.
func (w *Waker) notify(ctx context.Context) (gap time.Duration) {
	calls := w.calls.Swap(0)
	if calls == 0 {
		return 0
	}
	limited, cancel := context.WithTimeout(ctx, wakeTimeout)
	defer cancel()
	if _, err := w.pool.Exec(limited, notify); err != nil {
		if ctx.Err() == nil {
			w.log.WarnContext(ctx, "relay was not woken, trying again", "error", err)
		}
		w.Wake()
		return retryGap
	}
	return PollDelay(int(calls))
}

// appendedKey is the context key of a flag: the call has appended to the outbox.
type appendedKey struct{}

// Intercept wakes the relay after every call that appended, once its transaction has ended.
func (w *Waker) Intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	var appended atomic.Bool
	resp, err := next(context.WithValue(ctx, appendedKey{}, &appended), req)
	// Also after an error: the transaction may have committed before it.
	if appended.Load() {
		w.Wake()
	}
	return resp, err
}

func markAppended(ctx context.Context) {
	if appended, ok := ctx.Value(appendedKey{}).(*atomic.Bool); ok {
		appended.Store(true)
	}
}

const (
	// shortGap is how long a change waits at most at low load: a small part of its time to a receiver.
	shortGap = 3 * time.Millisecond
	// Gaps grow with the number of changes, from a thousand changes a second on.
	gapPerChange = time.Millisecond
	// retryGap follows a notification that failed.
	retryGap = 200 * time.Millisecond
	// longGap is small compared with the SLO: a change is in the feed within 30 ms.
	longGap = 12 * time.Millisecond
)

// PollDelay is how long to wait after n changes: between two notifications of the relay, and between two of its batches. Each
// batch costs a transaction or a message in each source, the broker, the feed and the webhooks, whatever its size. So under
// load batches get larger, not more frequent.
func PollDelay(n int) time.Duration {
	return max(shortGap, min(time.Duration(n), longGap/gapPerChange)*gapPerChange)
}
