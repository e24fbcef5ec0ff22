package catalog_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc/rpctest"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog"
)

func TestOnlyTheSandboxServesTheMethodsOfTheSandbox(t *testing.T) {
	t.Parallel()
	rpctest.RequireOnlyInSandbox(t, catalogv1.SandboxCatalogService_ServiceDesc,
		func(t *testing.T, addr string, environment apikey.Environment) func(ctx context.Context) error {
			t.Helper()
			cfg := config(t)
			cfg.RPC.Addr, cfg.Environment = addr, environment
			require.NoError(t, catalog.Migrate(t.Context(), cfg, io.Discard))
			service, err := catalog.New(t.Context(), cfg, telemetry.Discard())
			require.NoError(t, err)
			return service.Run
		})
}
