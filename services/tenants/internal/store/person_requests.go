package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// The actions on a person's data.
const (
	ErasePerson  = "ERASE"
	ExportPerson = "EXPORT"
)

// PersonRequest is a request to erase or export what is stored about a person.
type PersonRequest struct {
	TenantID, ID        string
	Action, SubjectKind string
	SubjectMAC          []byte
	ActorKind           commonv1.ActorKind
	ActorID             string
	RequestedAt         time.Time
	LinkIDs, OrderIDs   []string

	LinksErasedAt, OrdersErasedAt, CompletedAt *time.Time
	// Remainders says when the copies that cannot be changed are gone, by their place. It is empty until the erasure is completed.
	Remainders map[string]time.Time
	// KeyIDs are all keys of the tenant.
	KeyIDs []int32
}

const (
	personRequestColumns = `tenant_id::text, id::text, action, subject_kind, subject_mac, actor_kind, actor_id, requested_at,
  link_ids::text[], order_ids::text[], links_erased_at, orders_erased_at, completed_at, remainders,
  ARRAY(SELECT k.id FROM api_keys k WHERE k.tenant_id = person_requests.tenant_id)`

	// An export is completed by its response.
	insertPersonRequest = `INSERT INTO person_requests
  (tenant_id, id, action, subject_kind, subject_mac, actor_kind, actor_id, link_ids, order_ids, next_attempt_at, completed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10::interval, CASE WHEN $3 = 'EXPORT' THEN now() END)
ON CONFLICT DO NOTHING`

	selectPersonRequest = `SELECT ` + personRequestColumns + ` FROM person_requests WHERE tenant_id = $1 AND id = $2`

	// An order that a claim of one of the links has placed since belongs to the person too.
	linksErased = `UPDATE person_requests SET links_erased_at = coalesce(links_erased_at, clock_timestamp()),
  order_ids = ARRAY(SELECT unnest(order_ids) UNION SELECT unnest($3::uuid[]))
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL`

	ordersErased = `UPDATE person_requests SET orders_erased_at = coalesce(orders_erased_at, clock_timestamp())
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL AND links_erased_at IS NOT NULL`

	completeErasure = `UPDATE person_requests SET completed_at = clock_timestamp(), remainders = coalesce((
  SELECT jsonb_object_agg(place, date_trunc('seconds', clock_timestamp() + kept)) FROM unnest($3::text[], $4::interval[]) AS r (place, kept)), '{}')
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL AND links_erased_at IS NOT NULL AND orders_erased_at IS NOT NULL`

	// Several instances share the work: each takes different requests until their next attempt.
	takePending = `UPDATE person_requests SET next_attempt_at = now() + $1::interval WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM person_requests WHERE completed_at IS NULL AND next_attempt_at <= now()
  ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING ` + personRequestColumns

	oldestPending = `SELECT coalesce(extract(epoch FROM now() - min(requested_at)), 0)::float8 FROM person_requests
WHERE completed_at IS NULL`

	deletePersonRequests = `DELETE FROM person_requests WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM person_requests WHERE completed_at < clock_timestamp() - $1::interval ORDER BY completed_at LIMIT $2)`
)

// RecordPersonRequest records a request of an actor who may make it, unless one with its id is recorded. From then on it is done even
// if the actor loses the permission. The worker takes it over after the given time.
func (s *Store) RecordPersonRequest(ctx context.Context, by By, r PersonRequest, takeOver time.Duration) error {
	_, err := s.change(ctx, r.TenantID, by, func(tx pgx.Tx) (changed bool, err error) {
		_, err = tx.Exec(ctx, insertPersonRequest, r.TenantID, r.ID, r.Action, r.SubjectKind, r.SubjectMAC,
			enumname.String(by.Actor.GetKind()), by.Actor.GetId(), list(r.LinkIDs), list(r.OrderIDs), takeOver)
		return false, err // The settings, which have the version, are the same.
	})
	if err != nil {
		return fmt.Errorf("record request for a person: %w", err)
	}
	return nil
}

// PersonRequest reads a request; ErrNotFound if there is none.
func (s *Store) PersonRequest(ctx context.Context, tenantID, id string) (r PersonRequest, err error) {
	rows, err := s.pool.Query(ctx, selectPersonRequest, tenantID, id)
	if err == nil {
		r, err = pgx.CollectExactlyOneRow(rows, scanPersonRequest)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("read request for a person: %w", err)
	}
	return r, nil
}

// LinksErased records that the links are erased, and further orders that were placed with them.
func (s *Store) LinksErased(ctx context.Context, tenantID, id string, orderIDs []string) error {
	if _, err := s.pool.Exec(ctx, linksErased, tenantID, id, list(orderIDs)); err != nil {
		return fmt.Errorf("record erased links: %w", err)
	}
	return nil
}

// OrdersErased records that the orders are erased.
func (s *Store) OrdersErased(ctx context.Context, tenantID, id string) error {
	if _, err := s.pool.Exec(ctx, ordersErased, tenantID, id); err != nil {
		return fmt.Errorf("record erased orders: %w", err)
	}
	return nil
}

// CompleteErasure completes an erasure whose records and events are erased. remainders says for how long copies are kept that cannot be
// changed.
func (s *Store) CompleteErasure(ctx context.Context, tenantID, id string, remainders map[string]time.Duration) error {
	places := slices.Sorted(maps.Keys(remainders))
	kept := postgres.Column(places, func(place string) time.Duration { return remainders[place] })
	if _, err := s.pool.Exec(ctx, completeErasure, tenantID, id, places, kept); err != nil {
		return fmt.Errorf("complete erasure: %w", err)
	}
	return nil
}

// TakePendingErasures takes up to limit erasures that are due, and lets no other instance take them for the given time.
func (s *Store) TakePendingErasures(ctx context.Context, lease time.Duration, limit int) ([]PersonRequest, error) {
	rows, err := s.pool.Query(ctx, takePending, lease, limit)
	if err != nil {
		return nil, fmt.Errorf("take pending erasures: %w", err)
	}
	taken, err := pgx.CollectRows(rows, scanPersonRequest)
	if err != nil {
		return nil, fmt.Errorf("take pending erasures: %w", err)
	}
	return taken, nil
}

// OldestPendingErasure returns for how long the oldest erasure has been pending, or zero.
func (s *Store) OldestPendingErasure(ctx context.Context) (time.Duration, error) {
	var seconds float64
	if err := s.pool.QueryRow(ctx, oldestPending).Scan(&seconds); err != nil {
		return 0, fmt.Errorf("read the oldest pending erasure: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// DeletePersonRequests deletes up to limit requests that were completed longer ago than keep, which the schema refuses below a
// year, and returns how many.
func (s *Store) DeletePersonRequests(ctx context.Context, keep time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deletePersonRequests, keep, limit)
	if err != nil {
		return 0, fmt.Errorf("delete requests for persons: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

func scanPersonRequest(row pgx.CollectableRow) (r PersonRequest, err error) {
	err = row.Scan(&r.TenantID, &r.ID, &r.Action, &r.SubjectKind, &r.SubjectMAC, postgres.ScanEnum(&r.ActorKind), &r.ActorID,
		&r.RequestedAt, &r.LinkIDs, &r.OrderIDs, &r.LinksErasedAt, &r.OrdersErasedAt, &r.CompletedAt,
		&r.Remainders, &r.KeyIDs)
	return r, err
}
