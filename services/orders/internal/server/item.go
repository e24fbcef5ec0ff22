package server

import (
	"context"
	"sync"

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
	ask := sync.OnceValues(func() (*catalogv1.CheckItemResponse, error) { return s.checkItem(ctx, p, req) })
	if asksCustomization(req, errs) {
		if fault, ok := problem.As(second(ask())); ok && fault.Code == problem.InvalidRequest {
			errs.AddAll(fault.Violations)
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := checkBrand(p, settings, req); err != nil {
		return nil, err
	}
	if rules.IsCustom(req.GetItems()[0]) {
		return customItem(req), nil
	}
	gift, err := ask()
	if err != nil {
		return nil, err
	}
	return giftItem(req, gift), nil
}

// asksCustomization says whether the catalog must be asked before the field errors are answered:
// only it knows whether the gift can be customized.
func asksCustomization(req *ordersv1.PlaceOrderRequest, errs *fields.Errors) bool {
	items := req.GetItems()
	return req.GetCustomization() != nil && len(items) == 1 && !rules.IsCustom(items[0]) && !errs.Has("items[0].productId")
}

func second(_ *catalogv1.CheckItemResponse, err error) error { return err }

func checkBrand(p caller.Principal, settings *tenantSettings, req *ordersv1.PlaceOrderRequest) error {
	switch {
	case req.BrandId == nil && req.CampaignId == nil:
		return problem.New(problem.BrandRequired, "An order without campaignId needs a brandId.")
	case req.BrandId != nil && (!rules.HasBrand(settings.GetBrands(), req.GetBrandId()) || !p.Reaches(req.GetBrandId())):
		return problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
	}
	return nil
}

func customItem(req *ordersv1.PlaceOrderRequest) *decidedItem {
	input := req.GetItems()[0]
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

func (s *Server) checkItem(
	ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest,
) (*catalogv1.CheckItemResponse, error) {
	input := req.GetItems()[0]
	return s.Catalog.CheckItem(ctx, &catalogv1.CheckItemRequest{
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
}

func giftItem(req *ordersv1.PlaceOrderRequest, gift *catalogv1.CheckItemResponse) *decidedItem {
	input := req.GetItems()[0]
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
	}
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
