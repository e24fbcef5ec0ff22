// Package giftsite has the rules for what brands set on the gift site: links, theme, delivery times and greetings. The
// services that store these check them, and so does the gateway, which previews them.
package giftsite

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxURL           = 2048
	maxGreeting      = 1000
	maxGreetingLines = 20
)

var (
	colourForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
	imageForm  = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// Greeting validates the greeting at a path and returns it with plain line breaks.
func Greeting(path, text string, errs *fields.Errors) string {
	text = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	errs.Required(path, text, maxGreeting)
	switch {
	case strings.Count(text, "\n") >= maxGreetingLines:
		errs.Add(path, problem.FieldTooLong, fmt.Sprintf("must have at most %d lines", maxGreetingLines))
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) && !errs.Has(path):
		errs.Add(path, problem.FieldInvalid, "must be text without control characters other than line breaks")
	}
	return text
}

// Check validates what the gift site of a brand links to, how it looks and how long gifts take. Absent enums of the theme get
// their defaults, so that a stored theme is complete. Any colour is accepted: the site derives readable pairs of text and background
// from it.
func Check(s *tenantsv1.GiftSite, errs *fields.Errors) *tenantsv1.GiftSite {
	if s == nil {
		errs.Add("site", problem.FieldRequired, "is required")
		return s
	}
	t := s.GetTheme()
	if t == nil {
		t = &tenantsv1.Theme{}
	}
	return &tenantsv1.GiftSite{
		PrivacyUrl: siteURL("site.privacyUrl", s.PrivacyUrl, isPageURL, errs),
		TermsUrl:   siteURL("site.termsUrl", s.TermsUrl, isPageURL, errs),
		SupportUrl: siteURL("site.supportUrl", s.SupportUrl, isSupportURL, errs),
		ImprintUrl: siteURL("site.imprintUrl", s.ImprintUrl, isPageURL, errs),
		HomeUrl:    siteURL("site.homeUrl", s.HomeUrl, isPageURL, errs),
		Theme: &tenantsv1.Theme{
			AccentColour: matching("site.theme.accentColour", t.AccentColour, colourForm, "must be a hex colour such as #1A2B3C", errs),
			HeroImageId:  matching("site.theme.heroImageId", t.HeroImageId, imageForm, "must be the id of an uploaded picture", errs),
			Typeface:     choice("site.theme.typeface", t.GetTypeface(), tenantsv1.Typeface_TYPEFACE_SYSTEM, errs),
			Corners:      choice("site.theme.corners", t.GetCorners(), tenantsv1.CornerStyle_CORNER_STYLE_SOFT, errs),
			ColourScheme: choice("site.theme.colourScheme", t.GetColourScheme(), tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO, errs),
		},
		DeliveryTimes: deliveryTimes("site.deliveryTimes", s.GetDeliveryTimes(), errs),
	}
}

func matching(field string, value *string, form *regexp.Regexp, message string, errs *fields.Errors) *string {
	if value != nil && !form.MatchString(*value) {
		errs.Add(field, problem.FieldInvalid, message)
	}
	return value
}

// choice returns the value, or the default if there is none.
func choice[E enumname.Enum](field string, value, byDefault E, errs *fields.Errors) E {
	if value == 0 {
		return byDefault
	}
	if _, ok := enumname.Of(value.Descriptor()).Name(value.Number()); !ok {
		errs.Add(field, problem.FieldInvalid, "must be one of "+strings.Join(enumname.Of(value.Descriptor()).All(), ", "))
	}
	return value
}

// siteURL demands a URL that a page may link to.
func siteURL(field string, value *string, valid func(string) (ok bool, want string), errs *fields.Errors) *string {
	if value == nil {
		return nil
	}
	errs.MaxLen(field, *value, maxURL)
	if ok, want := valid(*value); !ok && !errs.Has(field) {
		errs.Add(field, problem.FieldInvalid, "must be "+want)
	}
	return value
}

func isPageURL(s string) (bool, string) {
	const want = "an absolute https URL without user, password, spaces and control characters"
	u, err := url.Parse(s)
	return err == nil && visible(s) && u.Scheme == "https" && u.Hostname() != "" && u.User == nil, want
}

func isSupportURL(s string) (bool, string) {
	const want = "an absolute https URL without user and password, or mailto: with one e-mail address"
	if address, ok := strings.CutPrefix(s, "mailto:"); ok {
		return visible(s) && !strings.ContainsAny(address, "?%&") && fields.IsEmail(address), want
	}
	ok, _ := isPageURL(s)
	return ok, want
}

// visible reports whether s has no character that browsers drop, change or do not show. A backslash is one: they read it as a slash.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsSpace(r) || !unicode.IsGraphic(r) })
}
