// Package reservations settles the campaign stock that orders have taken, so that none is lost to
// a crash between the reservation in catalog and the order's commit here.
package reservations

import (
	"context"
	"log/slog"
	"time"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	batch          = 200
	giveUpDeadline = 2 * time.Second
)

// Recovery looks at reservations past their expiry: those whose order exists are confirmed, the
// others are given up for good and their stock returned.
type Recovery struct {
	Store    *store.Store
	Catalog  catalogv1.OrderingServiceClient
	Interval time.Duration
	Log      *slog.Logger
}

// Run settles at every interval until ctx ends. A fault is logged and met again at the next one.
func (r *Recovery) Run(ctx context.Context) error {
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	for {
		if err := r.settleExpired(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "settle reservations", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *Recovery) settleExpired(ctx context.Context) error {
	for {
		expired, err := r.Catalog.ListExpiredReservations(ctx, &catalogv1.ListExpiredReservationsRequest{Limit: batch})
		if err != nil || len(expired.GetOrderIds()) == 0 {
			return err
		}
		if err := r.settle(ctx, expired.GetOrderIds()); err != nil {
			return err
		}
		if len(expired.GetOrderIds()) < batch {
			return nil
		}
	}
}

// settle decides here first, then tells catalog: what is told may be told again.
func (r *Recovery) settle(ctx context.Context, orderIDs []string) error {
	placed, abandoned, err := r.Store.Abandon(ctx, orderIDs)
	if err != nil {
		return err
	}
	_, err = r.Catalog.SettleReservations(ctx, &catalogv1.SettleReservationsRequest{
		ConfirmedOrderIds: placed, ReleasedOrderIds: abandoned,
	})
	return err
}

// GiveUp returns the stock of an order that will not be placed, at once if it can; else Run does.
func (r *Recovery) GiveUp(ctx context.Context, orderID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpDeadline)
	defer cancel()
	if err := r.settle(ctx, []string{orderID}); err != nil {
		r.Log.WarnContext(ctx, "give up reservation", "order_id", orderID, "error", err)
	}
}
