package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// BaseLocale is the locale in which every text of the catalog exists.
const BaseLocale = "en-US"

// EUR is the catalog's currency of record.
const EUR = "EUR"

const (
	maxName        = 255
	maxDescription = 10_000
	maxCode        = 100
	// MaxLocale is the maximum length of a locale's tag.
	MaxLocale = 35
)

var (
	regionCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	// Only single underscores: two separate a category from its subcategory.
	categoryCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	fileID       = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// at is the path of an element of a list or, if field is not empty, of a field of it.
func at(list string, i int, field string) string {
	path := fmt.Sprintf("%s[%d]", list, i)
	if field != "" {
		path += "." + field
	}
	return path
}

// RecordID validates a UUID. It refuses the nil UUID, which lists use as the position before the first record.
func RecordID(field, value string, errs *fields.Errors) string {
	id := errs.RequiredUUID(field, value)
	if id == uuid.Nil.String() {
		errs.Add(field, problem.FieldInvalid, "must not be the nil UUID")
	}
	return id
}

func checkCode(field, value string, form *regexp.Regexp, errs *fields.Errors) {
	errs.Required(field, value, maxCode)
	if !form.MatchString(value) {
		errs.Add(field, problem.FieldInvalid, "must consist of upper-case letters, digits and single underscores")
	}
}

// enum validates a value of an enum and returns its name.
func enum[E enumname.Enum](field, kind string, value E, errs *fields.Errors) string {
	name, known := enumname.Of(value.Descriptor()).Name(value.Number())
	switch {
	case value == 0:
		errs.Add(field, problem.FieldRequired, "is required")
	case !known:
		errs.Add(field, problem.FieldInvalid, "is not a known "+kind)
	}
	return name
}

// translationLocale validates a canonical locale other than the base locale.
func translationLocale(field, value string, errs *fields.Errors) {
	canonicalLocale(field, value, errs)
	if value == BaseLocale {
		errs.Add(field, problem.FieldInvalid, "must not be "+BaseLocale+", the locale of the main text")
	}
}

// canonicalLocale validates a BCP 47 tag in its canonical form. The locales of tenants have it, so no reader finds a text of
// another one.
func canonicalLocale(field, value string, errs *fields.Errors) {
	errs.Required(field, value, MaxLocale)
	tag, err := language.Parse(value)
	switch {
	case err != nil:
		errs.Add(field, problem.FieldInvalid, "must be a BCP 47 tag such as sv-SE")
	case tag.String() != value:
		errs.Add(field, problem.FieldInvalid, "must be written as "+tag.String())
	}
}

// ReadCountries validates country codes and returns each once, in alphabetical order.
func ReadCountries(field string, values []string, errs *fields.Errors) []string {
	for i, c := range values {
		if !fields.IsCountry(c) {
			errs.Add(at(field, i, ""), problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
		}
	}
	sorted := slices.Sorted(slices.Values(values))
	return append([]string{}, slices.Compact(sorted)...) // Never nil, like a list that is read back.
}

func atMost(field string, length, limit int, errs *fields.Errors) {
	if length > limit {
		errs.Add(field, problem.FieldTooLong, fmt.Sprintf("must have at most %d entries", limit))
	}
}

// once finds entries that repeat an earlier one.
type once map[string]struct{}

func (o once) check(field, value string, errs *fields.Errors) {
	if _, seen := o[value]; seen {
		errs.Add(field, problem.FieldDuplicate, "is already in the list")
	}
	o[value] = struct{}{}
}

// IsFileID reports whether id has the form of an image's id.
func IsFileID(id string) bool { return fileID.MatchString(id) }

// CheckCountry validates a country.
func CheckCountry(value string, errs *fields.Errors) {
	switch {
	case fields.Blank(value):
		errs.Add("country", problem.FieldRequired, "is required")
	case !fields.IsCountry(value):
		errs.Add("country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
	}
}

// ReadLocale returns the requested locale, which must be one of the tenant's. The default is en-US.
func ReadLocale(value string, supported []string, errs *fields.Errors) string {
	if fields.Blank(value) {
		return BaseLocale
	}
	if value != BaseLocale && !slices.Contains(supported, value) {
		errs.Add("locale", problem.FieldNotEnabled, "must be one of the supported locales: "+strings.Join(supported, ", "))
	}
	return value
}

// MaxSelection is how many gifts a selection from the catalog can name.
const MaxSelection = 1000

// ReadSelection validates a selection: either a campaign, or gifts of the catalog.
func ReadSelection(in *catalogv1.Selection, errs *fields.Errors) {
	switch {
	case in == nil:
		errs.Add("selection", problem.FieldRequired, "is required")
	case in.CampaignId == nil && len(in.GetProductIds()) == 0:
		errs.Add("selection.productIds", problem.FieldRequired, "must name at least one gift")
	case in.CampaignId != nil && len(in.GetProductIds()) > 0:
		errs.Add("selection.productIds", problem.FieldInvalid, "must be empty if campaignId is set")
	}
	atMost("selection.productIds", len(in.GetProductIds()), MaxSelection, errs)
}

// CheckSelectedGifts refuses gifts that links cannot offer, in the order of the API's table of codes: first one that is not
// published, then an unknown one. known has the states of the existing gifts.
func CheckSelectedGifts(ids []string, known map[string]State) error {
	for i, id := range ids {
		if state, ok := known[id]; ok && state != Published {
			return problem.New(problem.ProductNotAvailable, "The gift of productIds[%d] is not available.", i)
		}
	}
	for i, id := range ids {
		if _, ok := known[id]; !ok {
			return problem.New(problem.ProductNotFound, "productIds[%d] is not in the catalog.", i)
		}
	}
	return nil
}

// CheckSelectedCampaign refuses a campaign that links cannot offer: first one that is unknown or that the caller may not see,
// then one that is not active. brandID is empty for an unknown campaign.
func CheckSelectedCampaign(brandID, status string, reaches func(brandID string) bool) error {
	switch {
	case brandID == "" || !reaches(brandID):
		return campaignNotFound()
	case status != CampaignActive:
		return campaignNotActive()
	default:
		return nil
	}
}

func campaignNotFound() *problem.Error {
	return problem.New(problem.CampaignNotFound, "No such campaign is visible to this key.")
}

func campaignNotActive() *problem.Error {
	return problem.New(problem.CampaignNotActive, "The campaign is in preparation or completed.")
}
