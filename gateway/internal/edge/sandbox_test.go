package edge_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

func TestAnAnswerOfASandboxOperationNamesTheOperation(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const path = "/sandbox/orders/an-order:approve"
	for name, tc := range map[string]struct {
		headers []string
		want    int
	}{
		"a success":                {nil, http.StatusOK},
		"a problem of the service": {[]string{"Idempotency-Key", gatewaytest.Refused}, http.StatusConflict},
		"a problem of the edge":    {[]string{"Idempotency-Key", ""}, http.StatusBadRequest},
		"a key without the scope":  {[]string{"Authorization", "Bearer " + f.UnscopedKey()}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.For(t).Do(http.MethodPost, path, "{}", tc.headers...)
			require.Equal(t, tc.want, got.Status, got.Body)
			require.Equal(t, []string{"approve"}, got.Header.Values("Sandbox"))
		})
	}
	require.Empty(t, f.Do(http.MethodGet, "/orders", "").Header.Values("Sandbox"), "an operation that production has too")
}
