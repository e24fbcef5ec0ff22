package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxCorrections bounds the retries of a correction when the order changes after stock was reserved and before it is locked.
const maxCorrections = 3

// errChangedMeanwhile means that stock was reserved for an older version of the order.
var errChangedMeanwhile = errors.New("the order changed meanwhile")

// CorrectStatus sets any status. An order that reopens first reserves its unit of stock under a new
// id, so that the stock is returned if the correction does not commit.
func (s *Server) CorrectStatus(ctx context.Context, req *ordersv1.CorrectStatusRequest) (*ordersv1.CorrectStatusResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckStatusCorrection(req.GetStatus(), req.GetReason(), errs)
	a, err := s.admit(ctx, ordersv1.Operation_OPERATION_CORRECT_STATUS, req, errs)
	if err != nil {
		return nil, err
	}
	order, err := s.correctStatus(ctx, a, req.GetStatus(), req.GetReason())
	return &ordersv1.CorrectStatusResponse{Order: order}, err
}

// correctStatus corrects the status of the order of an accepted operation.
func (s *Server) correctStatus(
	ctx context.Context, a rules.Audit, target ordersv1.OrderStatus, reason string,
) (order *ordersv1.Order, err error) {
	for range maxCorrections {
		order, err = s.tryCorrection(ctx, a, target, reason)
		if !errors.Is(err, errChangedMeanwhile) && !errors.Is(err, store.ErrOrderIDSpent) {
			return order, err
		}
	}
	return nil, problem.Unavailable()
}

// tryCorrection fails with errChangedMeanwhile if the order changes after it was read. An order that cannot get its unit of stock
// is refused by the transaction, so that the refusal is stored as the answer to the request.
func (s *Server) tryCorrection(
	ctx context.Context, a rules.Audit, target ordersv1.OrderStatus, reason string,
) (*ordersv1.Order, error) {
	before, err := s.Store.Get(ctx, a.TenantID, a.OrderID)
	if err != nil {
		return nil, notFound(err)
	}
	var hold string
	var refused error
	if rules.Reopens(before.GetStatus(), target) && before.CampaignId != nil {
		if hold, refused = s.reserveAgain(ctx, a.TenantID, before); !idempotency.Stored(refused) {
			return nil, refused
		}
	}
	order, err := s.changeAudited(ctx, a, func(current *rules.Current) (*rules.Change, error) {
		reopens := rules.Reopens(current.Record.GetStatus(), target)
		if current.Record.GetVersion() != before.GetVersion() && (reopens || hold != "" || refused != nil) {
			return nil, errChangedMeanwhile
		}
		if refused != nil {
			return nil, refused
		}
		return rules.CorrectOrderStatus(current, target, reason, hold, s.now())
	})
	if err != nil && hold != "" {
		s.Reservations.Abandon(ctx, store.Reserved{TenantID: a.TenantID, OrderID: hold})
	}
	return order, store.PlaceOrderError(err)
}

// reserveAgain takes a unit for an order that lost its own and returns the id of the hold. Attempts for the same version of the
// order share one unit.
func (s *Server) reserveAgain(ctx context.Context, tenantID string, order *ordersv1.Order) (string, error) {
	item := order.GetItems()[0]
	reserved, err := s.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
		ReservationKey: []byte("reopen/" + order.GetId() + "/" + strconv.FormatInt(order.GetVersion(), 10)),
		OrderId:        uuid.Must(uuid.NewV7()).String(),
		TenantId:       tenantID,
		CampaignId:     order.GetCampaignId(),
		ProductId:      item.GetProductId(),
		Variations:     item.GetVariations(),
	})
	if problem.Is(err, problem.InvalidVariations) || problem.Is(err, problem.ProductNotInCampaign) {
		return "", problem.New(problem.OutOfStock, "The campaign does not offer this gift any more.")
	}
	return reserved.GetOrderId(), err
}
