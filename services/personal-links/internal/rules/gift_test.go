package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func TestAPageWritesWhatIsInStockAsItsGiftDoes(t *testing.T) {
	t.Parallel()
	gift := &catalogv1.SelectionGift{
		Variations: []*catalogv1.Variation{{Dimension: "Gr\u00f6\u00dfe", Values: []string{"Ros\u00e9", "Red"}}},
		Skus: []*catalogv1.SelectionSku{
			{Variations: map[string]string{"Gro\u0308\u00dfe": "Rose\u0301"}, StockRemaining: new(int32(1))},
		},
	}
	page := rules.PreviewPage(nil, "", "de-DE", nil,
		&catalogv1.ListSelectionGiftsResponse{Open: true, Gifts: []*catalogv1.SelectionGift{gift}})
	require.Equal(t, map[string]string{"Gr\u00f6\u00dfe": "Ros\u00e9"}, page.GetGifts()[0].GetChoices()[0].GetVariations())
}

func TestAPageSaysWhatItsGiftIs(t *testing.T) {
	t.Parallel()
	gift := &catalogv1.SelectionGift{
		Details:         &catalogv1.GiftDetails{Story: "Blown by hand."},
		Images:          []*catalogv1.Image{{Url: "https://img.example.com/1"}, {Url: "https://img.example.com/2"}},
		ImageVariations: []*catalogv1.ImageVariations{{FileId: "2", Variations: map[string]string{"Colour": "Navy"}}},
	}
	page := rules.PreviewPage(nil, "", "de-DE", nil,
		&catalogv1.ListSelectionGiftsResponse{Open: true, Gifts: []*catalogv1.SelectionGift{gift}})
	require.Equal(t, "Blown by hand.", page.GetGifts()[0].GetDetails().GetStory())
	require.Empty(t, page.GetGifts()[0].GetImages()[0].GetVariations())
	require.Equal(t, map[string]string{"Colour": "Navy"}, page.GetGifts()[0].GetImages()[1].GetVariations())
}

func TestAPlayerChoosesOneOfferedValuePerDimension(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "Gr\u00fcn", "Gru\u0308n"
	onDemand := &catalogv1.SelectionGift{
		Countries: []string{"SE"}, Variations: []*catalogv1.Variation{{Dimension: "Colour", Values: []string{composed, "Red"}}},
	}
	stocked := &catalogv1.SelectionGift{
		Countries: onDemand.GetCountries(), Variations: onDemand.GetVariations(),
		Skus: []*catalogv1.SelectionSku{
			{Variations: map[string]string{"Colour": decomposed}, StockRemaining: new(int32(1))},
			{Variations: map[string]string{"Colour": "Red"}, StockRemaining: new(int32(1))},
		},
	}
	for name, tc := range map[string]struct {
		choice map[string]string
		ok     bool
	}{
		"a value":                    {map[string]string{"Colour": "Red"}, true},
		"a composed value":           {map[string]string{"Colour": composed}, true},
		"a decomposed value":         {map[string]string{"Colour": decomposed}, true},
		"nothing":                    {nil, false},
		"another value":              {map[string]string{"Colour": "Blue"}, false},
		"another case":               {map[string]string{"Colour": "red"}, false},
		"a value with a blank":       {map[string]string{"Colour": "Red "}, false},
		"the beginning of a value":   {map[string]string{"Colour": "Re"}, false},
		"a value and more":           {map[string]string{"Colour": "Reds"}, false},
		"a long value":               {map[string]string{"Colour": strings.Repeat("R", 5000)}, false},
		"a value that no record has": {map[string]string{"Colour": "Red\x00"}, false},
		"another dimension":          {map[string]string{"colour": "Red"}, false},
		"a dimension too many":       {map[string]string{"Colour": "Red", "Size": "M"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, gift := range []*catalogv1.SelectionGift{onDemand, stocked} {
				err := rules.CheckGift(gift, tc.choice, "SE")
				if tc.ok {
					require.NoError(t, err)
				} else {
					require.True(t, problem.Is(err, problem.InvalidVariations), "%v", err)
				}
			}
		})
	}
}
