package server

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceClaimedOrder places the order of a claim once under the id the claim chose.
func (c *Claims) PlaceClaimedOrder(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	errs := &fields.Errors{}
	req.OrderId, req.TenantId = errs.UUID("orderId", req.GetOrderId()), errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, abandoned, err := c.Orders.Store.FindClaim(ctx, req.GetTenantId(), req.GetOrderId())
	if err != nil {
		return nil, err
	}
	if found != nil || abandoned {
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, nil
	}
	order, err := c.newClaimedOrder(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.commitClaimedOrder(ctx, order)
}

func checkClaim(req *ordersv1.PlaceClaimedOrderRequest) error {
	errs := &fields.Errors{}
	req.PersonalLinkId = errs.UUID("personalLinkId", req.GetPersonalLinkId())
	req.BrandId = errs.UUID("brandId", req.GetBrandId())
	req.ProductId = errs.UUID("productId", req.GetProductId())
	if req.CampaignId != nil {
		*req.CampaignId = errs.UUID("campaignId", req.GetCampaignId())
	}
	if req.ManagerId != nil {
		*req.ManagerId = errs.UUID("managerId", req.GetManagerId())
	}
	rules.CheckRecipient(req.GetRecipient(), errs)
	return errs.Err()
}

// newClaimedOrder checks the claim against the catalog and takes its unit of stock.
func (c *Claims) newClaimedOrder(ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest) (*rules.NewOrder, error) {
	if err := checkClaim(req); err != nil {
		return nil, err
	}
	gift, err := c.Orders.Catalog.CheckItem(ctx, &catalogv1.CheckItemRequest{
		TenantId:   req.GetTenantId(),
		CampaignId: req.CampaignId,
		AllBrands:  true,
		ProductId:  req.GetProductId(),
		Country:    req.GetRecipient().GetAddress().GetCountry(),
		Variations: req.GetVariations(),
	})
	if err != nil {
		return nil, err
	}
	if gift.GetStocked() {
		if err := c.reserve(ctx, req); err != nil {
			return nil, err
		}
	}
	now := c.Orders.now()
	return &rules.NewOrder{
		Record: &ordersv1.Order{
			Id:                  req.GetOrderId(),
			ExternalRecipientId: req.ExternalRecipientId,
			Source:              ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK,
			BrandId:             req.GetBrandId(),
			CampaignId:          req.CampaignId,
			Selection:           selection(req),
			PersonalLinkId:      &req.PersonalLinkId,
			// The link was approved: its order is not approved once more.
			Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING,
			Items: []*ordersv1.OrderItem{{
				Kind:        ordersv1.ItemKind_ITEM_KIND_CATALOG,
				ProductId:   &req.ProductId,
				ProductName: gift.GetProductName(),
				Variations:  req.GetVariations(),
			}},
			DeliveryCountry:            req.GetRecipient().GetAddress().GetCountry(),
			ReceivedOutsideActiveHours: !c.Orders.Hours.Open(now),
			CreatedAt:                  timestamppb.New(now),
			UpdatedAt:                  timestamppb.New(now),
		},
		TenantID:  req.GetTenantId(),
		Details:   rules.NewClaimedDetails(req),
		ManagerID: req.GetManagerId(),
		Reserved:  gift.GetStocked(),
		Claimed:   true,
	}, nil
}

func selection(req *ordersv1.PlaceClaimedOrderRequest) *ordersv1.OrderSelection {
	if req.CampaignId != nil {
		return nil
	}
	return ordersv1.OrderSelection_ORDER_SELECTION_CATALOG.Enum()
}

// reserve takes the unit under the order's own id: a repetition finds it again.
func (c *Claims) reserve(ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest) error {
	_, err := c.Orders.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
		ReservationKey: []byte("claim/" + req.GetOrderId()),
		OrderId:        req.GetOrderId(),
		TenantId:       req.GetTenantId(),
		CampaignId:     req.GetCampaignId(),
		ProductId:      req.GetProductId(),
		Variations:     req.GetVariations(),
	})
	return err
}

func (c *Claims) commitClaimedOrder(ctx context.Context, order *rules.NewOrder) (*ordersv1.PlaceClaimedOrderResponse, error) {
	for attempt := 1; ; attempt++ {
		order.Record.Reference = rules.NewReference()
		err := c.placeOnce(ctx, order)
		switch {
		case err == nil:
			return &ordersv1.PlaceClaimedOrderResponse{Order: order.Record}, nil
		case errors.Is(err, store.ErrReservationAbandoned):
			return c.decidedOtherwise(ctx, order)
		case !errors.Is(err, store.ErrReferenceTaken) || attempt == maxReferences:
			return nil, err
		}
	}
}

func (c *Claims) placeOnce(ctx context.Context, order *rules.NewOrder) error {
	event, err := placedEvent(order)
	if err != nil {
		return err
	}
	queue, err := c.Orders.Store.QueuePlaceOrder(ctx, order, event)
	if err != nil {
		return err
	}
	return store.PlaceOrderError(postgres.Pipeline(ctx, c.Orders.Store.Pool(), queue))
}

// decidedOtherwise answers the call that was first under the order's id: one that placed it, or one
// that abandoned it.
func (c *Claims) decidedOtherwise(ctx context.Context, order *rules.NewOrder) (*ordersv1.PlaceClaimedOrderResponse, error) {
	found, abandoned, err := c.Orders.Store.FindClaim(ctx, order.TenantID, order.Record.GetId())
	if err != nil {
		return nil, err
	}
	if abandoned {
		c.Orders.GiveUp(ctx, order.Record.GetId())
	}
	if found == nil && !abandoned {
		return nil, problem.Unavailable()
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: found}, nil
}
