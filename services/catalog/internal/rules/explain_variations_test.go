package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

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
