package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

func TestEstimatesRoundHalfUp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ amount, rate, want string }{
		{"10.00", "11.3", "113.00"},
		{"0.10", "0.05", "0.01"},         // 0.005
		{"0.10", "0.0499999999", "0.00"}, // just below
		{"1.00", "2.675", "2.68"},        // 2.675 is less than itself as a binary float
		{"1.15", "1.1", "1.27"},          // 1.265
		{"99999999.99", "1", "99999999.99"},
		{"99999999.99", "9999999999.9999999999", "999999999899999999.99"},
	} {
		got, err := rules.Estimate(tc.amount, tc.rate)
		require.NoError(t, err)
		require.Equal(t, tc.want, got, "%s × %s", tc.amount, tc.rate)
	}
	for _, bad := range [][2]string{{"", "1"}, {"1", "x"}} {
		_, err := rules.Estimate(bad[0], bad[1])
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
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, rules.Chosen(gift, tc.choice)) })
	}
	require.True(t, rules.Chosen(nil, nil), "a gift in one form only")
	require.False(t, rules.Chosen(nil, map[string]string{"Size": "M"}))
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
