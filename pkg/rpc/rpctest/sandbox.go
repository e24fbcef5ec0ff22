// Package rpctest has tests that the gRPC servers of several services share.
package rpctest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

// RequireOnlyInSandbox starts a program in each environment, and requires that only that of the sandbox knows the methods of the
// gRPC service. start makes the program, which listens at the address, and returns its Run.
func RequireOnlyInSandbox(
	t *testing.T, service grpc.ServiceDesc,
	start func(t *testing.T, addr string, environment apikey.Environment) (run func(ctx context.Context) error),
) {
	t.Helper()
	for environment, known := range map[apikey.Environment]bool{apikey.Sandbox: true, apikey.Production: false, "": false} {
		t.Run("in "+string(environment), func(t *testing.T) {
			t.Parallel()
			addr := testenv.FreeAddr(t)
			run := start(t, addr, environment)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(ctx) }()
			conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
			require.NoError(t, err)
			require.NotEmpty(t, service.Methods)
			for _, method := range service.Methods {
				err := conn.Invoke(t.Context(), "/"+service.ServiceName+"/"+method.MethodName, &emptypb.Empty{}, &emptypb.Empty{},
					grpc.WaitForReady(true))
				require.Error(t, err) // There is no principal.
				require.Equal(t, known, !strings.Contains(err.Error(), "unknown service"), "%s: %v", method.MethodName, err)
			}
			require.NoError(t, conn.Close())
			stop()
			require.NoError(t, <-ended)
		})
	}
}
