package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxCorrections bounds how often a correction starts anew because the order changed between the
// look at it, which decides about stock, and its lock.
const maxCorrections = 3

// errOvertaken: the order is not any more what stock was reserved for.
var errOvertaken = errors.New("the order changed meanwhile")

// CorrectStatus sets any status. An order that reopens takes its unit of stock first, under an id of
// its own: recovery returns it if the correction does not commit.
func (o *Operations) CorrectStatus(ctx context.Context, req *ordersv1.CorrectStatusRequest) (*ordersv1.CorrectStatusResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckStatusCorrection(req.GetStatus(), req.GetReason(), errs)
	a, err := o.admit(ctx, ordersv1.Operation_OPERATION_CORRECT_STATUS, req, errs)
	if err != nil {
		return nil, err
	}
	for range maxCorrections {
		order, err := o.correctOnce(ctx, a, req)
		if err == nil {
			return &ordersv1.CorrectStatusResponse{Order: order}, nil
		}
		if !errors.Is(err, errOvertaken) && !errors.Is(err, store.ErrReservationAbandoned) {
			return nil, err
		}
	}
	return nil, problem.Unavailable()
}

func (o *Operations) correctOnce(ctx context.Context, a rules.Audit, req *ordersv1.CorrectStatusRequest) (*ordersv1.Order, error) {
	seen, err := o.Orders.Store.Get(ctx, a.TenantID, a.OrderID)
	if err != nil {
		return nil, orderFault(err)
	}
	var hold string
	if rules.Reopens(seen.GetStatus(), req.GetStatus()) && seen.CampaignId != nil {
		if hold, err = o.reserveAgain(ctx, a.TenantID, seen); err != nil {
			return nil, err
		}
	}
	order, err := o.change(ctx, a, func(current *rules.Current) (*rules.Change, error) {
		reopens := rules.Reopens(current.Record.GetStatus(), req.GetStatus())
		if current.Record.GetVersion() != seen.GetVersion() && (reopens || hold != "") {
			return nil, errOvertaken
		}
		return rules.CorrectOrderStatus(current, req.GetStatus(), req.GetReason(), hold, o.Orders.now())
	})
	if err != nil && hold != "" {
		o.Orders.GiveUp(ctx, hold)
	}
	return order, store.PlaceOrderError(err)
}

// reserveAgain takes a unit for an order that lost its own, and gives the id that holds it. Attempts
// at one version of the order share the unit.
func (o *Operations) reserveAgain(ctx context.Context, tenantID string, order *ordersv1.Order) (string, error) {
	item := order.GetItems()[0]
	reserved, err := o.Orders.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
		ReservationKey: []byte("reopen/" + order.GetId() + "/" + strconv.FormatInt(order.GetVersion(), 10)),
		OrderId:        uuid.Must(uuid.NewV7()).String(),
		TenantId:       tenantID,
		CampaignId:     order.GetCampaignId(),
		ProductId:      item.GetProductId(),
		Variations:     item.GetVariations(),
	})
	if problem.Is(err, problem.InvalidVariations) {
		return "", problem.New(problem.OutOfStock, "The campaign does not offer this gift any more.")
	}
	if err != nil {
		return "", err
	}
	return reserved.GetOrderId(), nil
}

func orderFault(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return problem.RecordNotFound()
	}
	return err
}
