// Package reservations reconciles stock reservations in catalog with the orders, so that a crash between the reservation and
// the order's commit loses no unit.
package reservations

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	batch       = 200
	callTimeout = 2 * time.Second
	// keepOutcomes is far longer than a request for an order may be repeated.
	keepOutcomes = 90 * 24 * time.Hour
)

// Deps are what a reconciler works with.
type Deps struct {
	Store   *store.Store
	Catalog catalogv1.OrderingServiceClient
	Log     *slog.Logger
}

// Reconciler confirms reservations whose order exists, abandons the others permanently, and returns the stock of cancelled
// orders.
type Reconciler struct{ deps Deps }

// New makes a reconciler.
func New(deps Deps) *Reconciler { return &Reconciler{deps: deps} }

// Reconcile reports all due outcomes to catalog. If one kind of work fails, the other still runs.
func (r *Reconciler) Reconcile(ctx context.Context) error {
	return errors.Join(
		daemon.InBatches(ctx, batch, r.releaseCancelled),
		daemon.InBatches(ctx, batch, r.reportExpired),
	)
}

// DeleteOutcomes deletes outcomes older than keepOutcomes plus lag, the lag of the retention clock.
func (r *Reconciler) DeleteOutcomes(ctx context.Context, lag time.Duration) error {
	return daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
		return r.deps.Store.DeleteOutcomes(ctx, keepOutcomes+lag, limit)
	})
}

// Abandon returns the stock of an order that will not be placed. If it fails, Reconcile does it later.
func (r *Reconciler) Abandon(ctx context.Context, order store.Reserved) {
	r.tryNow(ctx, order.OrderID, func(ctx context.Context) error { return r.ReportOutcome(ctx, order) })
}

// ReportOutcome reports the outcome of one order to catalog now. An order that does not exist is abandoned permanently.
func (r *Reconciler) ReportOutcome(ctx context.Context, order store.Reserved) error {
	return r.reportOutcomes(ctx, []store.Reserved{order})
}

// Release returns the unit of an order whose cancellation has committed, by the id of its hold. If it fails, Reconcile does it
// later.
func (r *Reconciler) Release(ctx context.Context, hold string) {
	r.tryNow(ctx, hold, func(ctx context.Context) error { return r.release(ctx, []string{hold}) })
}

// tryNow runs work for one hold within the current call, even if the caller cancels it. A failure is only logged, because Reconcile
// repeats the work.
func (r *Reconciler) tryNow(ctx context.Context, id string, work func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if err := work(ctx); err != nil {
		r.deps.Log.WarnContext(ctx, "stock is returned later", "hold", id, "error", err)
	}
}

func (r *Reconciler) reportExpired(ctx context.Context, limit int) (int, error) {
	req := &catalogv1.ListExpiredReservationsRequest{Limit: int32(limit)} //nolint:gosec // A small constant.
	expired, err := r.deps.Catalog.ListExpiredReservations(ctx, req)
	if err != nil || len(expired.GetReservations()) == 0 {
		return 0, err
	}
	var orders []store.Reserved
	for _, reservation := range expired.GetReservations() {
		orders = append(orders, store.Reserved{TenantID: reservation.GetTenantId(), OrderID: reservation.GetOrderId()})
	}
	return len(orders), r.reportOutcomes(ctx, orders)
}

// reportOutcomes commits the outcome first and then reports it to catalog. The report may be repeated.
func (r *Reconciler) reportOutcomes(ctx context.Context, orders []store.Reserved) error {
	placed, abandoned, err := r.deps.Store.Abandon(ctx, orders)
	if err != nil {
		return err
	}
	_, err = r.deps.Catalog.SettleReservations(ctx, &catalogv1.SettleReservationsRequest{
		ConfirmedOrderIds: placed, ReleasedOrderIds: abandoned,
	})
	return err
}

// releaseCancelled reports the holds of cancelled orders. After a crash they are reported again, but catalog returns the unit
// of a hold only once.
func (r *Reconciler) releaseCancelled(ctx context.Context, limit int) (int, error) {
	holds, err := r.deps.Store.Releasing(ctx, limit)
	if err != nil || len(holds) == 0 {
		return 0, err
	}
	return len(holds), r.release(ctx, holds)
}

func (r *Reconciler) release(ctx context.Context, holds []string) error {
	// To catalog, the id of a hold is the id of an order.
	if _, err := r.deps.Catalog.SettleReservations(ctx, &catalogv1.SettleReservationsRequest{ReleasedOrderIds: holds}); err != nil {
		return err
	}
	return r.deps.Store.MarkReleased(ctx, holds)
}
