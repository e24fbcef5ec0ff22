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

// ReadProduct validates a gift without its references, which CheckReferences checks.
func ReadProduct(req *catalogv1.PutProductRequest, errs *fields.Errors) Product {
	p := Product{
		ID:                     RecordID("id", req.GetId(), errs),
		State:                  ReadState(req.GetState(), errs),
		Text:                   Text{Name: req.GetName(), Description: fields.UnlessBlank(req.GetDescription())},
		Translations:           ReadTranslations(req.GetTranslations(), errs),
		Variations:             readVariations(req.GetVariations(), errs),
		Categories:             req.GetCategories(),
		ImageFileIDs:           req.GetImageFileIds(),
		Countries:              ReadCountries("availableCountries", req.GetAvailableCountries(), errs),
		Prices:                 ReadPrices(req.GetPrices(), errs),
		CustomizationAvailable: req.GetCustomizationAvailable(),
		GiftSet:                req.GetGiftSet(),
		ReadyToSend:            req.GetReadyToSend(),
	}
	CheckTranslations(req.GetTranslations(), p.Variations, errs)
	errs.Required("name", req.GetName(), maxName)
	errs.Text("description", req.GetDescription(), maxDescription)
	distinct("categories", req.GetCategories(), errs)
	distinct("imageFileIds", req.GetImageFileIds(), errs)
	return p
}

// ReadState validates a state.
func ReadState(s catalogv1.ProductState, errs *fields.Errors) State {
	return State(enum("state", "state", s, errs))
}

// ReadTranslations validates translations and returns them by locale.
func ReadTranslations(list []*catalogv1.ProductTranslation, errs *fields.Errors) map[string]Text {
	const field = "translations"
	atMost(field, len(list), maxTranslations, errs)
	texts, locales := map[string]Text{}, once{}
	for i, t := range list {
		translationLocale(at(field, i, "locale"), t.GetLocale(), errs)
		locales.check(at(field, i, "locale"), t.GetLocale(), errs)
		errs.Required(at(field, i, "name"), t.GetName(), maxName)
		errs.Text(at(field, i, "description"), t.GetDescription(), maxDescription)
		texts[t.GetLocale()] = Text{
			Name: t.GetName(), Description: fields.UnlessBlank(t.GetDescription()),
			Variations: readVariationTexts(at(field, i, "variations"), t.GetVariations(), errs),
		}
	}
	return texts
}

// ReadPrices validates prices and returns them by region.
func ReadPrices(list []*catalogv1.RegionPrice, errs *fields.Errors) map[string]string {
	const field = "prices"
	atMost(field, len(list), maxReferences, errs)
	prices, regions := map[string]string{}, once{}
	for i, p := range list {
		code(at(field, i, "region"), p.GetRegion(), regionCode, errs)
		regions.check(at(field, i, "region"), p.GetRegion(), errs)
		amount, ok := positive(p.GetAmountEur(), priceForm)
		if !ok {
			errs.Add(at(field, i, "amountEur"), problem.FieldInvalid, "must be a positive amount below 100000000 with at most two decimals")
			continue
		}
		prices[p.GetRegion()] = amount.StringFixed(moneyPlaces)
	}
	return prices
}

func distinct(field string, values []string, errs *fields.Errors) {
	atMost(field, len(values), maxReferences, errs)
	seen := once{}
	for i, v := range values {
		errs.Required(at(field, i, ""), v, 2*maxCode+2)
		seen.check(at(field, i, ""), v, errs)
	}
}

// Known holds the records that a gift may refer to.
type Known struct {
	Subcategories map[string]bool
	Images        map[string]bool
	// Regions by code; true means that the region has a country.
	Regions map[string]bool
}

// CheckReferences checks that all references of the request exist.
func (k Known) CheckReferences(req *catalogv1.PutProductRequest) error {
	errs := &fields.Errors{}
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
	k.checkPrices(req.GetPrices(), errs)
	return errs.Err()
}

// CheckPrices checks that the region of every price exists.
func (k Known) CheckPrices(prices []*catalogv1.RegionPrice) error {
	errs := &fields.Errors{}
	k.checkPrices(prices, errs)
	return errs.Err()
}

func (k Known) checkPrices(prices []*catalogv1.RegionPrice, errs *fields.Errors) {
	for i, p := range prices {
		if _, ok := k.Regions[p.GetRegion()]; !ok {
			errs.Add(at("prices", i, "region"), problem.FieldInvalid, "names no region")
		}
	}
}
