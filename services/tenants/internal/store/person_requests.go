package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

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
	// RecipientSealed is the externalRecipientId of the person, until the links are erased; nil: the subject is a record.
	RecipientSealed   []byte
	ActorKind         commonv1.ActorKind
	ActorID           string
	RequestedAt       time.Time
	LinkIDs, OrderIDs []string

	LinksErasedAt, OrdersErasedAt, CompletedAt *time.Time
	// Remainders says when the copies that cannot be changed are gone, by their place. It is empty until the erasure is completed.
	Remainders map[string]time.Time
	// KeyIDs are all keys of the tenant.
	KeyIDs []int32
}

// personRequestRow is a row of the requests. In a row to insert, takeOver and completed count from now. completed is zero for an
// export, which its response completes, and nil for an erasure.
type personRequestRow struct {
	PersonRequest

	takeOver  time.Duration
	completed *time.Duration
}

var personRequests = postgres.Columns[personRequestRow]{
	postgres.Field("tenant_id", written|shown, func(r *personRequestRow) *string { return &r.TenantID }).Cast("", "::text"),
	postgres.Field("id", written|shown, func(r *personRequestRow) *string { return &r.ID }).Cast("", "::text"),
	postgres.Field("action", written|shown, func(r *personRequestRow) *string { return &r.Action }),
	postgres.Field("subject_kind", written|shown, func(r *personRequestRow) *string { return &r.SubjectKind }),
	postgres.Field("subject_mac", written|shown, func(r *personRequestRow) *[]byte { return &r.SubjectMAC }),
	postgres.Field("recipient_sealed", written|shown, func(r *personRequestRow) *[]byte { return &r.RecipientSealed }),
	postgres.EnumField("actor_kind", written|shown, func(r *personRequestRow) *commonv1.ActorKind { return &r.ActorKind }),
	postgres.Field("actor_id", written|shown, func(r *personRequestRow) *string { return &r.ActorID }),
	postgres.Field("link_ids", written|shown, func(r *personRequestRow) *[]string { return &r.LinkIDs }).Cast("", "::text[]"),
	postgres.Field("order_ids", written|shown, func(r *personRequestRow) *[]string { return &r.OrderIDs }).Cast("", "::text[]"),
	postgres.Field("next_attempt_at", written,
		func(r *personRequestRow) *time.Duration { return &r.takeOver }).Cast("::interval + now()", ""),
	postgres.Field("completed_at", written,
		func(r *personRequestRow) **time.Duration { return &r.completed }).Cast("::interval + now()", ""),

	postgres.Field("requested_at", shown, func(r *personRequestRow) *time.Time { return &r.RequestedAt }),
	postgres.Field("links_erased_at", shown, func(r *personRequestRow) **time.Time { return &r.LinksErasedAt }),
	postgres.Field("orders_erased_at", shown, func(r *personRequestRow) **time.Time { return &r.OrdersErasedAt }),
	postgres.Field("completed_at", shown, func(r *personRequestRow) **time.Time { return &r.CompletedAt }),
	postgres.Field("remainders", shown, func(r *personRequestRow) *map[string]time.Time { return &r.Remainders }),
	postgres.Field("ARRAY(SELECT k.id FROM api_keys k WHERE k.tenant_id = person_requests.tenant_id)", shown,
		func(r *personRequestRow) *[]int32 { return &r.KeyIDs }),
}

// RecipientData is the associated data with which the recipient of a request is sealed.
func RecipientData(requestID string) string { return "person_requests.recipient_sealed/" + requestID }

var (
	insertPersonRequest = personRequests.For(written).Insert("person_requests") + ` ON CONFLICT DO NOTHING`

	selectPersonRequest = `SELECT ` + personRequests.For(shown).Select() + ` FROM person_requests WHERE tenant_id = $1 AND id = $2`

	// Several instances share the work: each takes different requests until their next attempt. Real waits are shorter than an hour:
	// a later time was stored while the clock was ahead.
	takePending = `UPDATE person_requests SET next_attempt_at = now() + $1::interval WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM person_requests
  WHERE completed_at IS NULL AND (next_attempt_at <= now() OR next_attempt_at > now() + interval '1 hour')
  ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING ` + personRequests.For(shown).Select()
)

const (
	// An order that a claim of one of the links has placed since belongs to the person too.
	linksErased = `UPDATE person_requests SET links_erased_at = coalesce(links_erased_at, clock_timestamp()),
  order_ids = ARRAY(SELECT unnest(order_ids) UNION SELECT unnest($3::uuid[]))
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL`

	ordersErased = `UPDATE person_requests SET orders_erased_at = coalesce(orders_erased_at, clock_timestamp())
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL AND links_erased_at IS NOT NULL`

	completeErasure = `UPDATE person_requests SET completed_at = clock_timestamp(), remainders = coalesce((
  SELECT jsonb_object_agg(place, date_trunc('seconds', clock_timestamp() + kept))
  FROM unnest($3::text[], $4::interval[]) AS r (place, kept)), '{}')
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL AND links_erased_at IS NOT NULL AND orders_erased_at IS NOT NULL`

	retryErasure = `UPDATE person_requests SET next_attempt_at = now() + $3::interval
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL`

	// A request of the future was recorded while the clock was ahead. It counts as equally long ago.
	oldestPending = `SELECT coalesce(max(abs(extract(epoch FROM now() - requested_at))), 0)::float8 FROM person_requests
WHERE completed_at IS NULL`
)

// RecordPersonRequest records a request of an actor who may make it, unless one with its id is recorded. From then on it is done
// even if the actor loses the permission. The worker takes it over after the given time.
func (s *Store) RecordPersonRequest(ctx context.Context, by Authorization, r PersonRequest, takeOver time.Duration) error {
	r.ActorKind, r.ActorID, r.LinkIDs, r.OrderIDs = by.Actor.GetKind(), by.Actor.GetId(), list(r.LinkIDs), list(r.OrderIDs)
	row := &personRequestRow{PersonRequest: r, takeOver: takeOver}
	if r.Action == ExportPerson {
		row.completed = new(time.Duration)
	}
	_, err := s.change(ctx, r.TenantID, by, func(tx pgx.Tx) (changed bool, err error) {
		_, err = postgres.Exec(ctx, tx, "record request for a person", insertPersonRequest, personRequests.For(written).Args(row)...)
		return false, err // The settings, which have the version, are the same.
	})
	return err
}

// PersonRequest reads a request; ErrNotFound if there is none.
func (s *Store) PersonRequest(ctx context.Context, tenantID, id string) (r PersonRequest, err error) {
	return postgres.SelectOne(ctx, s.pool, "read request for a person", ErrNotFound,
		scanPersonRequest, selectPersonRequest, tenantID, id)
}

// LinksErased records that the links are erased, and further orders that were placed with them.
func (s *Store) LinksErased(ctx context.Context, tenantID, id string, orderIDs []string) error {
	return s.exec(ctx, "record erased links", linksErased, tenantID, id, list(orderIDs))
}

// OrdersErased records that the orders are erased.
func (s *Store) OrdersErased(ctx context.Context, tenantID, id string) error {
	return s.exec(ctx, "record erased orders", ordersErased, tenantID, id)
}

// CompleteErasure completes an erasure whose records and events are erased. remainders says for how long copies are kept that
// cannot be changed.
func (s *Store) CompleteErasure(ctx context.Context, tenantID, id string, remainders map[string]time.Duration) error {
	places := slices.Sorted(maps.Keys(remainders))
	kept := postgres.Column(places, func(place string) time.Duration { return remainders[place] })
	return s.exec(ctx, "complete erasure", completeErasure, tenantID, id, places, kept)
}

// TakePendingErasures takes up to limit erasures that are due, and lets no other instance take them for the given time.
func (s *Store) TakePendingErasures(ctx context.Context, lease time.Duration, limit int) ([]PersonRequest, error) {
	return postgres.Select(ctx, s.pool, "take pending erasures", scanPersonRequest, takePending, lease, limit)
}

// RetryErasure ends the lease of an erasure that may still be pending: it is due again after the given time.
func (s *Store) RetryErasure(ctx context.Context, tenantID, id string, after time.Duration) error {
	return s.exec(ctx, "retry erasure", retryErasure, tenantID, id, after)
}

// OldestPendingErasure returns for how long the oldest erasure has been pending, or zero.
func (s *Store) OldestPendingErasure(ctx context.Context) (time.Duration, error) {
	var seconds float64
	if err := s.pool.QueryRow(ctx, oldestPending).Scan(&seconds); err != nil {
		return 0, fmt.Errorf("read the oldest pending erasure: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

func scanPersonRequest(row pgx.CollectableRow) (PersonRequest, error) {
	r := &personRequestRow{}
	err := row.Scan(personRequests.For(shown).Targets(r)...)
	return r.PersonRequest, err
}
