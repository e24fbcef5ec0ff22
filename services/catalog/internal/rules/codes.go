package rules

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
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
	// A single underscore only: two separate a category from its subcategory.
	categoryCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)
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

// RecordID demands a UUID other than the nil UUID, which is below every position of a list.
func RecordID(field, value string, errs *fields.Errors) string {
	if fields.Blank(value) {
		errs.Add(field, problem.FieldRequired, "is required")
		return ""
	}
	id := errs.UUID(field, value)
	if id == uuid.Nil.String() {
		errs.Add(field, problem.FieldInvalid, "must not be the nil UUID")
	}
	return id
}

func code(field, value string, form *regexp.Regexp, errs *fields.Errors) {
	errs.Required(field, value, maxCode)
	if !form.MatchString(value) {
		errs.Add(field, problem.FieldInvalid, "must consist of upper-case letters, digits and single underscores")
	}
}

// enum demands a value of an enum and returns its name.
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

func isCurrency(value string) bool {
	_, err := currency.ParseISO(value)
	return err == nil && currencyCode.MatchString(value)
}

// translationLocale demands a BCP 47 tag in its usual spelling that is not the base locale.
func translationLocale(field, value string, errs *fields.Errors) {
	errs.Required(field, value, MaxLocale)
	tag, err := language.Raw.Parse(value)
	switch {
	case err != nil || tag.String() != value:
		errs.Add(field, problem.FieldInvalid, "must be a BCP 47 tag such as sv-SE")
	case value == BaseLocale:
		errs.Add(field, problem.FieldInvalid, "must not be "+BaseLocale+", which the main text is in")
	}
}

// ReadCountries demands assigned country codes and returns each once, in alphabetical order.
func ReadCountries(field string, values []string, errs *fields.Errors) []string {
	for i, c := range values {
		if !country.Valid(c) {
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
