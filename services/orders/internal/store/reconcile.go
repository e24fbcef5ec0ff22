package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// The statements of package reconcile. Those with a LIMIT read a page in the order of an index. Those with ids read a batch of
// possible differences again.
const (
	selectPlacedHolds = `SELECT order_id::text, outcome FROM reservation_outcomes
WHERE order_id > $1 AND outcome = 'PLACED' ORDER BY order_id LIMIT $2`

	selectHoldOutcomes = `SELECT order_id::text, outcome FROM reservation_outcomes WHERE order_id = ANY($1::uuid[])`

	// Each part of the UNION uses its own index.
	selectOrdersOfHolds = `
SELECT h.order_id::text, o.tenant_id::text, o.id::text, coalesce(o.campaign_id::text, ''), coalesce(o.product_id::text, ''),
  o.variations
FROM reservation_outcomes h CROSS JOIN LATERAL (
  SELECT * FROM orders WHERE tenant_id = h.tenant_id AND id = h.order_id AND stock_hold_id IS NULL
  UNION ALL
  SELECT * FROM orders WHERE tenant_id = h.tenant_id AND stock_hold_id = h.order_id) o
WHERE h.order_id = ANY($1::uuid[])`

	linkOrderColumns = `SELECT o.tenant_id::text, o.personal_link_id::text, o.id::text, o.created_at FROM orders o `

	selectLinkOrders = linkOrderColumns + `
WHERE (o.tenant_id, o.personal_link_id) > ($1, $2) AND o.personal_link_id IS NOT NULL
ORDER BY o.tenant_id, o.personal_link_id LIMIT $3`

	selectLinkOrdersOf = linkOrderColumns + `
JOIN unnest($1::uuid[], $2::uuid[]) AS named (tenant_id, personal_link_id) USING (tenant_id, personal_link_id)`

	// One index lookup for each tenant.
	selectTenants = `WITH RECURSIVE t AS (
  (SELECT tenant_id FROM orders ORDER BY tenant_id LIMIT 1)
  UNION ALL
  SELECT (SELECT o.tenant_id FROM orders o WHERE o.tenant_id > t.tenant_id ORDER BY o.tenant_id LIMIT 1) FROM t
  WHERE t.tenant_id IS NOT NULL
) SELECT tenant_id::text FROM t WHERE tenant_id IS NOT NULL`

	selectChangedOrders = `SELECT id::text, updated_at FROM orders
WHERE tenant_id = $1 AND updated_at >= $2 AND (updated_at, id) > ($2, $3) ORDER BY updated_at, id LIMIT $4`

	selectChangedOrdersOf = `SELECT id::text, updated_at FROM orders WHERE tenant_id = $1 AND id = ANY($2::uuid[])`

	// The time leaves out the messages of an order, which are in the outbox too.
	selectEventsInOutbox = `SELECT o.subject_id::text, bool_and(o.confirmed_at IS NOT NULL) FROM outbox o
JOIN unnest($1::uuid[], $2::timestamptz[]) AS named (subject_id, occurred_at) USING (subject_id, occurred_at) GROUP BY o.subject_id`
)

// HoldOutcome is the outcome of a reservation. HoldID is the id that catalog knows the unit by: that of the order, or the
// stock_hold_id of an order that was reopened.
type HoldOutcome struct {
	HoldID  string
	Outcome string
}

// PlacedHolds lists up to limit outcomes of orders that hold a unit, by id.
func (s *Store) PlacedHolds(ctx context.Context, after string, limit int) ([]HoldOutcome, error) {
	return query(ctx, s, pgx.RowToStructByPos[HoldOutcome], selectPlacedHolds, after, limit)
}

// HoldOutcomes returns the outcomes with the ids, in no order.
func (s *Store) HoldOutcomes(ctx context.Context, ids []string) ([]HoldOutcome, error) {
	return query(ctx, s, pgx.RowToStructByPos[HoldOutcome], selectHoldOutcomes, ids)
}

// HoldingOrder is the order of a hold, with its gift.
type HoldingOrder struct {
	HoldID, TenantID, OrderID, CampaignID, ProductID string
	Variations                                       map[string]string
}

// OrdersOfHolds returns the orders of the holds with the ids, in no order.
func (s *Store) OrdersOfHolds(ctx context.Context, ids []string) ([]HoldingOrder, error) {
	return query(ctx, s, pgx.RowToStructByPos[HoldingOrder], selectOrdersOfHolds, ids)
}

// LinkOrder is the order of a personal link.
type LinkOrder struct {
	TenantID, LinkID, OrderID string
	PlacedAt                  time.Time
}

// LinkOrders lists up to limit orders of links, by tenant and link.
func (s *Store) LinkOrders(ctx context.Context, after LinkOrder, limit int) ([]LinkOrder, error) {
	return query(ctx, s, pgx.RowToStructByPos[LinkOrder], selectLinkOrders, after.TenantID, after.LinkID, limit)
}

// LinkOrdersOf returns the orders of links, in no order.
func (s *Store) LinkOrdersOf(ctx context.Context, links []LinkOrder) ([]LinkOrder, error) {
	var tenants, ids []string
	for _, l := range links {
		tenants, ids = append(tenants, l.TenantID), append(ids, l.LinkID)
	}
	return query(ctx, s, pgx.RowToStructByPos[LinkOrder], selectLinkOrdersOf, tenants, ids)
}

// Tenants lists the tenants that have orders, by id.
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	return query(ctx, s, pgx.RowTo[string], selectTenants)
}

// ChangedOrder is an order with the time of its last change.
type ChangedOrder struct {
	ID string
	At time.Time
}

// ChangedOrders lists up to limit of the tenant's orders by the time of their last change, beginning after the given one. An order
// that changes while they are listed appears again.
func (s *Store) ChangedOrders(ctx context.Context, tenantID string, after ChangedOrder, limit int) ([]ChangedOrder, error) {
	return query(ctx, s, pgx.RowToStructByPos[ChangedOrder], selectChangedOrders, tenantID, after.At, after.ID, limit)
}

// ChangedOrdersOf returns the tenant's orders with the ids, in no order.
func (s *Store) ChangedOrdersOf(ctx context.Context, tenantID string, ids []string) ([]ChangedOrder, error) {
	return query(ctx, s, pgx.RowToStructByPos[ChangedOrder], selectChangedOrdersOf, tenantID, ids)
}

// EventInOutbox is the event of an order's last change, which is in the outbox.
type EventInOutbox struct {
	OrderID string
	// Confirmed means that the readers of the topic have stored it.
	Confirmed bool
}

// EventsInOutbox returns the events of these changes that are in the outbox.
func (s *Store) EventsInOutbox(ctx context.Context, changes []ChangedOrder) ([]EventInOutbox, error) {
	ids := postgres.UUIDColumn(changes, func(c ChangedOrder) string { return c.ID })
	return query(ctx, s, pgx.RowToStructByPos[EventInOutbox], selectEventsInOutbox, ids,
		postgres.Column(changes, func(c ChangedOrder) time.Time { return c.At }))
}

func query[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return postgres.Select(ctx, s.pool, "reconcile", scan, sql, args...)
}

// ReportAgain records an order.status_changed with the current state of an order whose last event was lost. The order does not
// change. done is false if the order is missing or has changed since last, or if the event of that change is in the outbox.
//
// previous is the status in the order's newest event that was not lost. If there is none, it is unspecified, and the current status
// is also the previous one of the event.
func (s *Store) ReportAgain(
	ctx context.Context, tenantID string, last ChangedOrder, previous ordersv1.OrderStatus,
) (done bool, err error) {
	var current *rules.Current
	var inOutbox []EventInOutbox
	err = postgres.ReadThenWrite(ctx, s.pool, func(b *pgx.Batch) {
		postgres.QueueSelectFirst(b, &current, s.scanCurrent, lockOrder, tenantID, last.ID)
		postgres.QueueSelect(b, &inOutbox, pgx.RowToStructByPos[EventInOutbox], selectEventsInOutbox,
			[]string{last.ID}, []time.Time{last.At})
	}, func() (func(b *pgx.Batch), error) {
		done = current != nil && len(inOutbox) == 0 && current.Record.GetUpdatedAt().AsTime().Equal(last.At)
		if !done {
			return nil, nil
		}
		order := current.Record
		event, err := s.newEvent(tenantID, order, 0, rules.Event{
			Type: rules.EventStatusChanged, OccurredAt: last.At,
			Data: &ordersv1.OrderStatusChanged{Order: order, PreviousStatus: cmp.Or(previous, order.GetStatus())},
		})
		return func(b *pgx.Batch) { outbox.Append(ctx, b, event) }, err
	})
	if err != nil {
		return false, fmt.Errorf("report order again: %w", err)
	}
	return done, nil
}
