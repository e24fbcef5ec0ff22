package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	maxTranslations = 100
	maxReferences   = 100
)

// ReadProduct validates a gift as far as it stands for itself; CheckReferences does the rest.
func ReadProduct(errs *fields.Errors, req *catalogv1.PutProductRequest) Product {
	p := Product{
		ID:                     RecordID(errs, "id", req.GetId()),
		State:                  ReadState(errs, req.GetState()),
		Text:                   Text{Name: req.GetName(), Description: req.GetDescription()},
		Translations:           ReadTranslations(errs, req.GetTranslations()),
		Variations:             readVariations(errs, req.GetVariations()),
		Categories:             req.GetCategories(),
		ImageFileIDs:           req.GetImageFileIds(),
		Countries:              ReadCountries(errs, "availableCountries", req.GetAvailableCountries()),
		Prices:                 ReadPrices(errs, req.GetPrices()),
		CustomizationAvailable: req.GetCustomizationAvailable(),
		GiftSet:                req.GetGiftSet(),
		ReadyToSend:            req.GetReadyToSend(),
	}
	errs.Required("name", req.GetName(), maxName)
	errs.MaxLen("description", req.GetDescription(), maxDescription)
	distinct(errs, "categories", req.GetCategories())
	distinct(errs, "imageFileIds", req.GetImageFileIds())
	return p
}

// ReadState demands a state.
func ReadState(errs *fields.Errors, s catalogv1.ProductState) State {
	switch s {
	case catalogv1.ProductState_PRODUCT_STATE_DRAFT:
		return Draft
	case catalogv1.ProductState_PRODUCT_STATE_PUBLISHED:
		return Published
	case catalogv1.ProductState_PRODUCT_STATE_ARCHIVED:
		return Archived
	case catalogv1.ProductState_PRODUCT_STATE_INTERNAL:
		return Internal
	case catalogv1.ProductState_PRODUCT_STATE_UNSPECIFIED:
		errs.Add("state", problem.FieldRequired, "is required")
	default:
		errs.Add("state", problem.FieldInvalid, "is not a known state")
	}
	return ""
}

// ReadTranslations validates translations and gives them by locale.
func ReadTranslations(errs *fields.Errors, list []*catalogv1.ProductTranslation) map[string]Text {
	const field = "translations"
	atMost(errs, field, len(list), maxTranslations)
	texts, locales := map[string]Text{}, once{}
	for i, t := range list {
		translationLocale(errs, at(field, i, "locale"), t.GetLocale())
		locales.check(errs, at(field, i, "locale"), t.GetLocale())
		errs.Required(at(field, i, "name"), t.GetName(), maxName)
		errs.MaxLen(at(field, i, "description"), t.GetDescription(), maxDescription)
		texts[t.GetLocale()] = Text{Name: t.GetName(), Description: t.GetDescription()}
	}
	return texts
}

// ReadPrices validates prices and gives them by region.
func ReadPrices(errs *fields.Errors, list []*catalogv1.RegionPrice) map[string]string {
	const field = "prices"
	atMost(errs, field, len(list), maxReferences)
	prices, regions := map[string]string{}, once{}
	for i, p := range list {
		code(errs, at(field, i, "region"), p.GetRegion(), regionCode)
		regions.check(errs, at(field, i, "region"), p.GetRegion())
		amount, ok := positive(p.GetAmountEur(), priceForm)
		if !ok {
			errs.Add(at(field, i, "amountEur"), problem.FieldInvalid, "must be a positive amount below 100000000 with at most two decimals")
			continue
		}
		prices[p.GetRegion()] = amount.StringFixed(moneyPlaces)
	}
	return prices
}

func distinct(errs *fields.Errors, field string, values []string) {
	atMost(errs, field, len(values), maxReferences)
	seen := once{}
	for i, v := range values {
		errs.Required(at(field, i, ""), v, 2*maxCode+2)
		seen.check(errs, at(field, i, ""), v)
	}
}

// Known are the records a gift may refer to.
type Known struct {
	Subcategories map[string]bool
	Images        map[string]bool
	// Regions by code; true: it has a country.
	Regions map[string]bool
}

// CheckReferences demands that everything the request refers to exists.
func (k Known) CheckReferences(errs *fields.Errors, req *catalogv1.PutProductRequest) {
	for i, c := range req.GetCategories() {
		if !k.Subcategories[c] {
			errs.Add(at("categories", i, ""), problem.FieldInvalid, "names no subcategory")
		}
	}
	for i, id := range req.GetImageFileIds() {
		if !k.Images[id] {
			errs.Add(at("imageFileIds", i, ""), problem.FieldInvalid, "names no image")
		}
	}
	k.CheckPrices(errs, req.GetPrices())
}

// CheckPrices demands that every region a price is for exists.
func (k Known) CheckPrices(errs *fields.Errors, prices []*catalogv1.RegionPrice) {
	for i, p := range prices {
		if _, ok := k.Regions[p.GetRegion()]; !ok {
			errs.Add(at("prices", i, "region"), problem.FieldInvalid, "names no region")
		}
	}
}
