// Package rules holds the rules of the catalog as pure functions: which requests are valid, how readers see a gift, price
// estimates, and whether a gift may be ordered.
package rules

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// State of a gift.
type State string

// The states of a gift. Only PUBLISHED ones are listed.
const (
	Draft     State = "DRAFT"
	Published State = "PUBLISHED"
	Archived  State = "ARCHIVED"
	Internal  State = "INTERNAL"
)

// Text is the translated part of a gift. Readers of a translation with an empty description get the one in en-US.
type Text struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Variations are how the gift site shows dimensions and values. Only translations have them.
	Variations []VariationText `json:"variations,omitempty"`
}

// Product is a gift with all its fields.
type Product struct {
	ID           string
	State        State
	Text         Text
	Translations map[string]Text
	// Details by locale, also in en-US.
	Details    map[string]Details
	Variations []Variation
	// Categories and ImageFileIDs are in display order.
	Categories   []string
	ImageFileIDs []string
	// ImageVariations are the values that images show, by image and dimension.
	ImageVariations map[string]map[string]string
	// Countries the gift can be supplied to, in alphabetical order.
	Countries []string
	// Prices by region, in EUR with two decimals.
	Prices                 map[string]string
	CustomizationAvailable bool
	GiftSet                bool
	ReadyToSend            bool
}

// SameForReaders reports whether p and next look the same to readers of every country and locale.
// populated are the regions that have a country: prices of others are not visible.
func (p Product) SameForReaders(next Product, populated map[string]bool) bool {
	if p.State != Published && next.State != Published {
		return true // It is hidden or unlisted before and after; an unlisted entry shows only its id.
	}
	return reflect.DeepEqual(p.visible(populated), next.visible(populated))
}

// visible is the gift with only the fields that readers can see.
func (p Product) visible(populated map[string]bool) Product {
	listed := p.plain()
	listed.Details, listed.ImageVariations = nil, nil // Only the gift site shows them.
	listed.Translations, listed.Prices = map[string]Text{}, map[string]string{}
	maps.Copy(listed.Prices, p.Prices)
	maps.DeleteFunc(listed.Prices, func(region, _ string) bool { return !populated[region] })
	for locale, t := range p.Translations {
		if t.Description == "" {
			t.Description = p.Text.Description
		}
		if t.Name != p.Text.Name || t.Description != p.Text.Description {
			t.Variations = nil // Only the gift site shows them.
			listed.Translations[locale] = t
		}
	}
	return listed
}

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
		Details:                ReadDetails(req.GetTranslations(), errs),
		Variations:             readVariations(req.GetVariations(), errs),
		Categories:             req.GetCategories(),
		ImageFileIDs:           req.GetImageFileIds(),
		Countries:              ReadCountries("availableCountries", req.GetAvailableCountries(), errs),
		Prices:                 ReadPrices(req.GetPrices(), errs),
		CustomizationAvailable: req.GetCustomizationAvailable(),
		GiftSet:                req.GetGiftSet(),
		ReadyToSend:            req.GetReadyToSend(),
	}
	if d := readDetails("details", req.GetDetails(), errs); d != (Details{}) {
		p.Details[BaseLocale] = d
	}
	CheckTranslations(req.GetTranslations(), p.Variations, errs)
	p.ImageVariations = readImageVariations(req.GetImageVariations(), p, errs)
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
		checkCode(at(field, i, "region"), p.GetRegion(), regionCode, errs)
		regions.check(at(field, i, "region"), p.GetRegion(), errs)
		amount, ok := parsePositive(p.GetAmountEur(), priceForm)
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

// References are the records that a gift may refer to.
type References struct {
	Subcategories map[string]bool
	Images        map[string]bool
	// Regions by code; true means that the region has a country.
	Regions map[string]bool
}

// CheckReferences checks that all references of the request exist.
func (k References) CheckReferences(req *catalogv1.PutProductRequest) error {
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
func (k References) CheckPrices(prices []*catalogv1.RegionPrice) error {
	errs := &fields.Errors{}
	k.checkPrices(prices, errs)
	return errs.Err()
}

func (k References) checkPrices(prices []*catalogv1.RegionPrice, errs *fields.Errors) {
	for i, p := range prices {
		if _, ok := k.Regions[p.GetRegion()]; !ok {
			errs.Add(at("prices", i, "region"), problem.FieldInvalid, "names no region")
		}
	}
}

// MaxImport is how many gifts one call may have. It bounds how long other changes wait.
const MaxImport = 500

// CheckImport checks that the call has gifts and that each id appears once.
func CheckImport(products []*catalogv1.PutProductRequest, errs *fields.Errors) {
	const field = "products"
	if len(products) == 0 {
		errs.Add(field, problem.FieldRequired, "must have at least one entry")
	}
	atMost(field, len(products), MaxImport, errs)
	ids := once{}
	for i, p := range products {
		if id, ok := fields.ParseUUID(p.GetId()); ok {
			ids.check(fmt.Sprintf("%s[%d].id", field, i), id, errs)
		}
	}
}

// Same reports whether replacing p by next changes nothing.
func (p Product) Same(next Product) bool {
	return reflect.DeepEqual(p.plain(), next.plain())
}

// plain makes empty and missing lists and maps equal.
func (p Product) plain() Product {
	p.Categories = append([]string(nil), p.Categories...)
	p.ImageFileIDs = append([]string(nil), p.ImageFileIDs...)
	p.Countries = append([]string(nil), p.Countries...)
	p.Variations = append([]Variation(nil), p.Variations...)
	if len(p.Translations) == 0 {
		p.Translations = nil
	}
	if len(p.Details) == 0 {
		p.Details = nil
	}
	if len(p.ImageVariations) == 0 {
		p.ImageVariations = nil
	}
	if len(p.Prices) == 0 {
		p.Prices = nil
	}
	return p
}
