// Package reservations settles the campaign stock that orders have taken, so that none is lost to
// a crash between the reservation in catalog and the order's commit here.
package reservations

import (
	"context"
	"errors"
	"log/slog"
	"time"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	batch          = 200
	giveUpDeadline = 2 * time.Second
	// keepOutcomes is far beyond any repetition of a request about an order that is over.
	keepOutcomes = 90 * 24 * time.Hour
	deleteEvery  = time.Hour
)

// Recovery looks at reservations past their expiry: those whose order exists are confirmed, the
// others are given up for good and their stock returned. It also returns the stock of cancelled
// orders.
type Recovery struct {
	Store    *store.Store
	Catalog  catalogv1.OrderingServiceClient
	Interval time.Duration
	Log      *slog.Logger
}

// Run settles at every interval until ctx ends. A fault is logged and met again at the next one.
func (r *Recovery) Run(ctx context.Context) error {
	tick, sweep := time.NewTicker(r.Interval), time.NewTicker(deleteEvery)
	defer tick.Stop()
	defer sweep.Stop()
	r.note(ctx, "settle reservations", r.Settle(ctx))
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			r.note(ctx, "settle reservations", r.Settle(ctx))
		case <-sweep.C:
			r.note(ctx, "delete outcomes", r.deleteOver(ctx))
		}
	}
}

// Settle tells catalog what is due. One kind of work that fails does not keep the other from it.
func (r *Recovery) Settle(ctx context.Context) error {
	return errors.Join(r.releaseCancelled(ctx), r.settleExpired(ctx))
}

func (r *Recovery) note(ctx context.Context, work string, err error) {
	if err != nil && ctx.Err() == nil {
		r.Log.WarnContext(ctx, work, "error", err)
	}
}

func (r *Recovery) deleteOver(ctx context.Context) error {
	for {
		if n, err := r.Store.DeleteOutcomes(ctx, keepOutcomes, batch); err != nil || n < batch {
			return err
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
