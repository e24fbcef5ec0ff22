package server_test

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// directory answers with the settings of the bench's tenant: the tenants service is tested by itself.
type directory struct {
	tenantsv1.DirectoryServiceClient
	settings *tenantsv1.GetTenantSettingsResponse
}

func (d *directory) GetTenantSettings(
	context.Context, *tenantsv1.GetTenantSettingsRequest, ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	return d.settings, nil
}

// gifts answers for the catalog: one campaign, and the gifts that everybody may choose.
type gifts struct {
	catalogv1.SelectionsServiceClient
	campaignID, brandID string
	closed              bool
	gifts               []*catalogv1.SelectionGift
	fault               error
}

func (g *gifts) CheckSelection(
	_ context.Context, r *catalogv1.CheckSelectionRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckSelectionResponse, error) {
	if g.fault != nil {
		return nil, g.fault
	}
	if r.GetSelection().CampaignId == nil {
		for _, id := range r.GetSelection().GetProductIds() {
			if !slices.ContainsFunc(g.gifts, func(gift *catalogv1.SelectionGift) bool { return gift.GetProductId() == id }) {
				return nil, problem.New(problem.ProductNotFound, "no")
			}
		}
		return &catalogv1.CheckSelectionResponse{}, nil
	}
	if r.GetSelection().GetCampaignId() != g.campaignID || !r.GetAllBrands() && !slices.Contains(r.GetBrandIds(), g.brandID) {
		return nil, problem.New(problem.CampaignNotFound, "no")
	}
	return &catalogv1.CheckSelectionResponse{CampaignBrandId: g.brandID}, nil
}

func (g *gifts) ListSelectionGifts(
	_ context.Context, r *catalogv1.ListSelectionGiftsRequest, _ ...grpc.CallOption,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	resp := &catalogv1.ListSelectionGiftsResponse{Open: !g.closed}
	for _, gift := range g.gifts {
		if r.GetSelection().CampaignId != nil || slices.Contains(r.GetSelection().GetProductIds(), gift.GetProductId()) {
			resp.Gifts = append(resp.Gifts, gift)
		}
	}
	return resp, nil
}

// claimedOrders keeps what ClaimsService promises: one order per id, none after it was abandoned.
type claimedOrders struct {
	ordersv1.ClaimsServiceClient

	mu        sync.Mutex
	placed    map[string]*ordersv1.PlaceClaimedOrderRequest
	abandoned map[string]bool
	fault     error
	// during is called while an order is being placed.
	during func()
}

func newClaimedOrders() *claimedOrders {
	return &claimedOrders{placed: map[string]*ordersv1.PlaceClaimedOrderRequest{}, abandoned: map[string]bool{}}
}

func (o *claimedOrders) PlaceClaimedOrder(
	_ context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	if o.during != nil {
		o.during()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.abandoned[r.GetOrderId()]:
		return &ordersv1.PlaceClaimedOrderResponse{}, nil
	case o.fault != nil:
		return nil, o.fault
	}
	if _, again := o.placed[r.GetOrderId()]; !again {
		o.placed[r.GetOrderId()] = proto.CloneOf(r)
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: order(r.GetOrderId())}, nil
}

func (o *claimedOrders) AbandonClaimedOrder(
	_ context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.placed[r.GetOrderId()]; ok {
		return &ordersv1.AbandonClaimedOrderResponse{Order: order(r.GetOrderId())}, nil
	}
	o.abandoned[r.GetOrderId()] = true
	return &ordersv1.AbandonClaimedOrderResponse{}, nil
}

func order(id string) *ordersv1.Order {
	return &ordersv1.Order{Id: id, Reference: "G-" + id[len(id)-5:]}
}
