package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

var (
	lockLink = selectLink + ` FOR UPDATE OF l`

	updateLink = `UPDATE links SET claim_lease_until = now() + $3::interval, ` + changedColumns.Set(4) +
		` WHERE tenant_id = $1 AND id = $2`
)

// QueueLock locks a link and sets into, or leaves it nil if there is no such link.
func (s *Store) QueueLock(b *pgx.Batch, tenantID, id string, into **rules.Link) {
	postgres.QueueSelectFirst(b, into, s.scanLink, lockLink, tenantID, id)
}

// Change is a change of a link that QueueLock locked.
type Change struct {
	Link *rules.Link
	// Lease is how long a claim that locks the link has to place its order.
	Lease time.Duration
	// Event is the type of event to record; empty for a change that is not visible outside.
	Event string
	// OriginKeyID is the key whose request made the change; 0 if no key did.
	OriginKeyID int32
	Audit       *Audit
}

// QueueChange returns a function that writes the change, its audit and its event.
func (s *Store) QueueChange(ctx context.Context, c Change) (func(b *pgx.Batch), error) {
	l, r := c.Link, c.Link.Record
	next := &row{Link: l, record: r}
	if l.Reason != nil {
		next.reason = s.ring.Seal([]byte(*l.Reason), ofReason(r.GetId()))
	}
	var lease *time.Duration // Only a claim in flight has one.
	if l.ClaimOrderID != nil {
		lease = &c.Lease
	}
	update := func(b *pgx.Batch) {
		b.Queue(updateLink, changedColumns.Args(next, l.TenantID, r.GetId(), lease)...)
		if status := r.GetStatus(); status != rules.Requested && status != rules.Active {
			b.Queue(deleteDraftsOf, l.TenantID, r.GetId())
		}
	}
	if c.Event == "" {
		return update, nil
	}
	event, err := s.newEvent(l, c.Event, c.OriginKeyID)
	if err != nil {
		return nil, err
	}
	return func(b *pgx.Batch) {
		update(b)
		if c.Audit != nil {
			c.Audit.queue(b, l.TenantID, []string{r.GetId()}, event.OccurredAt)
		}
		outbox.Append(ctx, b, event)
	}, nil
}

// Update locks the link, lets decide change it, commits the change and returns the link. If decide returns nil, nothing is
// written.
func (s *Store) Update(
	ctx context.Context, tenantID, id string, decide func(l *rules.Link) (*Change, error),
) (link *rules.Link, err error) {
	err = postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) { s.QueueLock(b, tenantID, id, &link) },
		func() (func(b *pgx.Batch), error) {
			if link == nil {
				return nil, ErrNotFound
			}
			change, err := decide(link)
			if err != nil || change == nil {
				return nil, err
			}
			change.Link = link
			return s.QueueChange(ctx, *change)
		})
	if err != nil {
		return nil, fmt.Errorf("change link: %w", err)
	}
	return link, nil
}

// newEvent builds the outbox row for the link after a change. originKeyID is the key that made the request; 0 if no key did.
func (s *Store) newEvent(l *rules.Link, kind string, originKeyID int32) (outbox.Event, error) {
	data, err := restjson.Marshal(l.Record)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	id := uuid.Must(uuid.NewV7()).String()
	data, err = s.events.Seal(seal.EventRef{TenantID: l.TenantID, EventID: id}, data, seal.ClaimURL)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("seal event: %w", err)
	}
	return outbox.Event{
		ID:          id,
		Type:        kind,
		TenantID:    l.TenantID,
		BrandID:     l.Record.GetBrandId(),
		SubjectID:   l.Record.GetId(),
		OriginKeyID: originKeyID,
		OccurredAt:  l.Record.GetUpdatedAt().AsTime(),
		Data:        data,
	}, nil
}

// The actions that are audited.
const (
	Approved  = "APPROVED"
	Cancelled = "CANCELLED"
	Erased    = "ERASED"
	Exported  = "EXPORTED"
)

// ByKey is the kind of an actor that is an API key.
const ByKey = "API_KEY"

// Audit says who did what.
type Audit struct {
	Action    string
	ActorKind string
	ActorID   string
}

// BySandbox is an act of the sandbox, for an API key or by itself.
func BySandbox(action string) *Audit {
	return &Audit{Action: action, ActorKind: "SYSTEM", ActorID: "Sandbox"}
}

const insertAudit = `INSERT INTO link_audit (tenant_id, link_id, action, actor_kind, actor_id, at)
SELECT $1::uuid, unnest($2::uuid[]), $3::text, $4::text, $5::text, $6::timestamptz`

func (a *Audit) queue(b *pgx.Batch, tenantID string, linkIDs []string, at time.Time) {
	b.Queue(insertAudit, tenantID, linkIDs, a.Action, a.ActorKind, a.ActorID, at)
}
