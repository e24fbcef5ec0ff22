package rules

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// CheckCountry demands a country.
func CheckCountry(value string, errs *fields.Errors) {
	switch {
	case fields.Blank(value):
		errs.Add("country", problem.FieldRequired, "is required")
	case !country.Valid(value):
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

// ReadSince returns the instant in whole microseconds, or nil.
func ReadSince(value *timestamppb.Timestamp, errs *fields.Errors) *time.Time {
	if value == nil {
		return nil
	}
	if value.CheckValid() != nil {
		errs.Add("updatedSince", problem.FieldInvalid, "must be an instant between the years 1 and 9999")
	}
	since := value.AsTime().Truncate(time.Microsecond)
	return &since
}
