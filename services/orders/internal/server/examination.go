package server

import (
	"iter"
	"slices"
	"sync"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// examination finds the errors of an order that somebody wants to place. Placing stops at the first one, and the dry run goes on to
// the last, so they agree. Only what both do with stock and external id differs: placing takes them, and the dry run looks.
type examination struct {
	// placement is completed with values of the settings and the catalog, if there are no errors.
	placement *rules.Placement
	principal caller.Principal
	settings  *tenants.Settings
	// errs are the field errors.
	errs *fields.Errors
	// ask asks the catalog about the item. Without errors it returns the gift; the dry run needs none.
	ask func() (gift *catalogv1.CheckItemResponse, found []error)
}

// errors returns the errors of an order, in the order of the specification's table. All field errors are one. Where a field error
// makes a later check impossible, that check finds nothing.
func (e *examination) errors() iter.Seq[error] {
	e.ask = sync.OnceValues(e.ask)
	return func(yield func(error) bool) {
		for _, check := range []func() []error{e.checkFields, e.checkBrand, e.checkItem, e.checkAnswers, e.checkManager} {
			for _, err := range check() {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// checkFields also asks the catalog if only it knows whether a field is valid: whether the gift can be customized.
func (e *examination) checkFields() []error {
	if e.placement.Request.GetCustomization() != nil && e.item() != nil && !e.errs.Touches(itemProduct) {
		_, found := e.ask()
		for _, err := range found {
			if p, ok := problem.As(err); ok && p.Code == problem.InvalidRequest {
				e.errs.AddAll(p.Violations)
			}
		}
	}
	return some(e.errs.Err())
}

func (e *examination) checkBrand() []error {
	req := e.placement.Request
	e.placement.BrandID = req.GetBrandId()
	switch {
	case e.errs.Touches(brand):
	case req.BrandId == nil && req.CampaignId == nil:
		return e.possible(problem.New(problem.BrandRequired, "An order without campaignId needs a brandId."))
	case req.BrandId != nil && (!rules.HasBrand(e.settings.GetBrands(), req.GetBrandId()) || !e.principal.Reaches(req.GetBrandId())):
		return some(problem.New(problem.BrandNotFound, "brandId names no brand this key reaches."))
	}
	return nil
}

func (e *examination) checkItem() []error {
	inCampaign := e.placement.Request.CampaignId != nil
	if e.item() == nil && (!inCampaign || e.errs.Touches(campaign)) {
		return nil
	}
	gift, found := e.ask()
	if len(found) > 0 {
		return e.possible(found...)
	}
	e.placement.Gift = gift
	if inCampaign {
		e.placement.BrandID = gift.GetCampaignBrandId()
	}
	return nil
}

func (e *examination) checkAnswers() []error {
	var err error
	e.placement.Answers, err = rules.MatchCustomFields(e.settings.GetTenant().GetCustomFields(), e.placement.Request.GetCustomFields())
	return e.possible(err)
}

func (e *examination) checkManager() []error {
	var err error
	e.placement.ManagerID, err = rules.FindManager(e.settings.GetTeam(), e.placement.Request.GetManagerEmail())
	return e.possible(err)
}

// item is the catalog gift of the order; nil for a custom request, and if there is not exactly one item.
func (e *examination) item() *ordersv1.OrderItemInput {
	items := e.placement.Request.GetItems()
	if len(items) != 1 || rules.IsCustom(items[0]) {
		return nil
	}
	return items[0]
}

// itemRequest asks about what is valid of the item. An invalid part is left out, and possible then drops what follows from that.
func (e *examination) itemRequest() *catalogv1.CheckItemRequest {
	req, p := e.placement.Request, e.principal
	ask := &catalogv1.CheckItemRequest{
		TenantId: p.TenantID, AllBrands: p.AllBrands, BrandIds: p.BrandIDs, CampaignId: req.CampaignId, BrandId: req.BrandId,
		ProductId: e.item().GetProductId(), Country: req.GetRecipient().GetAddress().GetCountry(), Customization: req.GetCustomization() != nil,
	}
	if !e.errs.Touches(itemVariations) {
		ask.Variations = e.item().GetVariations()
	}
	return ask
}

// Fields on which checks depend.
const (
	brand          = "brandId"
	campaign       = "campaignId"
	itemProduct    = "items[0].productId"
	itemVariations = "items[0].variations"
	country        = "recipient.address.country"
	answers        = "customFields"
	manager        = "managerEmail"
	externalID     = "externalOrderId"
)

// inputs are the fields without which an error cannot be known.
var inputs = map[problem.Code][]string{
	problem.BrandRequired:           {brand, campaign},
	problem.BrandCampaignMismatch:   {brand, campaign},
	problem.CampaignNotFound:        {campaign},
	problem.CampaignNotActive:       {campaign},
	problem.ProductNotInCampaign:    {campaign, itemProduct},
	problem.ProductNotAvailable:     {campaign, itemProduct},
	problem.NotDeliverableToCountry: {itemProduct, country},
	problem.InvalidVariations:       {campaign, itemProduct, itemVariations},
	problem.OutOfStock:              {campaign, itemProduct, itemVariations},
	problem.InvalidCustomFields:     {answers},
	problem.ManagerNotFound:         {manager},
}

// possible drops errors that may only follow from field errors. An invalid_request of the catalog is among the field errors already.
func (e *examination) possible(found ...error) []error {
	return slices.DeleteFunc(found, func(err error) bool {
		p, ok := problem.As(err)
		return err == nil || ok && slices.ContainsFunc(inputs[p.Code], e.errs.Touches) ||
			ok && p.Code == problem.InvalidRequest && len(e.errs.List()) > 0
	})
}

func some(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}
