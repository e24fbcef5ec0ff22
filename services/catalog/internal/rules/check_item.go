package rules

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/partnergifting/platform/pkg/problem"
)

// ItemFacts are the records of an item about to be ordered. Pointers are nil for records that do not exist.
type ItemFacts struct {
	// CampaignBrandID is nil for a campaign that does not exist or belongs to another tenant.
	CampaignBrandID *string
	// CampaignStatus is the current status, which may not be recorded yet.
	CampaignStatus *string
	OfferingStatus *string
	SupplyType     *string
	ProductState   *State
	ProductName    *string
	Customization  *bool
	Deliverable    *bool
	Variations     []Variation
	SKUOffered     bool
	// Offered are the variations in which the campaign offers the gift, if it does not offer those of the item.
	Offered []map[string]string
}

// Item is the requested item.
type Item struct {
	// InCampaign means that the order is from a campaign.
	InCampaign bool
	// Reaches reports whether the caller may see a brand.
	Reaches func(brandID string) bool
	// BrandID is the brand in the request; it may be empty.
	BrandID string
	// Customization means that the request has one.
	Customization bool
	Variations    map[string]string
}

// CheckItem refuses an item that may not be ordered, with the first error in the order of the API's table of codes.
func CheckItem(item Item, f ItemFacts) error {
	published := f.ProductState != nil && *f.ProductState == Published
	if item.Customization && published && !*f.Customization {
		return problem.Invalid(problem.Violation{
			Field: "customization", Code: problem.FieldInvalid, Message: "is not available for this gift",
		})
	}
	if item.InCampaign {
		if err := checkCampaign(item, f); err != nil {
			return err
		}
	}
	switch {
	case !published,
		item.InCampaign && *f.OfferingStatus != OfferingActive:
		return problem.New(problem.ProductNotAvailable, "The gift is not available.")
	case f.Deliverable == nil || !*f.Deliverable:
		return problem.New(problem.NotDeliverableToCountry, "The gift cannot be delivered to the recipient's country.")
	case !Chosen(f.Variations, item.Variations):
		return explainChoice(f.Variations, item.Variations)
	case item.InCampaign && !f.SKUOffered:
		return explainOffer(f.Offered)
	default:
		return nil
	}
}

func checkCampaign(item Item, f ItemFacts) error {
	switch {
	case f.CampaignBrandID == nil || !item.Reaches(*f.CampaignBrandID):
		return campaignNotFound()
	case item.BrandID != "" && item.BrandID != *f.CampaignBrandID:
		return brandMismatch()
	case *f.CampaignStatus != CampaignActive:
		return campaignNotActive()
	case f.OfferingStatus == nil:
		return problem.New(problem.ProductNotInCampaign, "The campaign does not offer the gift.")
	default:
		return nil
	}
}

func brandMismatch() error {
	e := problem.New(problem.BrandCampaignMismatch, "brandId is not the campaign's brand.")
	e.Violations = []problem.Violation{{Field: "brandId", Code: problem.FieldInvalid, Message: e.Detail}}
	return e
}

const moneyPlaces = 2

// Estimate converts an amount in EUR, rounded half-up to two decimals. rate is the units of the currency for one euro.
func Estimate(amountEUR, rate string) (string, error) {
	amount, err := decimal.NewFromString(amountEUR)
	if err != nil {
		return "", fmt.Errorf("amount: %w", err)
	}
	factor, err := decimal.NewFromString(rate)
	if err != nil {
		return "", fmt.Errorf("rate: %w", err)
	}
	return amount.Mul(factor).StringFixed(moneyPlaces), nil
}
