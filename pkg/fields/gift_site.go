package fields

import (
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	maxSiteURL       = 2048
	maxSender        = 100
	maxGreeting      = 1000
	maxGreetingLines = 20
)

var (
	colourForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)
	imageForm  = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// CheckGreeting validates the greeting of a campaign at a path and returns it with plain line breaks.
func CheckGreeting(path, text string, errs *Errors) string {
	text = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	errs.RequiredText(path, text, maxGreeting)
	if strings.Count(text, "\n") >= maxGreetingLines {
		errs.Add(path, problem.FieldTooLong, fmt.Sprintf("must have at most %d lines", maxGreetingLines))
	}
	return text
}

// CheckGiftSite validates what the gift site of a brand links to, how it looks and how long gifts take. Absent enums of the theme
// get their defaults, so that a stored theme is complete. Any colour is accepted: the site derives readable pairs of text and
// background from it.
func CheckGiftSite(s *tenantsv1.GiftSite, errs *Errors) *tenantsv1.GiftSite {
	if s == nil {
		errs.Add("site", problem.FieldRequired, "is required")
		return s
	}
	t := s.GetTheme()
	if t == nil {
		t = &tenantsv1.Theme{}
	}
	return &tenantsv1.GiftSite{
		PrivacyUrl: pageURL("site.privacyUrl", s.PrivacyUrl, errs),
		TermsUrl:   pageURL("site.termsUrl", s.TermsUrl, errs),
		SupportUrl: supportURL("site.supportUrl", s.SupportUrl, errs),
		ImprintUrl: pageURL("site.imprintUrl", s.ImprintUrl, errs),
		HomeUrl:    pageURL("site.homeUrl", s.HomeUrl, errs),
		Theme: &tenantsv1.Theme{
			AccentColour: matching("site.theme.accentColour", t.AccentColour, colourForm, "must be a hex colour such as #1A2B3C", errs),
			HeroImageId:  imageID("site.theme.heroImageId", t.HeroImageId, errs),
			Typeface:     choice("site.theme.typeface", t.GetTypeface(), tenantsv1.Typeface_TYPEFACE_SYSTEM, errs),
			Corners:      choice("site.theme.corners", t.GetCorners(), tenantsv1.CornerStyle_CORNER_STYLE_SOFT, errs),
			ColourScheme: choice("site.theme.colourScheme", t.GetColourScheme(), tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO, errs),

			DarkLogoImageId: imageID("site.theme.darkLogoImageId", t.DarkLogoImageId, errs),
		},
		DeliveryTimes: deliveryTimes("site.deliveryTimes", s.GetDeliveryTimes(), errs),
		WithoutThanks: s.GetWithoutThanks(),
		Sender:        sender("site.sender.", s.GetSender(), errs),
	}
}

// sender checks who signs the notes. It returns nil if nothing of them is set.
func sender(at string, s *tenantsv1.Sender, errs *Errors) *tenantsv1.Sender {
	if s == nil {
		return nil
	}
	errs.Line(at+"name", s.GetName(), maxSender)
	checked := &tenantsv1.Sender{
		Name:             Optional(new(s.GetName())),
		PortraitImageId:  imageID(at+"portraitImageId", s.PortraitImageId, errs),
		SignatureImageId: imageID(at+"signatureImageId", s.SignatureImageId, errs),
	}
	if proto.Size(checked) == 0 {
		return nil
	}
	return checked
}

func matching(field string, value *string, form *regexp.Regexp, message string, errs *Errors) *string {
	if value = Optional(value); value != nil && !form.MatchString(*value) {
		errs.Add(field, problem.FieldInvalid, message)
	}
	return value
}

// imageID checks the id of a picture of the brand.
func imageID(field string, value *string, errs *Errors) *string {
	return matching(field, value, imageForm, "must be the id of an uploaded picture", errs)
}

// choice returns the value, or the default if there is none.
func choice[E enumname.Enum](field string, value, byDefault E, errs *Errors) E {
	if value == 0 {
		return byDefault
	}
	if _, ok := enumname.Of(value.Descriptor()).Name(value.Number()); !ok {
		errs.Add(field, problem.FieldInvalid, "must be one of "+strings.Join(enumname.Of(value.Descriptor()).All(), ", "))
	}
	return value
}

// pageURL checks the URL of a page of the brand.
func pageURL(field string, value *string, errs *Errors) *string {
	value = Optional(value)
	if value != nil {
		errs.URL(field, *value, maxSiteURL, "https")
	}
	return value
}

// supportURL checks a URL that may also be a link to an e-mail address.
func supportURL(field string, value *string, errs *Errors) *string {
	value = Optional(value)
	if value == nil {
		return nil
	}
	errs.Line(field, *value, maxSiteURL)
	address, mail := strings.CutPrefix(*value, "mailto:")
	if !IsURL(*value, "https") && (!mail || !IsEmail(address) || strings.ContainsAny(address, "?#%&")) {
		errs.Add(field, problem.FieldInvalid,
			"must be an absolute https URL without user and password, or mailto: with one e-mail address")
	}
	return value
}

const (
	maxDeliveryTimes = 250
	maxBusinessDays  = 60
)

// deliveryTimes validates how long gifts take, by country. field is the path of the list.
func deliveryTimes(field string, times []*tenantsv1.DeliveryTime, errs *Errors) []*tenantsv1.DeliveryTime {
	if len(times) > maxDeliveryTimes {
		errs.Add(field, problem.FieldTooLong, fmt.Sprintf("must have at most %d entries", maxDeliveryTimes))
		return nil
	}
	seen := map[string]bool{}
	for i, d := range times {
		at := fmt.Sprintf("%s[%d].", field, i)
		switch {
		case Blank(d.GetCountry()):
			errs.Add(at+"country", problem.FieldRequired, "is required")
		case !IsCountry(d.GetCountry()):
			errs.Add(at+"country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
		case seen[d.GetCountry()]:
			errs.Add(at+"country", problem.FieldDuplicate, "is already in the list")
		}
		seen[d.GetCountry()] = true
		checkBusinessDays(at+"minBusinessDays", d.GetMinBusinessDays(), errs)
		checkBusinessDays(at+"maxBusinessDays", d.GetMaxBusinessDays(), errs)
		if d.GetMaxBusinessDays() < d.GetMinBusinessDays() {
			errs.Add(at+"maxBusinessDays", problem.FieldInvalid, "must not be less than minBusinessDays")
		}
	}
	return times
}

func checkBusinessDays(field string, days int32, errs *Errors) {
	if days < 1 || days > maxBusinessDays {
		errs.Add(field, problem.FieldInvalid, fmt.Sprintf("must be from 1 to %d", maxBusinessDays))
	}
}
