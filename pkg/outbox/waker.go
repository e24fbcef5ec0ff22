package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
)

// Channel is the notification channel of the outbox's database on which a Waker calls the relay.
const Channel = "gifting_outbox"

const (
	notify      = `SELECT pg_notify('` + Channel + `', '')`
	wakeTimeout = time.Second
)

// Waker notifies the relay of new rows, right after they are committed. It notifies in a
// transaction of its own: inside the writing one, the notification would make all commits queue
// behind one lock. Calls are coalesced, and a lost one costs nothing but the relay's next poll.
type Waker struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	due  chan struct{}
	// calls are those since the last notification.
	calls atomic.Int64
}

// NewWaker makes a waker for the outbox in the pool's database.
func NewWaker(pool *pgxpool.Pool, log *slog.Logger) *Waker {
	return &Waker{pool: pool, log: log, due: make(chan struct{}, 1)}
}

// Wake asks for a notification. It never waits.
func (w *Waker) Wake() {
	w.calls.Add(1)
	select {
	case w.due <- struct{}{}:
	default:
	}
}

// Run notifies until ctx ends. Rows of calls during the gap are found by the relay's next look.
func (w *Waker) Run(ctx context.Context) error {
	gap := time.NewTimer(0)
	defer gap.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-gap.C:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.due:
		}
		calls := w.calls.Swap(0)
		w.notify(ctx)
		gap.Reset(PollDelay(int(calls)))
	}
}

func (w *Waker) notify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
	defer cancel()
	if _, err := w.pool.Exec(ctx, notify); err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "relay was not woken, it will poll", "error", err)
	}
}

// appendedKey holds whether the call has appended to the outbox.
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
	// shortGap is what a change waits at most where few come: it is a small part of its way to a receiver.
	shortGap = 3 * time.Millisecond
	// gapOfRow lets gaps grow from a thousand changes a second on.
	gapOfRow = time.Millisecond
	// longGap is small beside the SLO: a change is in the feed within 30 ms.
	longGap = 12 * time.Millisecond
)

// PollDelay is how long to leave the outbox alone after n changes: between two calls of the relay, and between two of its
// rounds. A round costs each source, the broker, the feed and the webhooks a transaction or a message, however much it
// carries. Under load rounds therefore become larger instead of more, and what they cost is left to the requests.
func PollDelay(n int) time.Duration {
	return max(shortGap, min(time.Duration(n), longGap/gapOfRow)*gapOfRow)
}
