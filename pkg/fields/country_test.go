package fields_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
