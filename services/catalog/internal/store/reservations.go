package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// Attempt is a request for a unit. Its key identifies it across retries and crashes.
type Attempt struct {
	Key           []byte
	OrderID       string
	TenantID      string
	CampaignID    string
	ProductID     string
	VariationsKey []byte
}

// SQLSTATE values that reserve_unit raises.
const (
	stateOutOfStock = "GF001"
	stateNoSuchSKU  = "GF002"
	stateOtherSKU   = "GF003"
	stateOtherKey   = "GF004"
)

const (
	reserveUnit = `SELECT reserved_order_id::text, reserved_until FROM reserve_unit($1, $2, $3, $4, $5, $6, $7)`

	offersGift = `SELECT EXISTS (SELECT FROM offerings WHERE tenant_id = $1 AND campaign_id = $2 AND product_id = $3)`

	// Concurrent calls lock in the same order: reservations by order id, then SKUs by id.
	lockReservations = `SELECT order_id FROM reservations WHERE order_id = ANY($1::uuid[]) ORDER BY order_id FOR UPDATE`

	lockReturnedSKUs = `SELECT s.id FROM skus s
WHERE s.id IN (SELECT sku_id FROM reservations WHERE order_id = ANY($1::uuid[]) AND state <> 'RELEASED' AND units > 0)
ORDER BY s.id FOR UPDATE`

	confirmReservations = `UPDATE reservations SET state = 'CONFIRMED' WHERE order_id = ANY($1::uuid[]) AND state = 'RESERVED'`

	// One statement changes the state and returns the units, so a unit is returned exactly once.
	releaseReservations = `WITH released AS (
  UPDATE reservations SET state = 'RELEASED' WHERE order_id = ANY($1::uuid[]) AND state <> 'RELEASED'
  RETURNING sku_id, units
), returned AS (
  SELECT sku_id, sum(units)::int AS units FROM released GROUP BY sku_id HAVING sum(units) > 0
)
UPDATE skus SET stock = stock + returned.units FROM returned WHERE skus.id = returned.sku_id`

	// A reservation that was made while the clock was far ahead counts as expired.
	selectExpired = `SELECT tenant_id::text, order_id::text FROM reservations
WHERE state = 'RESERVED'
  AND (expires_at <= clock_timestamp() OR expires_at > clock_timestamp() + $2::interval + interval '1 hour')
ORDER BY expires_at, order_id LIMIT $1`
)

// Reserve takes a unit, or returns the reservation that the key still holds for an order about to commit.
func (s *Store) Reserve(ctx context.Context, a Attempt, ttl time.Duration) (*catalogv1.ReserveResponse, error) {
	held := &catalogv1.ReserveResponse{}
	err := s.pool.QueryRow(ctx, reserveUnit, a.Key, a.OrderID, a.TenantID, a.CampaignID, a.ProductID, a.VariationsKey, ttl).
		Scan(&held.OrderId, postgres.ScanTime(&held.ExpiresAt))
	if postgres.State(err) == stateNoSuchSKU {
		return nil, s.notOffered(ctx, a)
	}
	if err != nil {
		return nil, reserveError(err)
	}
	return held, nil
}

// notOffered is the error of an attempt for a SKU that the campaign does not offer. The whole gift may have left the campaign after
// the order was checked.
func (s *Store) notOffered(ctx context.Context, a Attempt) error {
	var offers bool
	if err := s.pool.QueryRow(ctx, offersGift, a.TenantID, a.CampaignID, a.ProductID).Scan(&offers); err != nil {
		return fmt.Errorf("read offering: %w", err)
	}
	if !offers {
		return rules.NotInCampaign()
	}
	return problem.New(problem.InvalidVariations, "The campaign does not offer the gift in these variations.")
}

func reserveError(err error) error {
	switch postgres.State(err) {
	case stateOutOfStock:
		return rules.OutOfStock()
	case stateOtherSKU:
		// The first request with the key was for another SKU and may still commit. It keeps its unit, which
		// is not used for this SKU.
		p := problem.New(problem.IdempotencyInProgress, "An earlier request with this key is still running; try again.")
		p.RetryAfter = 2 * time.Second
		return p
	case stateOtherKey:
		return problem.Invalid(problem.Violation{
			Field: "orderId", Code: problem.FieldInvalid, Message: "is the order of another reservation",
		})
	}
	return fmt.Errorf("reserve: %w", err)
}

// ConfirmAndRelease changes the reservations of orders in one transaction and one round trip.
func (s *Store) ConfirmAndRelease(ctx context.Context, confirmed, released []string) error {
	all := make([]string, 0, len(confirmed)+len(released))
	all = append(append(all, confirmed...), released...)
	return postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(lockReservations, all)
		b.Queue(lockReturnedSKUs, notNil(released))
		b.Queue(confirmReservations, notNil(confirmed))
		b.Queue(releaseReservations, notNil(released))
	})
}

// ExpiredReservations lists the reservations that were not confirmed or released in time, oldest first. ttl is that of Reserve.
func (s *Store) ExpiredReservations(ctx context.Context, limit int, ttl time.Duration) ([]*catalogv1.ExpiredReservation, error) {
	scan := func(row pgx.CollectableRow) (*catalogv1.ExpiredReservation, error) {
		r := &catalogv1.ExpiredReservation{}
		return r, row.Scan(&r.TenantId, &r.OrderId)
	}
	return postgres.Select(ctx, s.pool, "read expired reservations", scan, selectExpired, limit, ttl)
}

// Outstanding counts the units held for orders about to commit.
type Outstanding struct {
	// Units is at most MaxCounted.
	Units int64
	// Overdue is the time since the expiry of the oldest unit.
	Overdue time.Duration
}

// MaxCounted bounds the count of outstanding units.
const MaxCounted = 100_000

// The order is that of the index for expired reservations.
const selectOutstanding = `
SELECT count(*), greatest(interval '0', coalesce(clock_timestamp() - min(expires_at), interval '0'))
  FROM (SELECT expires_at FROM reservations WHERE state = 'RESERVED' ORDER BY expires_at, order_id LIMIT $1) held`

// Outstanding reads the units held now.
func (s *Store) Outstanding(ctx context.Context) (o Outstanding, err error) {
	if err := s.pool.QueryRow(ctx, selectOutstanding, MaxCounted).Scan(&o.Units, &o.Overdue); err != nil {
		return o, fmt.Errorf("count outstanding reservations: %w", err)
	}
	return o, nil
}

// Both read the primary key. There are few released reservations, because they are deleted after some weeks.
const (
	selectReservations = `SELECT tenant_id::text, order_id::text, state, reservation_key FROM reservations
WHERE order_id > $1 AND state <> 'RELEASED' ORDER BY order_id LIMIT $2`

	selectReservationsOf = `SELECT tenant_id::text, order_id::text, state, reservation_key FROM reservations
WHERE order_id = ANY($1::uuid[]) ORDER BY order_id`
)

// Reservations lists up to limit reservations that hold stock, by order id.
func (s *Store) Reservations(ctx context.Context, after string, limit int) ([]*catalogv1.Reservation, error) {
	return s.listReservations(ctx, selectReservations, after, limit)
}

// ReservationsOf lists the reservations of the orders, in every state.
func (s *Store) ReservationsOf(ctx context.Context, orderIDs []string) ([]*catalogv1.Reservation, error) {
	return s.listReservations(ctx, selectReservationsOf, orderIDs)
}

func (s *Store) listReservations(ctx context.Context, sql string, args ...any) ([]*catalogv1.Reservation, error) {
	return postgres.Select(ctx, s.pool, "list reservations", func(row pgx.CollectableRow) (*catalogv1.Reservation, error) {
		r := &catalogv1.Reservation{}
		return r, row.Scan(&r.TenantId, &r.OrderId, postgres.ScanEnum(&r.State), &r.ReservationKey)
	}, sql, args...)
}
