package fields_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestWhatIsBlankIsAbsent(t *testing.T) {
	t.Parallel()
	blank := " \u200b"
	var errs fields.Errors
	site := fields.CheckGiftSite(&tenantsv1.GiftSite{
		PrivacyUrl: &blank, TermsUrl: &blank, SupportUrl: &blank, ImprintUrl: &blank, HomeUrl: &blank,
		Theme:  &tenantsv1.Theme{AccentColour: &blank, HeroImageId: &blank, DarkLogoImageId: &blank},
		Sender: &tenantsv1.Sender{Name: &blank, PortraitImageId: &blank, SignatureImageId: &blank},
	}, &errs)
	require.NoError(t, errs.Err())
	require.Equal(t, fields.CheckGiftSite(&tenantsv1.GiftSite{}, &errs).String(), site.String())
}

// These characters may be in an address, but end it or change it in a URL.
func TestALinkToAnEmailAddressHasNothingElse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"help@brand.example": true, "help+vip@brand.example": true, "help#1@brand.example": false, "help?1@brand.example": false,
		"help&1@brand.example": false, "help%231@brand.example": false,
	} {
		errs, support := &fields.Errors{}, "mailto:"+address
		fields.CheckGiftSite(&tenantsv1.GiftSite{SupportUrl: &support}, errs)
		require.Equal(t, want, errs.Err() == nil, address)
	}
}

func TestDeliveryTimes(t *testing.T) {
	t.Parallel()
	days := func(country string, least, most int32) *tenantsv1.DeliveryTime {
		return &tenantsv1.DeliveryTime{Country: country, MinBusinessDays: least, MaxBusinessDays: most}
	}
	var everywhere []*tenantsv1.DeliveryTime
	for _, code := range fields.Countries() {
		everywhere = append(everywhere, days(code, 3, 5))
	}
	for name, tc := range map[string]struct {
		times []*tenantsv1.DeliveryTime
		want  []string
	}{
		"none":             {},
		"the bounds":       {times: []*tenantsv1.DeliveryTime{days("SE", 1, 60), days("DE", 60, 60), days("NO", 1, 1)}},
		"to every country": {times: everywhere},
		"too many":         {slices.Repeat([]*tenantsv1.DeliveryTime{days("", 0, 0)}, 251), []string{"site.deliveryTimes too_long"}},
		"wrong countries": {
			[]*tenantsv1.DeliveryTime{
				days("SE", 1, 2), days("", 1, 2), days("se", 1, 2), days("XX", 1, 2), days("SE", 1, 2), days("\xff", 1, 2),
			},
			[]string{
				"site.deliveryTimes[1].country required", "site.deliveryTimes[2].country invalid", "site.deliveryTimes[3].country invalid",
				"site.deliveryTimes[4].country duplicate", "site.deliveryTimes[5].country invalid",
			},
		},
		"wrong days": {
			[]*tenantsv1.DeliveryTime{days("SE", 0, 5), days("DE", 5, 61), days("NO", 5, 4), days("FI", -1, -2), {Country: "DK"}},
			[]string{
				"site.deliveryTimes[0].minBusinessDays invalid", "site.deliveryTimes[1].maxBusinessDays invalid",
				"site.deliveryTimes[2].maxBusinessDays invalid", "site.deliveryTimes[3].minBusinessDays invalid",
				"site.deliveryTimes[3].maxBusinessDays invalid", "site.deliveryTimes[4].minBusinessDays invalid",
				"site.deliveryTimes[4].maxBusinessDays invalid",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := &fields.Errors{}
			site := fields.CheckGiftSite(&tenantsv1.GiftSite{DeliveryTimes: tc.times}, errs)
			var got []string
			for _, v := range errs.List() {
				got = append(got, v.Field+" "+v.Code)
			}
			require.Equal(t, tc.want, got)
			if len(tc.want) == 0 {
				require.Equal(t, tc.times, site.GetDeliveryTimes())
			}
		})
	}
}

func TestAPageIsInTheClosestLocaleWithTexts(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]struct {
		locales []string
		speaks  bool
	}{
		"en-US": {[]string{"en-US"}, true},
		"en-AU": {[]string{"en-US"}, true},
		"de-AT": {[]string{"de-AT", "de-DE", "en-US"}, true},
		"sv-FI": {[]string{"sv-SE", "en-US"}, true},
		"pt-BR": {[]string{"pt-PT", "en-US"}, true},
		"ar-SA": {[]string{"ar", "en-US"}, true},
		"fo-FO": {[]string{"da-DK", "en-US"}, false},
		"ja-JP": {[]string{"en-US"}, false},
	} {
		require.Equal(t, want.locales, fields.SitePageLocales(tag), tag)
		require.Equal(t, want.speaks, fields.SiteHasLanguage(tag), tag)
	}
}
