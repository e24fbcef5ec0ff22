package operation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/apikey"
)

func TestProductionHasNoOperationOfTheSandbox(t *testing.T) {
	t.Parallel()
	production, err := operation.New(apikey.Production)
	require.NoError(t, err)
	sandbox, err := operation.New(apikey.Sandbox)
	require.NoError(t, err)
	for _, op := range production.All() {
		require.False(t, strings.HasPrefix(op.Path, "/sandbox"), op.Path)
		require.Empty(t, op.Sandbox, op.Path)
	}
	added := 0
	for _, op := range sandbox.All() {
		if found, _ := production.Find(op.Method, op.Path); found != nil {
			continue
		}
		t.Run(op.Path, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				found, allowed := production.Find(method, op.Path)
				require.Nil(t, found)
				require.Empty(t, allowed, "a path that production does not know")
			}
			require.True(t, strings.HasPrefix(op.Path, operation.SandboxPrefix))
			require.NotEmpty(t, op.Sandbox)
			require.Equal(t, http.MethodPost, op.Method)
		})
		added++
	}
	require.Len(t, sandbox.All(), len(production.All())+added)
	require.NotZero(t, added)
}
