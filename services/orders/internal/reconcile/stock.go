package reconcile

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	reserved  = catalogv1.ReservationState_RESERVATION_STATE_RESERVED
	confirmed = catalogv1.ReservationState_RESERVATION_STATE_CONFIRMED

	outcomePlaced    = "PLACED"
	outcomeReleasing = "RELEASING"
)

// compareStock compares the units that orders hold with the reservations of catalog.
func (r *run) compareStock(ctx context.Context) error {
	holds := &stream[store.HoldOutcome]{
		pace: r.pace, limit: pageSize, read: func(ctx context.Context, after store.HoldOutcome) ([]store.HoldOutcome, error) {
			return r.Store.PlacedHolds(ctx, cmp.Or(after.HoldID, uuid.Nil.String()), pageSize)
		},
	}
	held := &stream[*catalogv1.Reservation]{
		pace: r.pace, limit: pageSize, read: func(ctx context.Context, after *catalogv1.Reservation) ([]*catalogv1.Reservation, error) {
			req := &catalogv1.ListReservationsRequest{Limit: pageSize}
			if after != nil {
				req.AfterOrderId = &after.OrderId
			}
			resp, err := r.Catalog.ListReservations(ctx, req)
			return resp.GetReservations(), err
		},
	}
	suspects := &batch[string]{limit: checkSize, check: r.checkStock}
	err := merge(ctx, holds, held, compareHold, func(a *store.HoldOutcome, b **catalogv1.Reservation) error {
		switch {
		case b == nil:
			return suspects.add(ctx, a.HoldID)
		case a == nil && (*b).GetState() == confirmed:
			return suspects.add(ctx, (*b).GetOrderId())
		}
		return nil
	})
	r.report.Compared.Holds, r.report.Compared.Reservations = holds.count, held.count
	if err != nil {
		return err
	}
	return suspects.flush(ctx)
}

func compareHold(a store.HoldOutcome, b *catalogv1.Reservation) int {
	return cmp.Compare(a.HoldID, b.GetOrderId())
}

// checkStock reads possible differences again. An outcome never becomes PLACED again, and the last report to catalog comes
// before the outcome RELEASED. So if the outcome is the same before and after the read of catalog, it was the same during it.
func (r *run) checkStock(ctx context.Context, ids []string) error {
	before, err := r.outcomes(ctx, ids)
	if err != nil {
		return err
	}
	resp, err := r.Catalog.ListReservations(ctx, &catalogv1.ListReservationsRequest{OrderIds: ids})
	if err != nil {
		return err
	}
	reservations := map[string]*catalogv1.Reservation{}
	for _, reservation := range resp.GetReservations() {
		reservations[reservation.GetOrderId()] = reservation
	}
	after, err := r.outcomes(ctx, ids)
	if err != nil {
		return err
	}
	var lost []string
	for _, id := range ids {
		outcome, state := after[id], reservations[id].GetState()
		switch {
		case before[id] != outcome || state == reserved || outcome == outcomeReleasing:
		case outcome == outcomePlaced && state != confirmed:
			lost = append(lost, id)
		case outcome != outcomePlaced && state == confirmed:
			r.add(ctx, Difference{Kind: StockHeld, HoldID: id, Detail: "outcome " + cmp.Or(outcome, "unknown")}, func() (string, error) {
				return "", r.Reservations.ReportOutcome(ctx, store.Reserved{TenantID: reservations[id].GetTenantId(), OrderID: id})
			})
		}
	}
	return r.reportLost(ctx, lost, reservations)
}

func (r *run) outcomes(ctx context.Context, ids []string) (map[string]string, error) {
	holds, err := r.Store.HoldOutcomes(ctx, ids)
	outcomes := map[string]string{}
	for _, hold := range holds {
		outcomes[hold.HoldID] = hold.Outcome
	}
	return outcomes, err
}

// reportLost reports orders without a unit.
func (r *run) reportLost(ctx context.Context, ids []string, reservations map[string]*catalogv1.Reservation) error {
	if len(ids) == 0 {
		return nil
	}
	orders, err := r.Store.OrdersOfHolds(ctx, ids)
	if err != nil {
		return err
	}
	for _, order := range orders {
		key := reservations[order.HoldID].GetReservationKey()
		if key == nil {
			key = []byte("reconcile/" + order.HoldID)
		}
		d := Difference{Kind: StockNotHeld, TenantID: order.TenantID, OrderID: order.OrderID, HoldID: order.HoldID}
		r.add(ctx, d, func() (string, error) { return r.holdAgain(ctx, order, key) })
	}
	return nil
}

// holdAgain reserves a unit under the id of the lost one, and then lets the outcome decide: if the order was cancelled meanwhile,
// the unit is returned. After a crash in between the reservation expires, and the same decision follows.
func (r *run) holdAgain(ctx context.Context, order store.HoldingOrder, key []byte) (left string, err error) {
	got, err := r.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
		ReservationKey: key, OrderId: order.HoldID, TenantId: order.TenantID, CampaignId: order.CampaignID, ProductId: order.ProductID,
		Variations: order.Variations,
	})
	switch {
	case problem.Is(err, problem.OutOfStock):
		return "out of stock: restock the campaign or cancel the order", nil
	case problem.Is(err, problem.InvalidVariations), problem.Is(err, problem.ProductNotInCampaign):
		return "the campaign does not offer the gift any more", nil
	case err != nil:
		return "", err
	case got.GetOrderId() != order.HoldID:
		return outdated, nil
	}
	return "", r.Reservations.ReportOutcome(ctx, store.Reserved{TenantID: order.TenantID, OrderID: order.HoldID})
}
