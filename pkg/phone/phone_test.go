package phone_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
)

func TestANumberOfACountryNeedsNoCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"070-123 45 67": "+46701234567", "+46 70 123 45 67": "+46701234567", "+46 (070) 123 45 67": "+46701234567",
		"0046701234567": "+46701234567", "+47 22 12 34 56": "+4722123456", "070/1234567": "+46701234567", "46701234567": "+46701234567",
		"tel:+46701234567": "+46701234567", " TEL:070-1234567": "+46701234567", "tel:": "", "mail:0701234567": "",
		"+46 +46701234567": "+46701234567", "+46 0046701234567": "+46701234567", "0046 +46 70 1234567": "+46701234567",
		"0046 0046701234567": "+46701234567",
		"+46 46 123 45 67":   "+46461234567", "046-123 45 67": "+46461234567", // Lund has the area code 46.
		"+46 +4722123456": "", "+46 004722123456": "", "+46 0701234567": "+46701234567", "+46 00701234567": "",
		"": "", "+46": "", "070": "", "call me": "", "+46 70 123 45 67 ext. 4": "", "0000": "", "++4670123456": "", "+0046701234567": "",
	} {
		got, ok := phone.ParseIn(text, "SE")
		require.Equal(t, want, got, text)
		require.Equal(t, want != "", ok, text)
	}
	_, ok := phone.ParseIn("070-123 45 67", "")
	require.False(t, ok, "of no country")
	indian, ok := phone.ParseIn("+91 91 2345 6789 0", "IN")
	require.True(t, ok)
	require.Equal(t, "+919123456789"+"0", indian, "a mobile phone whose number begins like its code")
}

// Some countries have a longer prefix for international calls than 00. It must not hide the numbers that begin with 00 alone, as
// people write them everywhere.
func TestAnInternationalNumberMayHaveThePrefixOfTheCountry(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"AU 0011 353 86 123 4567": "+353861234567", "AU 0011 61 412 345 678": "+61412345678", "AU 0046 70 123 45 67": "+46701234567",
		"AU tel:0011-353-86-1234567": "+353861234567", "HK 001 46 70 123 45 67": "+46701234567", "HK 00852 9123 4567": "+85291234567",
		"HK 001 212 555 0123": "+12125550123", "TH 001 46 70 123 45 67": "+46701234567", "TH 0046 70 123 45 67": "+46701234567",
		"TH 0066 65 312 3456": "+66653123456", "BR 0055 47 3222 1234": "+554732221234", "BR 0021 46 70 123 45 67": "+46701234567",
		"US 0046 70 123 45 67": "+46701234567", "JP 0046 70 123 45 67": "+46701234567", "AU 0011 353": "", "AU 0011": "",
	} {
		country, number, _ := strings.Cut(text, " ")
		got, _ := phone.ParseIn(number, country)
		require.Equal(t, want, got, text)
	}
}

func TestANumberIsReadAsItIsPasted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no-break spaces":        "+46\u00a070\u202f123\u00a045\u00a067",
		"other spaces":           "+46\u200970\u3000123\t45\u200b67",
		"dashes":                 "+46\u201070\u2011123\u201345\u201467\u2212",
		"marks of a contact":     "\u202a+46 70-123 45 67\u202c",
		"isolates and marks":     "\u2068\u200e+46 70-123 45 67\u200f\u2069",
		"full width":             "＋４６（０）７０－１２３．４５／６７",
		"Arabic-Indic digits":    "+٤٦٧٠١٢٣٤٥٦٧",
		"Persian digits":         "+۴۶۷۰۱۲۳۴۵۶۷",
		"Devanagari digits":      "+४६७०१२३४५६७",
		"mathematical digits":    "+𝟒𝟔𝟕𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕",
		"a slash and full stops": "+46 70/123.45.67",
	} {
		for _, parse := range []func(string) (string, bool){
			phone.Parse, func(text string) (string, bool) { return phone.ParseIn(text, "DE") },
		} {
			got, ok := parse(text)
			require.True(t, ok, name)
			require.Equal(t, "+46701234567", got, name)
		}
	}
}

func TestWhatIsTypedBehindTheCodeIsTheSameNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+46 70 123 45 67": "70 123 45 67", "+46701234567": "701234567", "0701234567": "0701234567",
		"+47 22 12 34 56": "+47 22 12 34 56", "070": "070", "": "", "+46 ": "+46 ", "+46 1": "+46 1",
	} {
		require.Equal(t, want, phone.WithoutCallingCode(text, "SE"), text)
	}
	for _, code := range fields.Countries() {
		if example := phone.Example(code); example != "" {
			number, _ := phone.Parse(example)
			behind, ok := phone.ParseIn(phone.WithoutCallingCode(example, code), code)
			require.True(t, ok, example)
			require.Equal(t, number, behind, example)
		}
	}
}

func TestParseReadsInternationalNumbersOnly(t *testing.T) {
	t.Parallel()
	valid := func(text string) bool {
		_, ok := phone.Parse(text)
		return ok
	}
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
	require.True(t, valid("+46 46 123 45 67"), "an area code like the country code")
	for _, text := range []string{
		"0701234567", "0046701234567", "+46", "+999123456", "+460046701234567", "+46 +46701234567", "++46701234567",
		"tel:+46701234567", "+46 00 70 1234567",
		"+4670123456A", "+46 ７０１２３４５６７ｘ", "+46²01234567",
	} {
		require.False(t, valid(text), text)
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
	for _, code := range fields.Countries() {
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
