package rules

import (
	"net/url"
	"regexp"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

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
		errs.Add("brand.slug", problem.FieldInvalid, "must be lower-case letters and digits, in words joined by -")
	}
	if b.PrimaryColour != nil && !colourForm.MatchString(b.GetPrimaryColour()) {
		errs.Add("brand.primaryColour", problem.FieldInvalid, "must be a hex colour such as #1A2B3C")
	}
	if b.LogoUrl != nil {
		errs.MaxLen("brand.logoUrl", b.GetLogoUrl(), maxURL)
		if !isWebURL(b.GetLogoUrl()) {
			errs.Add("brand.logoUrl", problem.FieldInvalid, "must be an absolute http or https URL")
		}
	}
	return &tenantsv1.Brand{
		Id:            errs.UUID("brand.id", b.GetId()),
		Name:          b.GetName(),
		Slug:          b.GetSlug(),
		PrimaryColour: b.PrimaryColour,
		LogoUrl:       b.LogoUrl,
	}
}

// isWebURL demands an absolute URL without user and password, because everyone can see it.
func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}
