package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/daemon"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// closeStale closes the orders that nobody has worked on for too long. An order that cannot be closed does not block the others.
func (r *Retention) closeStale(ctx context.Context, lag time.Duration) error {
	return daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
		stale, err := r.orders.StaleOrders(ctx, r.cfg.Open+lag, limit)
		if err != nil {
			return 0, err
		}
		var failed []error
		for _, order := range stale {
			if err := r.closeOne(ctx, order, r.cfg.Open+lag); err != nil {
				failed = append(failed, fmt.Errorf("close order %s: %w", order.ID, err))
			}
		}
		return len(stale), errors.Join(failed...)
	})
}

// closeOne closes an order unless somebody has worked on it since it was found. A message does not change the version, so messages
// are looked up too. The reconciler of package reservations returns the order's unit of stock.
func (r *Retention) closeOne(ctx context.Context, stale store.Stale, keep time.Duration) error {
	var posted bool
	audit := rules.Audit{
		TenantID: stale.TenantID, OrderID: stale.ID, Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM},
		Operation: ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA,
	}
	_, err := store.ChangeOrder(ctx, r.orders, store.Action[*ordersv1.Order]{
		TenantID: stale.TenantID, OrderID: stale.ID,
		ReadMore: func(b *pgx.Batch, tenantID, orderID string) {
			store.QueuePostedWithin(b, tenantID, orderID, keep, &posted)
		},
		Decide: func(current *rules.Current) (*rules.Change, error) {
			if current.Record.GetVersion() != stale.Version || current.DetailsErased || posted {
				return nil, nil //nolint:nilnil // No change and no error.
			}
			return rules.CloseStale(current, rules.Now(time.Now))
		},
		WriteMore: func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			store.QueueAudit(b, audit, before.Record, change.After(before))
		},
		Answer: func(record *ordersv1.Order) *ordersv1.Order { return record },
	})
	return err
}
