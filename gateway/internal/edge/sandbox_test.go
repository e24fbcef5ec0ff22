package edge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/apikey"
)

// sandboxPaths are the paths of all operations that exist only in the sandbox, with an id in place of each variable.
func sandboxPaths(t *testing.T) (paths []string) {
	t.Helper()
	table, err := operation.New(apikey.Sandbox)
	require.NoError(t, err)
	for _, op := range table.All() {
		if op.Sandbox == "" {
			continue
		}
		path := op.Path
		for _, field := range op.PathFields {
			path = strings.Replace(path, "{"+field+"}", uuid.NewString(), 1)
		}
		paths = append(paths, path)
	}
	require.NotEmpty(t, paths)
	return paths
}

func TestInProductionAPathOfTheSandboxIsAnUnknownPath(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Environment = apikey.Production }})
	unknown := f.Do(http.MethodPost, "/nothing", `{}`)
	require.Equal(t, http.StatusNotFound, unknown.Status)
	for _, path := range append(sandboxPaths(t), "/sandbox", "/sandbox/") {
		t.Run(path, func(t *testing.T) {
			got := f.For(t).Do(http.MethodPost, path, `{}`)
			require.Equal(t, http.StatusNotFound, got.Status)
			require.Equal(t, withoutInstance(unknown.Parsed), withoutInstance(got.Parsed))
			require.Empty(t, got.Header.Values("Sandbox"))
			require.Equal(t, http.StatusUnauthorized, f.For(t).Do(http.MethodPost, path, `{}`, "Authorization", "").Status)
		})
	}
}

func withoutInstance(problem map[string]any) map[string]any {
	delete(problem, "instance")
	return problem
}

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
