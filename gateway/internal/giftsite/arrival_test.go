package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	const sweden, germany, said = "Usually arrives within 2 working days.", "Usually arrives within 3 to 5 working days.", "Usually arrives"
	f := setup(t)
	f.page.Brand.Site = deliveryTimes()
	require.NotContains(t, f.get("").body, said)
	require.NotContains(t, f.follow(choose("truffles")).body, said, "no country is chosen")

	address := f.follow(filled("country", "SE", "step", stepCountry)).body
	require.Contains(t, address, `<p class="hint" id="country-hint">`+sweden+`</p>`)
	require.Contains(t, address, `required aria-describedby="country-hint">`)
	address = f.follow(filled("country", "DE", "step", stepCountry)).body
	require.Contains(t, address, germany)
	require.NotContains(t, address, sweden)
	require.Contains(t, f.follow(filled("country", "DE")).body, germany, "on the review")

	thanks := f.follow(f.confirm()).body
	require.Contains(t, thanks, "<p>"+sweden+"</p>", "the order is sent to Sweden")
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	require.NotContains(t, f.get("").body, said, "a part of the time is over")
	f.order.Progress, f.nonce = linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, ""
	require.NotContains(t, f.get("").body, said, "a stranger does not learn the country")
}

func TestACountryWithoutDeliveryTimeHasNoText(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]*tenantsv1.GiftSite{"another country": deliveryTimes(), "no times": {}, "no site": nil} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.page.Brand.Site = site
			f.follow(choose("shirt", "choice", "Colour=Navy&Size=S"))
			require.NotContains(t, f.follow(filled("country", "IE", "step", stepCountry)).body, "country-hint")
			f.order.Gift.MaskedRecipient.Country = "IE"
			f.page.State, f.claimedBy = linksv1.ClaimState_CLAIM_STATE_CLAIMED, f.nonce
			thanks := f.get("").body
			require.Contains(t, thanks, "NP-1")
			require.NotContains(t, thanks, "Usually arrives")
		})
	}
}

func TestTheListOfCountriesIsDescribedByErrorAndArrival(t *testing.T) {
	t.Parallel()
	p := addressView{CountryError: "x", Arrival: "y"}
	require.Equal(t, "country-error country-hint", p.CountryDescribedBy())
	require.Empty(t, addressView{}.CountryDescribedBy())
}

func TestTheArrivalIsSaidInThePluralsOfTheLanguage(t *testing.T) {
	t.Parallel()
	tr := read(t)
	at := func(name string, least, most int32) string {
		site := &tenantsv1.GiftSite{DeliveryTimes: []*tenantsv1.DeliveryTime{{Country: "SE", MinBusinessDays: least, MaxBusinessDays: most}}}
		return strings.NewReplacer("\u2068", "", "\u2069", "").Replace(tr.of(name).arrival(site, "SE"))
	}
	for name, want := range map[string][3]string{
		"da-DK": {"Kommer som regel frem inden for 1 arbejdsdag.", "Kommer som regel frem inden for 3 arbejdsdage.", "Kommer som regel frem inden for 3 til 5 arbejdsdage."},
		"de-CH": {"Kommt meist innerhalb von 1 Arbeitstag an.", "Kommt meist innerhalb von 3 Arbeitstagen an.", "Kommt meist innerhalb von 3 bis 5 Arbeitstagen an."},
		"en-GB": {"Usually arrives within 1 working day.", "Usually arrives within 3 working days.", "Usually arrives within 3 to 5 working days."},
		"es-ES": {"Suele llegar en un plazo de 1 día laborable.", "Suele llegar en un plazo de 3 días laborables.", "Suele llegar en un plazo de 3 a 5 días laborables."},
		"fi-FI": {"Saapuu yleensä 1 arkipäivässä.", "Saapuu yleensä 3 arkipäivässä.", "Saapuu yleensä 3–5 arkipäivässä."},
		"fr-FR": {"Arrive généralement sous 1 jour ouvré.", "Arrive généralement sous 3 jours ouvrés.", "Arrive généralement sous 3 à 5 jours ouvrés."},
		"it-IT": {"Di solito arriva in 1 giorno lavorativo.", "Di solito arriva in 3 giorni lavorativi.", "Di solito arriva in 3–5 giorni lavorativi."},
		"nb-NO": {"Kommer vanligvis frem innen 1 virkedag.", "Kommer vanligvis frem innen 3 virkedager.", "Kommer vanligvis frem innen 3 til 5 virkedager."},
		"nl-NL": {"Komt meestal binnen 1 werkdag aan.", "Komt meestal binnen 3 werkdagen aan.", "Komt meestal binnen 3 tot 5 werkdagen aan."},
		"pl-PL": {"Zwykle dociera w ciągu 1 dnia roboczego.", "Zwykle dociera w ciągu 3 dni roboczych.", "Zwykle dociera w ciągu 3–5 dni roboczych."},
		"pt-PT": {"Costuma chegar no prazo de 1 dia útil.", "Costuma chegar no prazo de 3 dias úteis.", "Costuma chegar no prazo de 3 a 5 dias úteis."},
		"sv-SE": {"Kommer oftast fram inom 1 arbetsdag.", "Kommer oftast fram inom 3 arbetsdagar.", "Kommer oftast fram inom 3 till 5 arbetsdagar."},
		"ar":    {"تصل عادةً خلال يوم عمل واحد.", "تصل عادةً خلال 3 أيام عمل.", "تصل عادةً خلال 3 إلى 5 أيام عمل."},
	} {
		require.Equal(t, want, [3]string{at(name, 1, 1), at(name, 3, 3), at(name, 3, 5)}, name)
	}
	require.Equal(t, "تصل عادةً خلال يوم إلى يومي عمل.", at("ar", 1, 2))
	require.Equal(t, "تصل عادةً خلال 9 إلى 11 يوم عمل.", at("ar", 9, 11))
	require.Equal(t, "Zwykle dociera w ciągu 22 dni roboczych.", at("pl-PL", 22, 22))
}
