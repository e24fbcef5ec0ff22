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

// The reads of reconciling. Those of pages follow an index; those of ids are for a batch of possible differences.
const (
	selectHolds = `SELECT order_id::text, outcome FROM reservation_outcomes
WHERE order_id > $1 AND outcome = 'PLACED' ORDER BY order_id LIMIT $2`

	selectHoldsOf = `SELECT order_id::text, outcome FROM reservation_outcomes WHERE order_id = ANY($1::uuid[])`

	// Each part has its own index.
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

	selectChanged = `SELECT id::text, updated_at FROM orders
WHERE tenant_id = $1 AND updated_at >= $2 AND (updated_at, id) > ($2, $3) ORDER BY updated_at, id LIMIT $4`

	selectChangedOf = `SELECT id::text, updated_at FROM orders WHERE tenant_id = $1 AND id = ANY($2::uuid[])`

	// Messages of an order are in it too. They have other times.
	selectInOutbox = `SELECT o.subject_id::text, bool_and(o.confirmed_at IS NOT NULL) FROM outbox o
JOIN unnest($1::uuid[], $2::timestamptz[]) AS named (subject_id, occurred_at) USING (subject_id, occurred_at) GROUP BY o.subject_id`
)

// Hold is the id under which an order holds, held or would have held a unit of stock, with what became of it.
type Hold struct {
	ID      string
	Outcome string
}

// Holds lists up to limit units that orders hold, by their id.
func (s *Store) Holds(ctx context.Context, after string, limit int) ([]Hold, error) {
	return query(ctx, s, pgx.RowToStructByPos[Hold], selectHolds, after, limit)
}

// HoldsOf returns the holds with the ids, in no order.
func (s *Store) HoldsOf(ctx context.Context, ids []string) ([]Hold, error) {
	return query(ctx, s, pgx.RowToStructByPos[Hold], selectHoldsOf, ids)
}

// Held says which gift an order holds under an id.
type Held struct {
	HoldID, TenantID, OrderID, CampaignID, ProductID string
	Variations                                       map[string]string
}

// OrdersOfHolds returns what the orders hold under the ids, in no order.
func (s *Store) OrdersOfHolds(ctx context.Context, ids []string) ([]Held, error) {
	return query(ctx, s, pgx.RowToStructByPos[Held], selectOrdersOfHolds, ids)
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

// Changed is an order with the time of its last change.
type Changed struct {
	ID string
	At time.Time
}

// Changed lists up to limit of the tenant's orders by their last change, from after on. Orders that change meanwhile are listed
// again at their new place.
func (s *Store) Changed(ctx context.Context, tenantID string, after Changed, limit int) ([]Changed, error) {
	return query(ctx, s, pgx.RowToStructByPos[Changed], selectChanged, tenantID, after.At, after.ID, limit)
}

// ChangedOf returns the tenant's orders with the ids, in no order.
func (s *Store) ChangedOf(ctx context.Context, tenantID string, ids []string) ([]Changed, error) {
	return query(ctx, s, pgx.RowToStructByPos[Changed], selectChangedOf, tenantID, ids)
}

// InOutbox is an order whose event is in the outbox.
type InOutbox struct {
	ID string
	// Confirmed means that the readers had stored it.
	Confirmed bool
}

// InOutbox returns those of the orders whose event of that change is in the outbox.
func (s *Store) InOutbox(ctx context.Context, last []Changed) ([]InOutbox, error) {
	ids := postgres.UUIDColumn(last, func(c Changed) string { return c.ID })
	return query(ctx, s, pgx.RowToStructByPos[InOutbox], selectInOutbox, ids,
		postgres.Column(last, func(c Changed) time.Time { return c.At }))
}

func query[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return postgres.Select(ctx, s.pool, "reconcile", scan, sql, args...)
}

// ReportAgain records an order.status_changed with the current state of an order whose last event was lost. The order does not
// change. done is false if it is not as it was last, or the event of that change is in the outbox.
//
// previous is the status that was last reported, so that the event leads from there to the current one as the lost events would
// have. It is unspecified if nothing of the order was reported: then the event has the current status twice, as after a lost
// order.updated.
func (s *Store) ReportAgain(
	ctx context.Context, tenantID string, last Changed, previous ordersv1.OrderStatus,
) (done bool, err error) {
	var current *rules.Current
	var waiting []InOutbox
	err = postgres.ReadThenWrite(ctx, s.pool, func(b *pgx.Batch) {
		postgres.QueueSelectFirst(b, &current, s.scanCurrent, lockOrder, tenantID, last.ID)
		postgres.QueueSelect(b, &waiting, pgx.RowToStructByPos[InOutbox], selectInOutbox, []string{last.ID}, []time.Time{last.At})
	}, func() (func(b *pgx.Batch), error) {
		done = current != nil && len(waiting) == 0 && current.Record.GetUpdatedAt().AsTime().Equal(last.At)
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
