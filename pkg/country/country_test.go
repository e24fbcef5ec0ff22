package country_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/country"
)

func TestTheListIsTheOfficialOne(t *testing.T) {
	t.Parallel()
	const officiallyAssigned = 249
	require.Len(t, country.All(), officiallyAssigned)
	for _, code := range country.All() {
		region, err := language.ParseRegion(code)
		require.NoError(t, err, code)
		require.True(t, region.IsCountry(), code)
		require.Equal(t, code, region.String())
	}
}

func TestOnlyExactCodesAreValid(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"SE", "IE", "AX"} {
		require.True(t, country.Valid(code), code)
	}
	for _, code := range []string{"", "se", "SWE", "EU", "UK", "XK", "ZZ", "E ", " S", "D A"} {
		require.False(t, country.Valid(code), code)
	}
}

func TestPostalCodes(t *testing.T) {
	t.Parallel()
	const listed = 48
	n := 0
	for _, code := range country.All() {
		if country.PostalCodeRequired(code) {
			n++
		}
	}
	require.Equal(t, listed, n)
	require.True(t, country.PostalCodeRequired("SE"))
	require.True(t, country.PostalCodeRequired("IL"))
	require.False(t, country.PostalCodeRequired("IE"))
}
