package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

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
