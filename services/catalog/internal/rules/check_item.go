package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"golang.org/x/text/unicode/norm"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// ItemFacts are the records of an item about to be ordered. Pointers are nil for records that do not exist.
type ItemFacts struct {
	// CampaignBrandID is nil for a campaign that does not exist or belongs to another tenant.
	CampaignBrandID *string
	// CampaignStatus is COMPLETED from the expiry on, even if that is not recorded yet.
	CampaignStatus *string
	OfferingStatus *string
	SupplyType     *string
	ProductState   *State
	ProductName    *string
	Customization  *bool
	Deliverable    *bool
	Variations     []Variation
	SKUOffered     bool
	// Stock is nil for a SKU that is not offered.
	Stock *int32
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

// CheckItem returns every error of an item, in the order of the API's table of codes.
func CheckItem(item Item, f ItemFacts) (found []*problem.Error) {
	published := f.ProductState != nil && *f.ProductState == Published
	if item.Customization && published && !*f.Customization {
		found = append(found, problem.Invalid(problem.Violation{
			Field: "customization", Code: problem.FieldInvalid, Message: "is not available for this gift",
		}))
	}
	if item.InCampaign {
		found = append(found, checkCampaign(item, f)...)
	}
	offered := item.offered(f)
	if !published || offered && *f.OfferingStatus != OfferingActive {
		found = append(found, problem.New(problem.ProductNotAvailable, "The gift is not available."))
	}
	if !published {
		return found // Nobody learns more of a gift that is not published.
	}
	if f.Deliverable == nil || !*f.Deliverable {
		found = append(found, problem.New(problem.NotDeliverableToCountry, "The gift cannot be delivered to the recipient's country."))
	}
	if !IsExactChoice(f.Variations, item.Variations) {
		found = append(found, explainChoice(f.Variations, item.Variations))
	} else if offered && !f.SKUOffered {
		found = append(found, explainOffer(f.Offered))
	}
	return found
}

func checkCampaign(item Item, f ItemFacts) (found []*problem.Error) {
	if !item.seesCampaign(f) {
		return append(found, campaignNotFound())
	}
	if item.BrandID != "" && item.BrandID != *f.CampaignBrandID {
		found = append(found, brandMismatch())
	}
	if *f.CampaignStatus != CampaignActive {
		found = append(found, campaignNotActive())
	}
	if f.OfferingStatus == nil {
		found = append(found, NotInCampaign())
	}
	return found
}

// seesCampaign reports whether the caller may see the campaign of the order.
func (i Item) seesCampaign(f ItemFacts) bool {
	return i.InCampaign && f.CampaignBrandID != nil && i.Reaches(*f.CampaignBrandID)
}

// offered reports whether the campaign of the order offers the gift.
func (i Item) offered(f ItemFacts) bool { return i.seesCampaign(f) && f.OfferingStatus != nil }

// SoldOut reports whether an order of the item would find no stock.
func (i Item) SoldOut(f ItemFacts) bool {
	return i.offered(f) && f.SKUOffered && *f.SupplyType == Stocked && *f.Stock == 0
}

// OutOfStock is the error of an order that finds no stock.
func OutOfStock() *problem.Error {
	return problem.New(problem.OutOfStock, "The campaign has no stock left for these variations.")
}

// NotInCampaign is the error of an order whose campaign does not offer the gift.
func NotInCampaign() *problem.Error {
	return problem.New(problem.ProductNotInCampaign, "The campaign does not offer the gift.")
}

func brandMismatch() *problem.Error {
	e := problem.New(problem.BrandCampaignMismatch, "brandId is not the campaign's brand.")
	e.Violations = []problem.Violation{{Field: "brandId", Code: problem.FieldInvalid, Message: e.Detail}}
	return e
}

const moneyPlaces = 2

// Estimate converts an amount in EUR, rounded half-up to the decimals that the currency has, and writes it with two. rate is the
// units of the currency for one euro.
func Estimate(amountEUR, rate, code string) (string, error) {
	amount, err := decimal.NewFromString(amountEUR)
	if err != nil {
		return "", fmt.Errorf("amount: %w", err)
	}
	factor, err := decimal.NewFromString(rate)
	if err != nil {
		return "", fmt.Errorf("rate: %w", err)
	}
	amount = amount.Mul(factor)
	if !fields.HasMinorUnits(code) {
		amount = amount.Round(0)
	}
	return amount.StringFixed(moneyPlaces), nil
}

const (
	// maxNamed is how many values or combinations an explanation names. The catalog and the campaign have all of them.
	maxNamed = 20
	// maxExplanation is how many bytes an explanation may have, because it travels in the headers of a response.
	maxExplanation = 2000
)

// explainChoice lists the values of each dimension for which the choice has no valid value.
func explainChoice(variations []Variation, choice map[string]string) *problem.Error {
	chosen, known := fields.NFCVariations(choice), 0
	var parts []string
	for _, v := range variations {
		if _, named := chosen[norm.NFC.String(v.Dimension)]; named {
			known++
		}
		if _, ok := fields.OfferedVariation(v.Dimension, v.Values, chosen); !ok {
			values := make([]string, len(v.Values))
			for i, value := range v.Values {
				values[i] = fmt.Sprintf("%q", value)
			}
			parts = append(parts, fmt.Sprintf("Choose one value for %q: %s.", v.Dimension, joinFirst(values)))
		}
	}
	if len(choice) > known {
		parts = append(parts, "Leave out what is not a dimension of the gift.")
	}
	return invalidVariations(parts...)
}

// explainOffer says in which variations a campaign offers the gift.
func explainOffer(offered []map[string]string) *problem.Error {
	var combinations []string
	for _, choice := range offered {
		var values []string
		for _, dimension := range slices.Sorted(maps.Keys(choice)) {
			values = append(values, fmt.Sprintf("%q %q", dimension, choice[dimension]))
		}
		combinations = append(combinations, strings.Join(values, " with "))
	}
	slices.Sort(combinations)
	parts := []string{"The campaign does not offer the gift in these variations."}
	if len(combinations) > 0 {
		parts = append(parts, "It offers "+joinFirst(combinations)+".")
	}
	return invalidVariations(parts...)
}

func joinFirst(texts []string) string {
	list, number := texts[0], 1
	for number < min(len(texts), maxNamed) && len(list)+len(texts[number]) < maxExplanation/2 {
		list += ", " + texts[number]
		number++
	}
	if more := len(texts) - number; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// invalidVariations drops the parts that have no room.
func invalidVariations(parts ...string) *problem.Error {
	detail := parts[0]
	for _, part := range parts[1:] {
		if len(detail)+len(part) < maxExplanation {
			detail += " " + part
		}
	}
	return problem.New(problem.InvalidVariations, "%s", detail)
}
