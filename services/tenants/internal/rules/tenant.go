// Package rules validates the records of a tenant. Each rule collects the violations of one record and
// returns the record as it is stored: ids, e-mail addresses and locales in their canonical form, and sets
// without duplicates. The record is valid only if there are no violations.
package rules

import (
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Maximum lengths of texts, in code points, and of lists.
const (
	maxName     = 255
	maxSlug     = 100
	maxURL      = 2048
	maxEmail    = 255
	maxLabel    = 255
	maxOption   = 255
	maxKeyName  = 100
	maxOptions  = 200
	maxLocales  = 200
	maxBrandIDs = 1000
)

// DefaultLocale belongs to every tenant.
const DefaultLocale = "en-US"

// Tenant checks the settings of a tenant.
func Tenant(req *tenantsv1.PutTenantRequest, errs *fields.Errors) *tenantsv1.Tenant {
	errs.Required("name", req.GetName(), maxName)
	return &tenantsv1.Tenant{
		Id:               errs.UUID("id", req.GetId()),
		Name:             req.GetName(),
		Locales:          locales(req.GetLocales(), errs),
		Currency:         currencyCode(req.GetCurrency(), errs),
		ApprovalRequired: req.GetApprovalRequired(),
	}
}

// locales returns the set with en-US first, then the others as they were sent.
func locales(tags []string, errs *fields.Errors) []string {
	out := []string{DefaultLocale}
	if len(tags) > maxLocales {
		errs.Add("locales", problem.FieldTooLong, "has too many entries")
		return out
	}
	for i, tag := range tags {
		locale, ok := Locale(tag)
		if !ok {
			errs.Add(fmt.Sprintf("locales[%d]", i), problem.FieldInvalid, "must be a BCP 47 tag such as sv-SE")
			continue
		}
		if !slices.Contains(out, locale) {
			out = append(out, locale)
		}
	}
	return out
}

// localeForm is language, script and region, without extended languages, variants or extensions.
var localeForm = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$`)

// Locale returns the canonical form of a BCP 47 tag.
func Locale(tag string) (string, bool) {
	if !localeForm.MatchString(tag) {
		return "", false
	}
	parsed, err := language.Parse(tag)
	if err != nil || parsed == language.Und {
		return "", false
	}
	return parsed.String(), true
}

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

func currencyCode(code string, errs *fields.Errors) string {
	// XXX and XTS are the codes of ISO 4217 for no currency and for testing.
	_, err := currency.ParseISO(code)
	if err != nil || !currencyForm.MatchString(code) || code == "XXX" || code == "XTS" {
		errs.Add("currency", problem.FieldInvalid, "must be an ISO 4217 code such as EUR")
	}
	return code
}
