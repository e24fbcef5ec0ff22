package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

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
