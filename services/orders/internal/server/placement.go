package server

import (
	"context"
	"sync"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// check completes a placement with values of the settings and the catalog. It reports all field errors together. Without any,
// it reports the first other error in the order of the specification's table.
func (s *Server) check(
	ctx context.Context, placement *rules.Placement, p caller.Principal, settings *tenantcache.Settings, errs *fields.Errors,
) (err error) {
	req := placement.Request
	checkItem := sync.OnceValues(func() (*catalogv1.CheckItemResponse, error) { return s.checkItem(ctx, p, req) })
	if mayNotCustomize(req, errs) {
		_, err := checkItem()
		if p, ok := problem.As(err); ok && p.Code == problem.InvalidRequest {
			errs.AddAll(p.Violations)
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	if err := checkBrand(p, settings, req); err != nil {
		return err
	}
	placement.BrandID = req.GetBrandId()
	if !rules.IsCustom(req.GetItems()[0]) {
		if placement.Gift, err = checkItem(); err != nil {
			return err
		}
		if req.CampaignId != nil {
			placement.BrandID = placement.Gift.GetCampaignBrandId()
		}
	}
	placement.ApprovalRequired = settings.GetTenant().GetApprovalRequired()
	placement.Answers, err = rules.MatchCustomFields(settings.GetTenant().GetCustomFields(), req.GetCustomFields())
	if err != nil {
		return err
	}
	placement.ManagerID, err = rules.FindManager(settings.GetTeam(), req.GetManagerEmail())
	return err
}

// mayNotCustomize reports whether the catalog must be asked before field errors are reported, because only it knows whether the
// gift can be customized.
func mayNotCustomize(req *ordersv1.PlaceOrderRequest, errs *fields.Errors) bool {
	items := req.GetItems()
	return req.GetCustomization() != nil && len(items) == 1 && !rules.IsCustom(items[0]) && !errs.Has("items[0].productId")
}

func checkBrand(p caller.Principal, settings *tenantcache.Settings, req *ordersv1.PlaceOrderRequest) error {
	switch {
	case req.BrandId == nil && req.CampaignId == nil:
		return problem.New(problem.BrandRequired, "An order without campaignId needs a brandId.")
	case req.BrandId != nil && (!rules.HasBrand(settings.GetBrands(), req.GetBrandId()) || !p.Reaches(req.GetBrandId())):
		return problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
	}
	return nil
}

func (s *Server) checkItem(
	ctx context.Context, p caller.Principal, req *ordersv1.PlaceOrderRequest,
) (*catalogv1.CheckItemResponse, error) {
	item := req.GetItems()[0]
	return s.catalog.CheckItem(ctx, &catalogv1.CheckItemRequest{
		TenantId:      p.TenantID,
		CampaignId:    req.CampaignId,
		AllBrands:     p.AllBrands,
		BrandIds:      p.BrandIDs,
		BrandId:       req.BrandId,
		ProductId:     item.GetProductId(),
		Country:       req.GetRecipient().GetAddress().GetCountry(),
		Variations:    item.GetVariations(),
		Customization: req.GetCustomization() != nil,
	})
}

// reserve takes the unit of campaign stock that the order needs, and makes the order. The first
// attempt under the reservation key decides the order's id.
func (s *Server) reserve(ctx context.Context, placement rules.Placement, key []byte) (*rules.NewOrder, error) {
	if placement.Gift.GetStocked() {
		item := placement.Request.GetItems()[0]
		reserved, err := s.catalog.Reserve(ctx, &catalogv1.ReserveRequest{
			ReservationKey: key,
			OrderId:        placement.OrderID,
			TenantId:       placement.TenantID,
			CampaignId:     placement.Request.GetCampaignId(),
			ProductId:      item.GetProductId(),
			Variations:     item.GetVariations(),
		})
		if err != nil {
			return nil, err
		}
		placement.OrderID = reserved.GetOrderId()
	}
	return placement.NewOrder(s.now(), s.hours), nil
}
