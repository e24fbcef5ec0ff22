package notices

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	notify        = `SELECT pg_notify('` + channel + `', payload) FROM unnest($1::text[]) AS payload`
	notifyTimeout = 2 * time.Second
	// notifyPause follows a notification that failed. It is sent again until it arrives.
	notifyPause = 200 * time.Millisecond

	// checkInterval is how often a quiet connection that listens is checked.
	checkInterval = 3 * time.Second
	listenPause   = 250 * time.Millisecond
)

// Announcer announces committed events to all instances.
type Announcer struct {
	hub  *Hub
	pool *pgxpool.Pool
	log  *slog.Logger
	// self is the name of this process in notifications, whose own it does not publish twice.
	self uuid.UUID
	// outgoing has what is not sent yet.
	outgoing Subscription
}

// NewAnnouncer makes an announcer of the events in the pool's database.
func NewAnnouncer(hub *Hub, pool *pgxpool.Pool, log *slog.Logger) *Announcer {
	return &Announcer{hub: hub, pool: pool, log: log, self: uuid.New(), outgoing: Subscription{due: make(chan struct{}, 1)}}
}

// Announce announces events that have been committed. It never waits.
func (a *Announcer) Announce(changes []*eventsv1.Change) {
	list := make([]Notice, len(changes))
	for i, c := range changes {
		list[i] = Of(c)
	}
	a.hub.Publish(list)
	a.outgoing.update(func(p *pending) { p.add(list) })
}

// Missed announces that events may have been committed without a notice.
func (a *Announcer) Missed() {
	a.hub.Missed()
	a.outgoing.update((*pending).miss)
}

// Run notifies the other instances until ctx ends. Under load it does so less often, with more notices.
func (a *Announcer) Run(ctx context.Context) error {
	return outbox.Coalesce(ctx, a.outgoing.Due(), a.flush)
}

// flush sends what is pending, and returns how long to wait before the next time.
func (a *Announcer) flush(ctx context.Context) time.Duration {
	list, missed := a.outgoing.Drain()
	if len(list) == 0 && !missed {
		return 0
	}
	err := a.send(ctx, list, missed)
	if err == nil {
		return outbox.PollDelay(len(list))
	}
	if ctx.Err() == nil {
		a.log.WarnContext(ctx, "cannot notify other instances of new events, trying again", "error", err)
	}
	a.outgoing.update(func(p *pending) {
		if p.add(list); missed {
			p.miss()
		}
	})
	return notifyPause
}

func (a *Announcer) send(ctx context.Context, list []Notice, missed bool) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := a.pool.Exec(ctx, notify, encode(a.self, list, missed)); err != nil {
		return fmt.Errorf("notify instances: %w", err)
	}
	return nil
}

// AnnounceMissed announces from a process that does not run an Announcer that events may have been committed without a notice.
func AnnounceMissed(ctx context.Context, pool *pgxpool.Pool) error {
	return NewAnnouncer(&Hub{}, pool, nil).send(ctx, nil, true)
}

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
	conn, err := postgres.Listen(ctx, a.pool.Config().ConnConfig, channel)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	a.hub.Missed()
	return postgres.AwaitNotifications(ctx, conn, checkInterval, func(payload string) { a.arrived(ctx, payload) })
}

func (a *Announcer) arrived(ctx context.Context, payload string) {
	sender, list, err := decode(payload)
	switch {
	case err != nil: // Of a later version.
		a.log.WarnContext(ctx, "cannot read what another instance announces", "error", err)
		a.hub.Missed()
	case sender == a.self:
	case len(list) == 0:
		a.hub.Missed()
	default:
		a.hub.Publish(list)
	}
}
