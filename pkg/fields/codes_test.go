package fields_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	iso4217 "golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/fields"
)

func TestTheListIsTheOfficialOne(t *testing.T) {
	t.Parallel()
	const officiallyAssigned = 249
	require.Len(t, fields.Countries(), officiallyAssigned)
	for _, code := range fields.Countries() {
		region, err := language.ParseRegion(code)
		require.NoError(t, err, code)
		require.True(t, region.IsCountry(), code)
		require.Equal(t, code, region.String())
	}
}

func TestOnlyExactCodesAreValid(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"SE", "IE", "AX"} {
		require.True(t, fields.IsCountry(code), code)
	}
	for _, code := range []string{"", "se", "SWE", "EU", "UK", "XK", "ZZ", "E ", " S", "D A"} {
		require.False(t, fields.IsCountry(code), code)
	}
}

func TestPostalCodes(t *testing.T) {
	t.Parallel()
	const listed = 48
	n := 0
	for _, code := range fields.Countries() {
		if fields.PostalCodeRequired(code) {
			n++
		}
	}
	require.Equal(t, listed, n)
	require.True(t, fields.PostalCodeRequired("SE"))
	require.True(t, fields.PostalCodeRequired("IL"))
	require.False(t, fields.PostalCodeRequired("IE"))
}

// TestTheListHasEveryLegalTender compares the list with the legal tenders of CLDR, which are of 2017: what differs was changed in
// ISO 4217 since, except that SVC is in its list although El Salvador pays with USD.
func TestTheListHasEveryLegalTender(t *testing.T) {
	t.Parallel()
	require.True(t, slices.IsSorted(fields.Currencies()))
	withdrawn := []string{"ANG", "BGN", "BYR", "CUC", "HRK", "MRO", "SLL", "STD", "VEF", "ZWL"}
	added := []string{"MRU", "SLE", "STN", "SVC", "VED", "VES", "XCG", "ZWG"}
	var tenders []string
	for tender := iso4217.Query(); tender.Next(); {
		tenders = append(tenders, tender.Unit().String())
	}
	for _, code := range tenders {
		if !slices.Contains(withdrawn, code) {
			require.True(t, fields.IsCurrency(code), code)
		}
	}
	for _, code := range fields.Currencies() {
		require.True(t, slices.Contains(tenders, code) || slices.Contains(added, code), code)
	}
	for _, code := range withdrawn {
		require.False(t, fields.IsCurrency(code), code)
	}
}

func TestOnlyExactCodesOfCurrenciesInUseAreActive(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"EUR", "SEK", "JPY", "AED", "ZWG"} {
		require.True(t, fields.IsCurrency(code), code)
	}
	for _, code := range []string{
		"", "eur", "EU", "EURO", "EUR ", " EUR", "E R", "ED ",
		// Metals, units of account, "no currency" and the code for tests.
		"XAU", "XAG", "XPT", "XPD", "XDR", "XSU", "XUA", "XBA", "XXX", "XTS",
		// Funds, and currencies that were withdrawn.
		"CHE", "CHW", "CLF", "COU", "BOV", "MXV", "USN", "UYI", "UYW", "DEM", "FRF", "ZWL", "HRK",
	} {
		require.False(t, fields.IsCurrency(code), code)
	}
}

func TestSomeCurrenciesHaveNoMinorUnits(t *testing.T) {
	t.Parallel()
	for _, code := range fields.Currencies() {
		// CLDR rounds more than ISO 4217: it says how amounts are usually shown.
		if scale, _ := iso4217.Standard.Rounding(iso4217.MustParseISO(known(code))); !fields.HasMinorUnits(code) {
			require.Zero(t, scale, code)
		}
	}
	for _, code := range []string{"JPY", "ISK", "KRW", "CLP", "VND", "XOF"} {
		require.False(t, fields.HasMinorUnits(code), code)
	}
	for _, code := range []string{"EUR", "SEK", "HUF", "KWD", "TWD", "CZK"} {
		require.True(t, fields.HasMinorUnits(code), code)
	}
}

// known is a code that CLDR has.
func known(code string) string {
	if _, err := iso4217.ParseISO(code); err != nil {
		return "EUR"
	}
	return code
}

func TestATextFallsBackToTheClosestLocale(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][]string{
		"en-US":      {"en-US", "en"},
		"sv-SE":      {"sv-SE", "sv", "en-US"},
		"sv":         {"sv", "sv-SE", "en-US"},
		"de-AT":      {"de-AT", "de", "de-DE", "en-US"},
		"en-GB":      {"en-GB", "en-001", "en", "en-US"},
		"pt-AO":      {"pt-AO", "pt-PT", "pt", "pt-BR", "en-US"},
		"es-MX":      {"es-MX", "es-419", "es", "es-ES", "en-US"},
		"zh-Hant-HK": {"zh-Hant-HK", "zh-Hant", "zh-Hant-TW", "en-US"},
		"ar":         {"ar", "ar-EG", "en-US"},
		"no locale":  {"no locale", "en-US"},
		"":           {"", "en-US"},
	} {
		require.Equal(t, want, fields.LocaleFallbacks(tag), tag)
	}
}
