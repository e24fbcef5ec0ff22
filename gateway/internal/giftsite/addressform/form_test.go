package addressform_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/country"
)

// outline is the form as text: labels in their order, * means required.
func outline(f addressform.Form) string {
	var words []string
	for _, field := range f.Fields {
		word := field.Label
		if field.Required {
			word += "*"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestFieldsAreInTheOrderAndTheWordsOfTheCountry(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"SE sv-SE": "street* postalCode* city.post_town*",
		"US en-US": "street* city* region.state* postalCode.zip*",
		"GB en-GB": "street* city.post_town* postalCode*",
		"IE en-GB": "street* city* region.county postalCode.eircode",
		"DE ar":    "street* postalCode* city*",
		"JP ja-JP": "postalCode* region.prefecture city* street*",
		"JP en-US": "street* city* region.prefecture postalCode*",
		"HK en-US": "street* city.district* region.area*",
		"AE en-US": "street* city* region.emirate",
		"SG en-US": "street* city* postalCode*",
		"QA en-US": "street* city*",
		"XX en-US": "street* city*",
	} {
		code, locale, _ := strings.Cut(at, " ")
		require.Equal(t, want, outline(addressform.For(code, locale)), at)
	}
}

func TestEveryFormAsksForWhatTheAPIRequires(t *testing.T) {
	t.Parallel()
	limits := map[string]int{"street": 255, "city": 100, "postalCode": 20}
	for _, code := range country.All() {
		f := addressform.For(code, "no locale")
		seen := map[string]bool{}
		for _, field := range f.Fields {
			require.False(t, seen[field.ID], "%s has %s twice", code, field.ID)
			seen[field.ID] = true
			require.Contains(t, addressform.Labels(), field.Label)
			if limit, known := limits[field.ID]; known {
				require.Equal(t, limit, field.MaxLength)
			}
		}
		require.True(t, seen["street"] && seen["city"], code)
		postal, asked := f.Field(addressform.PostalCode)
		require.Equal(t, country.PostalCodeRequired(code), postal.Required, code)
		require.True(t, asked || !country.PostalCodeRequired(code), code)
		if postal.Pattern != "" {
			_, err := regexp.Compile(postal.Pattern)
			require.NoError(t, err)
			require.True(t, f.PostalCodeFits(postal.Example), "%s: %s", code, postal.Example)
		}
	}
}

func TestPostalCodesAreRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"SE 111 22": true, "SE 11122": true, "SE 1112": false, "SE 111 222": false,
		"GB sw1a 1aa": true, "GB SW1A1AA": true, "GB 12345": false, "US 95014-1234": true, "US 9501": false,
		"QA anything": true,
	} {
		code, postal, _ := strings.Cut(text, " ")
		require.Equal(t, want, addressform.For(code, "en-US").PostalCodeFits(" "+postal+" "), text)
	}
}

func TestTheRegionIsSentWithTheCity(t *testing.T) {
	t.Parallel()
	us, se := addressform.For("US", "en-US"), addressform.For("SE", "sv-SE")
	require.Equal(t, "Austin, TX", us.CityWithRegion(" Austin ", " TX"))
	require.Equal(t, "Austin", us.CityWithRegion("Austin", " "))
	require.Empty(t, us.CityWithRegion("", "TX"))
	require.Equal(t, "Visby", se.CityWithRegion("Visby", "Gotland"), "what another country's form has left")
}

func TestPresets(t *testing.T) {
	t.Parallel()
	require.Equal(t, "+46", addressform.For("SE", "sv-SE").CallingCode)
	require.Empty(t, addressform.For("AQ", "en-US").CallingCode)
	for code, want := range map[string]string{"SG": "Singapur", "GI": "Gibraltar", "SE": "", "JP": "", "QA": ""} {
		city, _ := addressform.For(code, "de-DE").Field(addressform.City)
		require.Equal(t, want, city.Preset, code)
	}
}
