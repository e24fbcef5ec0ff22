package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

func TestEstimatesRoundHalfUp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ amount, rate, currency, want string }{
		{"10.00", "11.3", "SEK", "113.00"},
		{"0.10", "0.05", "SEK", "0.01"},         // 0.005
		{"0.10", "0.0499999999", "SEK", "0.00"}, // just below
		{"1.00", "2.675", "SEK", "2.68"},        // 2.675 is less than itself as a binary float
		{"1.15", "1.1", "SEK", "1.27"},          // 1.265
		{"99999999.99", "1", "SEK", "99999999.99"},
		{"99999999.99", "9999999999.9999999999", "SEK", "999999999899999999.99"},
		{"89.99", "161.474", "JPY", "14531.00"}, // 14531.04526
		{"1.00", "161.5", "JPY", "162.00"},
		{"1.00", "161.4999999999", "JPY", "161.00"},
		{"1.15", "1.1", "KWD", "1.27"}, // Money has two decimals, also where the currency has three.
	} {
		got, err := rules.Estimate(tc.amount, tc.rate, tc.currency)
		require.NoError(t, err)
		require.Equal(t, tc.want, got, "%s × %s", tc.amount, tc.rate)
	}
	for _, bad := range [][2]string{{"", "1"}, {"1", "x"}} {
		_, err := rules.Estimate(bad[0], bad[1], "SEK")
		require.Error(t, err)
	}
}

func TestAChoiceHasOneValuePerDimension(t *testing.T) {
	t.Parallel()
	gift := []rules.Variation{{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Red"}}}
	for name, tc := range map[string]struct {
		choice map[string]string
		want   bool
	}{
		"complete":                     {map[string]string{"Size": "M", "Colour": "Red"}, true},
		"a dimension missing":          {map[string]string{"Size": "M"}, false},
		"a dimension too many":         {map[string]string{"Size": "M", "Colour": "Red", "Fit": "Slim"}, false},
		"another dimension instead":    {map[string]string{"Size": "M", "Fit": "Slim"}, false},
		"a value of another dimension": {map[string]string{"Size": "Red", "Colour": "Red"}, false},
		"another spelling":             {map[string]string{"Size": "m", "Colour": "Red"}, false},
		"a blank":                      {map[string]string{"Size": "M", "Colour": ""}, false},
		"a value with a blank":         {map[string]string{"Size": "M ", "Colour": "Red"}, false},
		"a dimension with a blank":     {map[string]string{" Size": "M", "Colour": "Red"}, false},
		"the beginning of a value":     {map[string]string{"Size": "M", "Colour": "Re"}, false},
		"a value and more":             {map[string]string{"Size": "M", "Colour": "Reds"}, false},
		"a long value":                 {map[string]string{"Size": "M", "Colour": strings.Repeat("R", 5000)}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, rules.IsExactChoice(gift, tc.choice)) })
	}
	require.True(t, rules.IsExactChoice(nil, nil), "a gift in one form only")
	require.False(t, rules.IsExactChoice(nil, map[string]string{"Size": "M"}))
}

// TestTextsThatLookTheSameAreTheSameChoice writes a dimension and a value composed and decomposed, on either side.
func TestTextsThatLookTheSameAreTheSameChoice(t *testing.T) {
	t.Parallel()
	const composed, decomposed, size, decomposedSize = "Gr\u00fcn", "Gru\u0308n", "Gr\u00f6\u00dfe", "Gro\u0308\u00dfe"
	for _, gift := range [][]rules.Variation{
		{{Dimension: size, Values: []string{"x", composed}}}, {{Dimension: decomposedSize, Values: []string{"x", decomposed}}},
	} {
		for _, choice := range []map[string]string{
			{size: composed}, {size: decomposed}, {decomposedSize: composed}, {decomposedSize: decomposed},
		} {
			require.True(t, rules.IsExactChoice(gift, choice))
			require.Equal(t, rules.VariationsKey(map[string]string{size: composed}), rules.VariationsKey(choice), "so both are of one stock")
		}
		both := map[string]string{size: composed, decomposedSize: composed}
		require.False(t, rules.IsExactChoice(gift, both))
		require.Equal(t, "Leave out what is not a dimension of the gift.", refusal(t, gift, both, nil))
	}
	var errs fields.Errors
	rules.ReadProduct(&catalogv1.PutProductRequest{
		Id: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", State: 1, Name: "Mug",
		Variations: []*catalogv1.Variation{
			{Dimension: size, Values: []string{composed, decomposed}}, {Dimension: decomposedSize, Values: []string{"x"}},
		},
	}, &errs)
	require.Equal(t, []string{"variations[0].values[1] duplicate", "variations[1].dimension duplicate"}, foundIn(&errs))
}

func foundIn(errs *fields.Errors) (found []string) {
	for _, v := range errs.List() {
		found = append(found, v.Field+" "+v.Code)
	}
	return found
}

func TestDifferentChoicesHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, choice := range []map[string]string{
		{}, {"a": "bc"}, {"ab": "c"}, {"a": "b", "c": "d"}, {"a": "d", "c": "b"}, {"a": "b\x00c", "d": ""}, {"": ""},
	} {
		key := string(rules.VariationsKey(choice))
		require.NotContains(t, seen, key, "choice %d", i)
		seen[key] = i
		require.Equal(t, key, string(rules.VariationsKey(choice)))
	}
	require.Equal(t, rules.VariationsKey(nil), rules.VariationsKey(map[string]string{}))
}

func TestMovesOfCountries(t *testing.T) {
	t.Parallel()
	region := rules.Region{Code: "NORDICS", Countries: []string{"DK", "FI", "SE"}}
	moves := region.Moves(map[string]string{"SE": "NORDICS", "FI": "BALTICS", "EE": "NORDICS", "NO": "NORDICS"})
	require.ElementsMatch(t, []rules.Move{
		{From: "BALTICS", To: "NORDICS"},
		{From: "", To: "NORDICS"},
		{From: "NORDICS", To: ""},
	}, moves)
	require.Empty(t, region.Moves(map[string]string{"SE": "NORDICS", "FI": "NORDICS", "DK": "NORDICS"}))
}

func TestATenantsCountriesDifferFromThoseOfTheGift(t *testing.T) {
	t.Parallel()
	shared := []string{"DE", "SE"}
	var o rules.Override
	set := func(country string, available bool) bool {
		t.Helper()
		changed, err := o.SetAvailable(shared, country, available)
		require.NoError(t, err)
		return changed
	}
	require.False(t, set("SE", true), "as for all tenants")
	require.False(t, set("NO", false))
	require.True(t, set("SE", false))
	require.False(t, set("SE", false), "again")
	require.True(t, set("NO", true))
	require.Equal(t, []string{"DE", "NO"}, o.Countries(shared))
	require.Equal(t, []string{"NO"}, o.Countries([]string{"NO", "SE"}), "if the gift changes for all tenants")
	require.True(t, set("SE", true))
	require.True(t, set("NO", false))
	require.Equal(t, rules.Override{Added: []string{}, Removed: []string{}}, o, "nothing differs")
	require.Equal(t, []string{"DE", "SE"}, shared)
}

func TestInvalidVariationsNameWhatMayBeChosen(t *testing.T) {
	t.Parallel()
	gift := []rules.Variation{{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Sea blue"}}}
	for name, tc := range map[string]struct {
		choice  map[string]string
		offered []map[string]string
		want    string
	}{
		"nothing":        {nil, nil, `Choose one value for "Size": "S", "M". Choose one value for "Colour": "Sea blue".`},
		"another value":  {map[string]string{"Size": "L", "Colour": "Sea blue"}, nil, `Choose one value for "Size": "S", "M".`},
		"an empty value": {map[string]string{"Size": "", "Colour": "Sea blue"}, nil, `Choose one value for "Size": "S", "M".`},
		"one too many": {
			map[string]string{"Size": "S", "Colour": "Sea blue", "Fit": "x"}, nil, "Leave out what is not a dimension of the gift.",
		},
		"another spelling": {
			map[string]string{"size": "S", "Colour": "Sea blue"},
			nil,
			`Choose one value for "Size": "S", "M". Leave out what is not a dimension of the gift.`,
		},
		"not in the campaign": {
			map[string]string{"Size": "S", "Colour": "Sea blue"},
			[]map[string]string{{"Size": "M", "Colour": "Sea blue"}},
			`The campaign does not offer the gift in these variations. It offers "Colour" "Sea blue" with "Size" "M".`,
		},
		"nothing in the campaign": {
			map[string]string{"Size": "S", "Colour": "Sea blue"}, nil, "The campaign does not offer the gift in these variations.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, refusal(t, gift, tc.choice, tc.offered))
		})
	}
}

func TestAnExplanationOfVariationsIsBounded(t *testing.T) {
	t.Parallel()
	var many []rules.Variation
	for i := range 10 {
		v := rules.Variation{Dimension: fmt.Sprintf("%d %s", i, strings.Repeat("d", 98))}
		for j := range 200 {
			v.Values = append(v.Values, fmt.Sprintf("%d %s", j, strings.Repeat("v", 10)))
		}
		many = append(many, v)
	}
	got := refusal(t, many, nil, nil)
	require.Less(t, len(got), 2500)
	require.Contains(t, got, "and 180 more")
}

// refusal is the detail with which an item of a campaign is refused.
func refusal(t *testing.T, variations []rules.Variation, choice map[string]string, offered []map[string]string) string {
	t.Helper()
	brand, active, offering, yes := "brand", rules.CampaignActive, rules.OfferingActive, true
	published := rules.Published
	found := rules.CheckItem(
		rules.Item{InCampaign: true, Reaches: func(string) bool { return true }, Variations: choice},
		rules.ItemFacts{
			CampaignBrandID: &brand, CampaignStatus: &active, OfferingStatus: &offering, ProductState: &published,
			Deliverable: &yes, Variations: variations, Offered: offered,
		})
	require.Len(t, found, 1)
	require.Equal(t, problem.InvalidVariations, found[0].Code)
	return found[0].Detail
}

func TestALocaleIsWrittenAsThoseOfTenantsAre(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{
		"fil-PH": "", "he": "", "id": "", "sr-Latn": "", "ca-valencia": "",
		"tl-PH": "must be written as fil-PH", "iw": "must be written as he", "in": "must be written as id",
		"sh": "must be written as sr-Latn", "sv-se": "must be written as sv-SE", "sv_": "must be a BCP 47 tag such as sv-SE",
	} {
		errs := &fields.Errors{}
		rules.ReadTranslations([]*catalogv1.ProductTranslation{{Locale: locale, Name: "Kumot"}}, errs)
		rules.ReadGreetings([]*catalogv1.CampaignGreeting{{Locale: locale, Text: "Kumusta"}}, errs)
		var found []problem.Violation
		if want != "" {
			found = []problem.Violation{
				{Field: "translations[0].locale", Code: problem.FieldInvalid, Message: want},
				{Field: "greetings[0].locale", Code: problem.FieldInvalid, Message: want},
			}
		}
		require.Equal(t, found, errs.List(), locale)
	}
}
