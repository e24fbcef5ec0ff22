package notices

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/outbox"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	notify        = `SELECT pg_notify('` + channel + `', payload) FROM unnest($1::text[]) AS payload`
	notifyTimeout = 2 * time.Second
	// notifyPause follows a notification that failed. It is sent again until it arrives.
	notifyPause = 200 * time.Millisecond
)

// Announcer announces committed events to all instances.
type Announcer struct {
	hub  *Hub
	pool *pgxpool.Pool
	log  *slog.Logger
	// self is the name of this process in notifications, whose own it does not publish twice.
	self uuid.UUID
	due  chan struct{}

	mu      sync.Mutex
	pending pending
}

// NewAnnouncer makes an announcer of the events in the pool's database.
func NewAnnouncer(hub *Hub, pool *pgxpool.Pool, log *slog.Logger) *Announcer {
	return &Announcer{hub: hub, pool: pool, log: log, self: uuid.New(), due: make(chan struct{}, 1)}
}

// Announce announces events that have been committed. It never waits.
func (a *Announcer) Announce(changes []*eventsv1.Change) {
	found := make([]Notice, len(changes))
	for i, c := range changes {
		found[i] = Of(c)
	}
	a.hub.Publish(found)
	a.change(func(p *pending) { p.add(found) })
}

// Missed announces that events may have been committed without a notice.
func (a *Announcer) Missed() {
	a.hub.Missed()
	a.change((*pending).miss)
}

func (a *Announcer) change(change func(p *pending)) {
	a.mu.Lock()
	change(&a.pending)
	a.mu.Unlock()
	select {
	case a.due <- struct{}{}:
	default:
	}
}

// Run notifies the other instances until ctx ends. Under load it does so less often, with more notices.
func (a *Announcer) Run(ctx context.Context) error {
	gap := time.NewTimer(0)
	defer gap.Stop()
	for {
		select {
		case <-ctx.Done():
			a.flush(context.WithoutCancel(ctx))
			return nil
		case <-gap.C:
		}
		select {
		case <-ctx.Done():
		case <-a.due:
		}
		gap.Reset(a.flush(ctx))
	}
}

// flush sends what is pending, and returns how long to wait before the next time.
func (a *Announcer) flush(ctx context.Context) time.Duration {
	a.mu.Lock()
	found, missed := a.pending.take()
	a.mu.Unlock()
	if len(found) == 0 && !missed {
		return 0
	}
	err := a.send(ctx, found, missed)
	if err == nil {
		return outbox.PollDelay(len(found))
	}
	if ctx.Err() == nil {
		a.log.WarnContext(ctx, "other instances were not told of new events, trying again", "error", err)
	}
	a.change(func(p *pending) {
		if p.add(found); missed {
			p.miss()
		}
	})
	return notifyPause
}

func (a *Announcer) send(ctx context.Context, found []Notice, missed bool) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := a.pool.Exec(ctx, notify, encode(a.self, found, missed)); err != nil {
		return fmt.Errorf("notify instances: %w", err)
	}
	return nil
}

// Missed announces from a process that does not run an Announcer that events may have been committed without a notice.
func Missed(ctx context.Context, pool *pgxpool.Pool) error {
	return NewAnnouncer(&Hub{}, pool, nil).send(ctx, nil, true)
}
