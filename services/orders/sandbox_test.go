package orders_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc/rpctest"
	"github.com/partnergifting/platform/pkg/telemetry"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders"
)

func TestOnlyTheSandboxServesTheMethodsOfTheSandbox(t *testing.T) {
	t.Parallel()
	rpctest.RequireOnlyInSandbox(t, ordersv1.SandboxOrdersService_ServiceDesc,
		func(t *testing.T, addr string, environment apikey.Environment) func(ctx context.Context) error {
			t.Helper()
			cfg := config(t)
			cfg.RPC.Addr, cfg.Environment = addr, environment
			require.NoError(t, orders.Program().Migrate(t.Context(), cfg, io.Discard))
			service, err := orders.New(t.Context(), cfg, telemetry.Discard())
			require.NoError(t, err)
			return service.Run
		})
}
