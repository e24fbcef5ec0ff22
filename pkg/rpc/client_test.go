package rpc

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// grpc-go returns an error without a status if it gives up a call and the last attempt was answered before the request was written.
func TestACallWhoseStatusWasLostIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	const later = "/gifting.webhook.v1.WebhookService/Later"
	lost := fmt.Errorf("max retries exhausted: failed after 4 attempts: %w", io.EOF)
	unimplemented := status.Error(codes.Unimplemented, "unknown method")
	for name, test := range map[string]struct {
		method  string
		answers []error
		want    problem.Code
		older   bool
	}{
		"and succeeds then":       {later, []error{lost, nil}, "", false},
		"and has a status then":   {later, []error{lost, unimplemented}, problem.ServiceUnavailable, true},
		"and is lost again":       {later, []error{lost, lost}, problem.ServiceUnavailable, false},
		"and is lost as bare EOF": {later, []error{io.EOF, io.EOF}, problem.ServiceUnavailable, false},
		"unless it would make a key twice": {
			tenantsv1.TenantOperationsService_CreateKey_FullMethodName, []error{lost}, problem.ServiceUnavailable, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left, ofCaller := test.answers, 0
			own := func(
				ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
			) error {
				ofCaller++
				return invoke(ctx, method, req, reply, cc, opts...)
			}
			answer := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
				next := left[0]
				left = left[1:]
				return next
			}
			tel := telemetry.Discard()
			all := newOlderPeers("webhook", tel.Logger).interceptors(tel, []grpc.UnaryClientInterceptor{own})
			conn, err := grpc.NewClient("passthrough:///nowhere", grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithDefaultServiceConfig(serviceConfig), grpc.WithChainUnaryInterceptor(append(all, answer)...))
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			conn.Connect()
			configured := func() bool { return conn.GetMethodConfig(test.method).RetryPolicy != nil }
			require.Eventually(t, configured, 30*time.Second, time.Millisecond)
			err = conn.Invoke(t.Context(), test.method, &emptypb.Empty{}, &emptypb.Empty{})
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.True(t, problem.Is(err, test.want), "%v", err)
			}
			require.Equal(t, test.older, RefusedByOlder(err))
			require.Empty(t, left)
			require.Equal(t, 1, ofCaller, "the interceptor of the caller")
		})
	}
}
