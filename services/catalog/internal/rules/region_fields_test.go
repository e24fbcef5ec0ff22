package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

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
