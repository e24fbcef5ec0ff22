package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

type tenantSettings = tenantcache.Settings

// decidedItem is the order's item with what follows from it.
type decidedItem struct {
	record  *ordersv1.OrderItem
	budget  *rules.Budget
	brandID string
	stocked bool
}

// decideItem answers the field errors, with the last one only the catalog can tell, and then the
// first brand, campaign or gift fault in the order of the specification's table.
func (s *Server) decideItem(
	ctx context.Context, p caller.Principal, settings *tenantSettings, req *ordersv1.PlaceOrderRequest, errs *fields.Errors,
) (*decidedItem, error) {
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := checkBrand(p, settings, req); err != nil {
		return nil, err
	}
	input := req.GetItems()[0]
	if rules.IsCustom(input) {
		return customItem(req, input), nil
	}
	return s.catalogItem(ctx, p, req, input)
}

func checkBrand(p caller.Principal, settings *tenantSettings, req *ordersv1.PlaceOrderRequest) error {
	switch {
	case req.BrandId == nil && req.CampaignId == nil:
		return problem.New(problem.BrandRequired, "An order without campaignId needs a brandId.")
	case req.BrandId != nil && (!rules.HasBrand(settings.GetBrands(), req.GetBrandId()) || !p.Reaches(req.GetBrandId())):
		return problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
	}
	return nil
}

func customItem(req *ordersv1.PlaceOrderRequest, input *ordersv1.OrderItemInput) *decidedItem {
	amount, _ := rules.ParseBudget(input.GetBudget().GetAmount()) // Checked with the fields.
	return &decidedItem{
		record: &ordersv1.OrderItem{
			Kind:        ordersv1.ItemKind_ITEM_KIND_CUSTOM,
			ProductName: input.GetCustomProductName(),
		},
		budget:  &rules.Budget{Amount: amount, Currency: input.GetBudget().GetCurrency()},
		brandID: req.GetBrandId(),
	}
}

func (s *Server) catalogItem(
	ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest, input *ordersv1.OrderItemInput,
) (*decidedItem, error) {
	gift, err := s.Catalog.CheckItem(ctx, &catalogv1.CheckItemRequest{
		TenantId:      p.TenantID,
		CampaignId:    req.CampaignId,
		AllBrands:     p.AllBrands,
		BrandIds:      p.BrandIDs,
		BrandId:       req.BrandId,
		ProductId:     input.GetProductId(),
		Country:       req.GetRecipient().GetAddress().GetCountry(),
		Variations:    input.GetVariations(),
		Customization: req.GetCustomization() != nil,
	})
	if err != nil {
		return nil, err
	}
	brandID := req.GetBrandId()
	if req.CampaignId != nil {
		brandID = gift.GetCampaignBrandId()
	}
	return &decidedItem{
		record: &ordersv1.OrderItem{
			Kind:        ordersv1.ItemKind_ITEM_KIND_CATALOG,
			ProductId:   input.ProductId,
			ProductName: gift.GetProductName(),
			Variations:  input.GetVariations(),
		},
		brandID: brandID,
		stocked: gift.GetStocked(),
	}, nil
}

// reserve takes a unit of campaign stock and gives the id the order must have: that of the first
// attempt at this request.
func (s *Server) reserve(ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest, orderID string) (string, error) {
	key := []byte(orderID)
	if r, ok := idempotency.FromContext(ctx); ok {
		key = r.ReservationKey()
	}
	input := req.GetItems()[0]
	reserved, err := s.Catalog.Reserve(ctx, &catalogv1.ReserveRequest{
		ReservationKey: key,
		OrderId:        orderID,
		TenantId:       p.TenantID,
		CampaignId:     req.GetCampaignId(),
		ProductId:      input.GetProductId(),
		Variations:     input.GetVariations(),
	})
	if err != nil {
		return "", err
	}
	return reserved.GetOrderId(), nil
}
