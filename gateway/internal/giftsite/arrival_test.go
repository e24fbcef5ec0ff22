package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// deliveryTimes are those of a brand that has said nothing about Ireland.
func deliveryTimes() *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{DeliveryTimes: []*tenantsv1.DeliveryTime{
		{Country: "DE", MinBusinessDays: 3, MaxBusinessDays: 5}, {Country: "SE", MinBusinessDays: 2, MaxBusinessDays: 2},
	}}
}

func TestThePagesSayWhenTheGiftUsuallyArrives(t *testing.T) {
	t.Parallel()
	const sweden, germany, said = "Usually arrives within 2 working days.", "Usually arrives within 3 to 5 working days.",
		"Usually arrives"
	f := setup(t)
	f.page.Brand.Site = deliveryTimes()
	require.NotContains(t, f.get("").body, said)
	require.NotContains(t, f.follow(choose("truffles")).body, said, "no country is chosen")

	address := f.follow(filled("country", "SE", "step", stepCountry)).body
	require.Contains(t, address, `<p class="hint" id="country-hint">`+sweden+`</p>`)
	require.Contains(t, address, `required aria-invalid="false" aria-describedby="country-hint">`)
	address = f.follow(filled("country", "DE", "step", stepCountry)).body
	require.Contains(t, address, germany)
	require.NotContains(t, address, sweden)
	require.Contains(t, f.follow(filled("country", "DE")).body, germany, "on the review")

	require.NotContains(t, f.follow(f.confirm()).body, said, "from the order on, the days are known")
}

func TestACountryWithoutDeliveryTimeHasNoText(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]*tenantsv1.GiftSite{"another country": deliveryTimes(), "no times": {}, "no site": nil} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.page.Brand.Site = site
			f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
			require.NotContains(t, f.follow(filled("country", "IE", "step", stepCountry)).body, "country-hint")
			f.order.Gift.MaskedRecipient.Country, f.order.Gift.ClaimedAt = "IE", timestamppb.New(f.now)
			f.page.State, f.claimedBy = linksv1.ClaimState_CLAIM_STATE_CLAIMED, f.nonce
			thanks := f.get("").body
			require.Contains(t, thanks, "NP-1")
			require.NotContains(t, thanks, "Expected arrival")
		})
	}
}

func TestTheArrivalIsSaidInThePluralsOfTheLanguage(t *testing.T) {
	t.Parallel()
	tr := read(t)
	at := func(name string, least, most int32) string {
		site := &tenantsv1.GiftSite{
			DeliveryTimes: []*tenantsv1.DeliveryTime{{Country: "SE", MinBusinessDays: least, MaxBusinessDays: most}},
		}
		return strings.NewReplacer("\u2068", "", "\u2069", "").Replace(tr.textsFor(name).arrival(site, "SE"))
	}
	require.Equal(t, "Usually arrives within 1 working day.", at("en-GB", 1, 1))
	require.Equal(t, "Usually arrives within 3 to 5 working days.", at("en-GB", 3, 5))
	require.Equal(t, "Zwykle dociera w ciągu 22 dni roboczych.", at("pl-PL", 22, 22))
	require.Equal(t, "تصل عادةً خلال 9 إلى 11 يوم عمل.", at("ar", 9, 11))
}
