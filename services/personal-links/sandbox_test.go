package personallinks_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc/rpctest"
	"github.com/partnergifting/platform/pkg/telemetry"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links"
)

func TestOnlyTheSandboxServesTheMethodsOfTheSandbox(t *testing.T) {
	t.Parallel()
	rpctest.RequireOnlyInSandbox(t, linksv1.SandboxPersonalLinksService_ServiceDesc,
		func(t *testing.T, addr string, environment apikey.Environment) func(ctx context.Context) error {
			t.Helper()
			cfg := config(t)
			cfg.RPC.Addr, cfg.Environment = addr, environment
			require.NoError(t, personallinks.Program().Migrate(t.Context(), cfg, io.Discard))
			service, err := personallinks.New(t.Context(), cfg, telemetry.Discard())
			require.NoError(t, err)
			return service.Run
		})
}
