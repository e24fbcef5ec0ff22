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
