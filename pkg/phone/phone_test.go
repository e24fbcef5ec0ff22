package phone_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/phone"
)

func TestANumberOfACountryNeedsNoCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"070-123 45 67": "+46701234567", "+46 70 123 45 67": "+46701234567", "+46 (070) 123 45 67": "+46701234567",
		"0046701234567": "+46701234567", "+47 22 12 34 56": "+4722123456",
		"": "", "+46": "", "070": "", "call me": "", "+46 70 123 45 67 ext. 4": "", "0000": "", "++4670123456": "",
	} {
		got, ok := phone.ParseIn(text, "SE")
		require.Equal(t, want, got, text)
		require.Equal(t, want != "", ok, text)
	}
	_, ok := phone.ParseIn("070-123 45 67", "")
	require.False(t, ok, "of no country")
}

func TestParseReadsInternationalNumbersOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+46 (0)70-123.45 67": "+46701234567", // The trunk prefix is not part of the number.
		" +46 70-123 45 67 ":  "+46701234567",
		"+1 (212) 555-0100":   "+12125550100",
		" +353 1 234 5678 ":   "+35312345678",
	} {
		got, ok := phone.Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"0701234567", "0046701234567", "+46", "+999123456"} {
		_, ok := phone.Parse(text)
		require.False(t, ok, text)
	}
}

func TestANumberIsShownInGroups(t *testing.T) {
	t.Parallel()
	require.Equal(t, "+46 70 123 45 67", phone.Spaced("+46701234567"))
	require.Equal(t, "070", phone.Spaced("070"))
}

func TestACountryHasAnExampleThatCanBeRead(t *testing.T) {
	t.Parallel()
	require.Equal(t, "+46 70 123 45 67", phone.Example("SE"))
	require.Empty(t, phone.Example("AQ"))
	for _, code := range country.All() {
		if example := phone.Example(code); example != "" {
			_, ok := phone.Parse(example)
			require.True(t, ok, example)
			require.True(t, strings.HasPrefix(example, phone.CallingCode(code)+" "), example)
		}
	}
}

func TestCountriesHaveCallingCodes(t *testing.T) {
	t.Parallel()
	for country, code := range map[string]string{"SE": "+46", "US": "+1", "GB": "+44", "AX": "+358", "AQ": "", "": ""} {
		require.Equal(t, code, phone.CallingCode(country), country)
	}
}
