package addressform_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
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
		"SE sv-SE": "street* street2 postalCode* city.post_town*",
		"US en-US": "street* street2 city* region.state* postalCode.zip*",
		"CA en-US": "street* street2 city* region.province* postalCode*",
		"GB en-GB": "street* street2 city.post_town* postalCode*",
		"IE en-GB": "street* street2 city* region.county postalCode.eircode",
		"DE ar":    "street* street2 postalCode* city*",
		"JP ja-JP": "postalCode* region.prefecture city* street* street2",
		"JP en-US": "street* street2 city* region.prefecture postalCode*",
		"HK en-US": "street* street2 city.district* region.area*",
		"AE en-US": "street* street2 city* region.emirate",
		"SG en-US": "street* street2 city* postalCode*",
		"QA en-US": "street* street2 city*",
		"XX en-US": "street* street2 city*",
	} {
		code, locale, _ := strings.Cut(at, " ")
		require.Equal(t, want, outline(addressform.For(code, locale)), at)
	}
}

func TestEveryFormAsksForWhatTheAPIRequires(t *testing.T) {
	t.Parallel()
	limits := map[string]int{"street": 255, "city": 100, "postalCode": 20}
	for _, code := range fields.Countries() {
		f := addressform.For(code, "no locale")
		seen := map[string]bool{}
		for _, field := range f.Fields {
			require.False(t, seen[field.ID], "%s has %s twice", code, field.ID)
			seen[field.ID] = true
			if limit, known := limits[field.ID]; known {
				require.Equal(t, limit, field.MaxLength)
			}
		}
		require.True(t, seen["street"] && seen["city"], code)
		postal, asked := f.Field(addressform.PostalCode)
		require.Equal(t, fields.PostalCodeRequired(code), postal.Required, code)
		require.True(t, asked || !fields.PostalCodeRequired(code), code)
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
	require.Equal(t, "Austin", us.CityWithRegion("Austin", "\u202a"), "nothing is seen")
	require.Empty(t, us.CityWithRegion("", "TX"))
	require.Equal(t, "Visby", se.CityWithRegion("Visby", "Gotland"), "what another country's form has left")
}

func TestThePartsOfAStreetAreOneLine(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][2]string{
		"Storgatan 1, c/o Berg": {" Storgatan 1 ", " c/o Berg "}, "Storgatan 1": {"Storgatan 1", " "}, "": {"", "Apt 4B"},
		"Storgatan 2": {"Storgatan 2", "\u202a"},
		"千代田1-1 ビル4階": {"千代田1-1", "ビル4階"}, "강남대로 1 4층": {"강남대로 1", "4층"}, "شارع الملك 1، شقة 4": {"شارع الملك 1", "شقة 4"},
	} {
		require.Equal(t, want, addressform.StreetWithSecond(parts[0], parts[1]))
	}
}

func TestAPostalCodeIsWrittenAsItsCountryDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GB sw1a2aa": "SW1A 2AA", "GB sw1a  2aa": "SW1A 2AA", "GB SW1-2": "SW1-2", "CA h3z2y7": "H3Z 2Y7", "NL 1234ab": "1234 AB",
		"PL 00950": "00-950", "PL 00 950": "00-950", "BR 40301110": "40301-110", "JP １５４００２３": "154-0023",
		"JP 154‐0023": "154-0023", "SE １１１２２": "111 22", "SE 111\u00a022": "111 22", "EG ١٢٤١١": "12411",
		"IE a65f4e2": "A65 F4E2", "US 95014-1234": "95014-1234", "SE none yet": "none yet", "SE ": "", "QA ９": "9",
	} {
		code, postal, _ := strings.Cut(text, " ")
		require.Equal(t, want, addressform.For(code, "en-US").PostalCode(postal), text)
	}
	for _, code := range fields.Countries() {
		form := addressform.For(code, "en-US")
		if postal, asked := form.Field(addressform.PostalCode); asked && postal.Example != "" {
			require.Equal(t, postal.Example, form.PostalCode(strings.ToLower(postal.Example)), code)
		}
	}
}

// The script knows only the pattern. The server then writes the code as the country does.
func TestAPostalCodeIsUsualWithoutItsSeparator(t *testing.T) {
	t.Parallel()
	fits := func(f addressform.Form, text string) bool {
		postal, _ := f.Field(addressform.PostalCode)
		return regexp.MustCompile("^(?i:" + postal.Pattern + ")$").MatchString(text)
	}
	for text, want := range map[string]bool{
		"PL 00950": true, "PL 00 950": true, "PL 00-950": true, "PL 0095": false, "PT 2725079": true, "KY ky11100": true,
		"KY KY1110": false, "LV LV1073": true, "VI 008021222": true, "VI 00802": true, "GB SW1A  2AA": true, "GB 12-345": false,
		"SE 111-22": true, "SE 1112": false, "DE 26-133": false,
	} {
		code, postal, _ := strings.Cut(text, " ")
		require.Equal(t, want, fits(addressform.For(code, "en-US"), postal), text)
	}
	for _, code := range fields.Countries() {
		f := addressform.For(code, "en-US")
		if postal, asked := f.Field(addressform.PostalCode); asked && postal.Example != "" {
			bare := strings.NewReplacer(" ", "", "-", "").Replace(postal.Example)
			require.True(t, fits(f, bare) && fits(f, postal.Example), "%s %s", code, bare)
		}
	}
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

func TestAnAddressIsWrittenAsOnAnEnvelope(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"street": "Street 1", "street2": "Flat 2", "city": "City", "region": "RG", "postalCode": "123 45"}
	for at, want := range map[string]string{
		"SE sv-SE": "Ada Berg/Street 1/Flat 2/123 45 City",
		"US en-US": "Ada Berg/Street 1/Flat 2/City, RG 123 45",
		"GB en-GB": "Ada Berg/Street 1/Flat 2/City/123 45",
		"IT it-IT": "Ada Berg/Street 1/Flat 2/123 45 City RG",
		"BR pt-BR": "Ada Berg/Street 1/Flat 2/City-RG/123 45",
		"JP ja-JP": "123 45/RG/City/Street 1/Flat 2/Ada Berg",
		"JP en-US": "Ada Berg/Street 1/Flat 2/City, RG/123 45",
		"QA en-US": "Ada Berg/Street 1/Flat 2/City",
		"XX en-US": "Ada Berg/Street 1/Flat 2/City",
	} {
		code, locale, _ := strings.Cut(at, " ")
		require.Equal(t, want, strings.Join(addressform.For(code, locale).Lines("Ada Berg", texts), "/"), at)
	}
	us := addressform.For("US", "en-US")
	require.Equal(t, []string{"City 123 45"}, us.Lines("", map[string]string{"city": "City", "postalCode": "123 45"}))
	require.Empty(t, us.Lines("", nil))
}
