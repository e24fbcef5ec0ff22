package catalog_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog"
)

// Unless it is told that it is in the sandbox, the service does not even know the methods.
func TestOnlyTheSandboxServesTheMethodsOfTheSandbox(t *testing.T) {
	t.Parallel()
	for environment, known := range map[apikey.Environment]bool{apikey.Sandbox: true, apikey.Production: false, "": false} {
		t.Run("in "+string(environment), func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			cfg.RPC.Addr, cfg.Environment = testenv.FreeAddr(t), environment
			require.NoError(t, catalog.Migrate(t.Context(), cfg, io.Discard))
			service, err := catalog.New(t.Context(), cfg, telemetry.Discard())
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- service.Run(ctx) }()
			conn, err := rpc.Dial(rpc.Target{Addr: cfg.RPC.Addr}, telemetry.Discard())
			require.NoError(t, err)
			for _, method := range catalogv1.SandboxCatalogService_ServiceDesc.Methods {
				name := "/" + catalogv1.SandboxCatalogService_ServiceDesc.ServiceName + "/" + method.MethodName
				err := conn.Invoke(t.Context(), name, &emptypb.Empty{}, &emptypb.Empty{}, grpc.WaitForReady(true))
				require.Error(t, err) // There is no principal.
				require.Equal(t, known, !strings.Contains(err.Error(), "Unimplemented: unknown service"), "%s: %v", method.MethodName, err)
			}
			require.NoError(t, conn.Close())
			stop()
			require.NoError(t, <-ended)
		})
	}
}
