// Package rules validates the records of a tenant. Each rule collects the violations of one record and returns the record as it is
// stored: ids, e-mail addresses and locales in their canonical form, and sets without duplicates. The record is valid only if there
// are no violations.
package rules

import (
	"fmt"
	"regexp"
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
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

// locales returns en-US, then the others in canonical form, in the order in which they were sent and without duplicates.
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

// LocaleWarnings returns a warning for each of the tenant's locales for whose language the gift site has no texts. It names the
// locale in which the pages are shown instead.
func LocaleWarnings(tenant *tenantsv1.Tenant) (warnings []string) {
	for _, locale := range tenant.GetLocales() {
		if !fields.SiteHasLanguage(locale) {
			warnings = append(warnings,
				fmt.Sprintf("The gift site has no texts for %s: its pages are in %s.", locale, fields.SitePageLocales(locale)[0]))
		}
	}
	return warnings
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

func currencyCode(code string, errs *fields.Errors) string {
	if !fields.IsCurrency(code) {
		errs.Add("currency", problem.FieldInvalid, "must be an active currency of ISO 4217, such as EUR")
	}
	return code
}

var (
	slugForm   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	colourForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
)

// Brand validates a brand.
func Brand(b *tenantsv1.Brand, errs *fields.Errors) *tenantsv1.Brand {
	if b == nil {
		errs.Add("brand", problem.FieldRequired, "is required")
		return b
	}
	errs.Required("brand.name", b.GetName(), maxName)
	errs.Required("brand.slug", b.GetSlug(), maxSlug)
	if !slugForm.MatchString(b.GetSlug()) {
		errs.Add("brand.slug", problem.FieldInvalid, "must be words of lower-case letters and digits, joined by -")
	}
	if !fields.Blank(b.GetPrimaryColour()) && !colourForm.MatchString(b.GetPrimaryColour()) {
		errs.Add("brand.primaryColour", problem.FieldInvalid, "must be a hex colour such as #1A2B3C")
	}
	errs.URL("brand.logoUrl", b.GetLogoUrl(), maxURL, "https", "http")
	return &tenantsv1.Brand{
		Id:            errs.UUID("brand.id", b.GetId()),
		Name:          b.GetName(),
		Slug:          b.GetSlug(),
		PrimaryColour: fields.Optional(b.PrimaryColour),
		LogoUrl:       fields.Optional(b.LogoUrl),
	}
}

// TeamMember validates a member of the team.
func TeamMember(m *tenantsv1.TeamMember, errs *fields.Errors) *tenantsv1.TeamMember {
	if m == nil {
		errs.Add("member", problem.FieldRequired, "is required")
		return m
	}
	errs.Required("member.name", m.GetName(), maxName)
	email := fields.EmailKey(m.GetEmail())
	errs.Required("member.email", email, maxEmail)
	errs.Email("member.email", m.GetEmail(), maxEmail)
	if !declared(m.GetRole()) {
		errs.Add("member.role", problem.FieldInvalid, "must be a role of the team")
	}
	return &tenantsv1.TeamMember{
		Id:     errs.UUID("member.id", m.GetId()),
		Name:   m.GetName(),
		Email:  email,
		Role:   m.GetRole(),
		Active: m.GetActive(),
	}
}

// declared reports whether the enum declares the value. It is false for 0, the unspecified value.
func declared(e protoreflect.Enum) bool {
	_, ok := enumname.Of(e.Descriptor()).Name(e.Number())
	return ok
}

// CustomField validates a custom field.
func CustomField(f *tenantsv1.CustomField, errs *fields.Errors) *tenantsv1.CustomField {
	if f == nil {
		errs.Add("field", problem.FieldRequired, "is required")
		return f
	}
	errs.Required("field.label", f.GetLabel(), maxLabel)
	if !declared(f.GetType()) {
		errs.Add("field.type", problem.FieldInvalid, "must be a type of custom field")
	}
	checkOptions(f, errs)
	return &tenantsv1.CustomField{
		Id:       errs.UUID("field.id", f.GetId()),
		Label:    f.GetLabel(),
		Type:     f.GetType(),
		Required: f.GetRequired(),
		Options:  f.GetOptions(),
	}
}

// checkOptions requires options of a dropdown, forbids them for other types, and reports duplicates.
func checkOptions(f *tenantsv1.CustomField, errs *fields.Errors) {
	dropdown := f.GetType() == tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
	switch n := len(f.GetOptions()); {
	case dropdown && n == 0:
		errs.Add("field.options", problem.FieldRequired, "is required for a dropdown")
	case !dropdown && n > 0:
		errs.Add("field.options", problem.FieldInvalid, "must be empty unless the field is a dropdown")
	case n > maxOptions:
		errs.Add("field.options", problem.FieldTooLong, "has too many entries")
	}
	seen := make(map[string]struct{}, len(f.GetOptions()))
	for i, option := range f.GetOptions() {
		path := fmt.Sprintf("field.options[%d]", i)
		errs.Required(path, option, maxOption)
		compared := norm.NFC.String(option)
		if _, twice := seen[compared]; twice {
			errs.Add(path, problem.FieldDuplicate, "is already in the list")
		}
		seen[compared] = struct{}{}
	}
}
