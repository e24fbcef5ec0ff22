package server

import (
	"slices"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// examination finds the errors of an order that somebody wants to place. Placing returns the first one and the dry run all of
// them, so they agree. They differ only in stock and external id: placing takes both, the dry run only looks them up.
type examination struct {
	// placement is completed with values of the settings.
	placement *rules.Placement
	principal caller.Principal
	settings  *tenants.Settings
	// errs are the field errors.
	errs *fields.Errors
}

// asksCatalog reports whether there is something of the order about which the catalog can be asked.
func (e *examination) asksCatalog() bool {
	return e.item() != nil || e.placement.Request.CampaignId != nil && !e.errs.Touches(campaignPath)
}

// customizes reports whether the order customizes a gift of the catalog. Only the catalog knows whether that gift can be
// customized, and so whether all fields are valid.
func (e *examination) customizes() bool {
	return e.placement.Request.GetCustomization() != nil && e.item() != nil && !e.errs.Touches(productPath)
}

// problems returns the errors of an order, in the order of the specification's table, with those that the catalog has found of
// the item. All field errors together are one error. Errors that may only follow from field errors are left out.
func (e *examination) problems(ofItem []error) []error {
	if e.customizes() {
		for _, err := range ofItem {
			if p, ok := problem.As(err); ok && p.Code == problem.InvalidRequest {
				e.errs.AddAll(p.Violations)
			}
		}
	}
	var answersErr, managerErr error
	req := e.placement.Request
	e.placement.Answers, answersErr = rules.MatchCustomFields(e.settings.GetTenant().GetCustomFields(), req.GetCustomFields())
	e.placement.ManagerID, managerErr = rules.FindManager(e.settings.GetTeam(), req.GetManagerEmail())
	found := []error{e.errs.Err()}
	found = append(found, e.dropConsequences(slices.Concat([]error{e.checkBrand()}, ofItem, []error{answersErr, managerErr}))...)
	return slices.DeleteFunc(found, func(err error) bool { return err == nil })
}

func (e *examination) checkBrand() error {
	req := e.placement.Request
	e.placement.BrandID = req.GetBrandId()
	switch {
	case req.BrandId == nil && req.CampaignId == nil:
		return problem.New(problem.BrandRequired, "An order without campaignId needs a brandId.")
	case req.BrandId != nil && (!rules.HasBrand(e.settings.GetBrands(), req.GetBrandId()) || !e.principal.Reaches(req.GetBrandId())):
		return problem.New(problem.BrandNotFound, "brandId names no brand this key reaches.")
	}
	return nil
}

// item is the catalog gift of the order; nil for a custom request, and if there is not exactly one item.
func (e *examination) item() *ordersv1.OrderItemInput {
	items := e.placement.Request.GetItems()
	if len(items) != 1 || rules.IsCustom("items[0]", items[0], e.errs) {
		return nil
	}
	return items[0]
}

// itemRequest asks about what is valid of the item. An invalid part is left out, and dropConsequences then drops what follows
// from that.
func (e *examination) itemRequest() *catalogv1.CheckItemRequest {
	req, p := e.placement.Request, e.principal
	ask := &catalogv1.CheckItemRequest{
		TenantId: p.TenantID, AllBrands: p.AllBrands, BrandIds: p.BrandIDs, CampaignId: req.CampaignId, BrandId: req.BrandId,
		ProductId: e.item().GetProductId(), Country: req.GetRecipient().GetAddress().GetCountry(),
		Customization: req.GetCustomization() != nil,
	}
	if !e.errs.Touches(variationsPath) {
		ask.Variations = e.item().GetVariations()
	}
	return ask
}

// Paths of the fields on which checks depend.
const (
	brandPath        = "brandId"
	campaignPath     = "campaignId"
	productPath      = "items[0].productId"
	variationsPath   = "items[0].variations"
	countryPath      = "recipient.address.country"
	customFieldsPath = "customFields"
	managerPath      = "managerEmail"
	externalIDPath   = "externalOrderId"
)

// inputs are the fields without which an error cannot be known.
var inputs = map[problem.Code][]string{
	problem.BrandRequired:           {brandPath, campaignPath},
	problem.BrandNotFound:           {brandPath},
	problem.BrandCampaignMismatch:   {brandPath, campaignPath},
	problem.CampaignNotFound:        {campaignPath},
	problem.CampaignNotActive:       {campaignPath},
	problem.ProductNotInCampaign:    {campaignPath, productPath},
	problem.ProductNotAvailable:     {campaignPath, productPath},
	problem.NotDeliverableToCountry: {productPath, countryPath},
	problem.InvalidVariations:       {campaignPath, productPath, variationsPath},
	problem.OutOfStock:              {campaignPath, productPath, variationsPath},
	problem.InvalidCustomFields:     {customFieldsPath},
	problem.ManagerNotFound:         {managerPath},
}

// dropConsequences drops errors that may only follow from field errors. An invalid_request of the catalog is among the field errors
// already.
func (e *examination) dropConsequences(found []error) []error {
	return slices.DeleteFunc(found, func(err error) bool {
		p, ok := problem.As(err)
		return ok && slices.ContainsFunc(inputs[p.Code], e.errs.Touches) ||
			ok && p.Code == problem.InvalidRequest && len(e.errs.List()) > 0
	})
}
