package rules

import (
	"fmt"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// maxProducts is how many gifts a page can have.
const maxProducts = 1000

// MaxRecipients of a batch.
const MaxRecipients = 1000

// Selection is the gifts that the links of a batch offer: those of a campaign, or some of the catalog.
type Selection struct {
	// CampaignID is nil if the links offer gifts of the catalog.
	CampaignID *string
	BrandID    string
	ProductIDs []string
}

// CheckSelection finds all field errors of the two kinds of selection, after those that the edge found. Blank ids count as missing.
// A member in which the edge found an error was sent.
func CheckSelection(req *linksv1.CreatePersonalLinksRequest, errs *fields.Errors) Selection {
	s := Selection{CampaignID: errs.OptionalUUID("campaignId", fields.Optional(req.CampaignId))}
	campaign := s.CampaignID != nil || errs.Touches("campaignId")
	brand := !fields.Blank(req.GetBrandId()) || errs.Touches("brandId")
	products := req.GetProductIds() != nil || errs.Touches("productIds")
	if brand {
		s.BrandID = errs.UUID("brandId", req.GetBrandId())
	}
	switch {
	case campaign && (brand || products):
		errs.Add("campaignId", problem.FieldNotAllowedWithCatalogSelection, "cannot be combined with brandId or productIds")
	case !campaign && !brand && !products:
		errs.Add("campaignId", problem.FieldRequired, "is required, or brandId with productIds")
	case !campaign && !brand:
		errs.Add("brandId", problem.FieldRequired, "is required with productIds")
	case brand && !products:
		errs.Add("productIds", problem.FieldRequired, "is required with brandId")
	}
	s.ProductIDs = checkProducts(req.GetProductIds().GetIds(), errs)
	return s
}

// checkProducts returns each id once, in the order in which the player sees the gifts.
func checkProducts(ids []string, errs *fields.Errors) []string {
	if len(ids) > maxProducts {
		errs.Add("productIds", problem.FieldInvalid, "must hold at most 1000 ids")
		return nil
	}
	seen := make(map[string]struct{}, len(ids))
	var kept []string
	for i, raw := range ids {
		id := errs.UUID(fmt.Sprintf("productIds[%d]", i), raw)
		if _, twice := seen[id]; !twice {
			seen[id] = struct{}{}
			kept = append(kept, id)
		}
	}
	return kept
}

// CheckNumber refuses a batch that has no gifts, no recipients or too many.
func (s Selection) CheckNumber(recipients int) error {
	switch {
	case s.CampaignID == nil && len(s.ProductIDs) == 0:
		return problem.New(problem.NoProducts, "productIds must name at least one gift.")
	case recipients == 0:
		return problem.New(problem.NoRecipients, "The batch has no recipients.")
	case recipients > MaxRecipients:
		return problem.New(problem.TooManyRecipients, "A batch has at most %d recipients.", MaxRecipients)
	}
	return nil
}

// HasBrand reports whether the tenant has the brand.
func HasBrand(brands []*tenantsv1.Brand, id string) bool {
	return slices.ContainsFunc(brands, func(b *tenantsv1.Brand) bool { return b.GetId() == id })
}
