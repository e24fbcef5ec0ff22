package rpc_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

type service struct {
	webhookv1.UnimplementedWebhookServiceServer
	handle func(ctx context.Context) error
}

func (s service) TestWebhook(ctx context.Context, _ *webhookv1.TestWebhookRequest) (*webhookv1.TestWebhookResponse, error) {
	return &webhookv1.TestWebhookResponse{}, s.handle(ctx)
}

func setup(t *testing.T, handle func(ctx context.Context) error, collectors ...string) (*grpc.ClientConn, func() error) {
	t.Helper()
	return start(t, telemetry.Discard(), handle, collectors...)
}

// start serves handle on a free port and returns a connection to it and a way to stop the server. Both report to tel.
func start(
	t *testing.T, tel *telemetry.Telemetry, handle func(ctx context.Context) error, collectors ...string,
) (conn *grpc.ClientConn, stop func() error) {
	t.Helper()
	addr := testenv.FreeAddr(t)
	server, err := rpc.NewServer(rpc.Config{Addr: addr}, tel, collectors...)
	require.NoError(t, err)
	webhookv1.RegisterWebhookServiceServer(server, service{handle: handle})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	conn, err = rpc.Dial(rpc.Target{Addr: addr}, tel)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		r, err := healthpb.NewHealthClient(conn).Check(t.Context(),
			&healthpb.HealthCheckRequest{Service: "gifting.webhook.v1.WebhookService"})
		return err == nil && r.GetStatus() == healthpb.HealthCheckResponse_SERVING
	}, 30*time.Second, 5*time.Millisecond)
	stop = func() error { cancel(); return <-done }
	t.Cleanup(func() { cancel(); _ = conn.Close() })
	return conn, stop
}

func call(ctx context.Context, conn *grpc.ClientConn) error {
	_, err := webhookv1.NewWebhookServiceClient(conn).TestWebhook(ctx, &webhookv1.TestWebhookRequest{})
	return err
}

func TestErrorsOfAHandler(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		handle func(context.Context) error
		want   problem.Code
	}{
		"a problem arrives as itself": {
			func(context.Context) error { return problem.New(problem.OutOfStock, "none") }, problem.OutOfStock,
		},
		"any other error is hidden":    {func(context.Context) error { return errors.New("secret cause") }, problem.InternalError},
		"a panic is an internal error": {func(context.Context) error { panic("secret cause") }, problem.InternalError},
		"a database that is down is reported": {
			func(context.Context) error { return &net.OpError{Op: "dial", Err: errors.New("refused")} },
			problem.ServiceUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := setup(t, tc.handle)
			err := call(t.Context(), conn)
			require.True(t, problem.Is(err, tc.want), "%v", err)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestPrincipalAndRequestReachTheHandler(t *testing.T) {
	t.Parallel()
	sent := caller.Principal{TenantID: "t", KeyID: 7, BrandIDs: []string{"b"}, TenantVersion: 3, Cell: "b", Moving: true}
	req := caller.Request{IdempotencyKey: "k", Fingerprint: []byte{0, 1, 255}, OtherFingerprints: [][]byte{{2}, {3}}, ID: "trace"}
	req.IfMatch = &caller.Condition{Tags: []string{`"a"`}}
	conn, _ := setup(t, func(ctx context.Context) error {
		p, err := caller.PrincipalFrom(ctx)
		if err != nil {
			return err
		}
		require.Equal(t, sent, p)
		require.Equal(t, req, caller.RequestFrom(ctx))
		return nil
	})
	whole := req
	whole.IfMatch = &caller.Condition{Tags: []string{`"a"`, "\"\xff\""}} // No record has a tag that is not UTF-8.
	ctx, err := caller.Outgoing(t.Context(), sent, whole)
	require.NoError(t, err)
	require.NoError(t, call(ctx, conn))
	require.True(t, problem.Is(call(t.Context(), conn), problem.InvalidAPIKey))
}

func TestAnInvalidRequestRunsOnlyWhereViolationsAreCollected(t *testing.T) {
	t.Parallel()
	violation := problem.Violation{Field: "urgent", Code: problem.FieldInvalid, Message: "must be a boolean"}
	ctx, err := caller.Outgoing(t.Context(), caller.Principal{}, caller.Request{Violations: []problem.Violation{violation}})
	require.NoError(t, err)

	ran := false
	handle := func(context.Context) error { ran = true; return nil }
	conn, _ := setup(t, handle)
	p, ok := problem.As(call(ctx, conn))
	require.True(t, ok)
	require.Equal(t, []problem.Violation{violation}, p.Violations)
	require.False(t, ran)

	conn, _ = setup(t, handle, webhookv1.WebhookService_TestWebhook_FullMethodName)
	require.NoError(t, call(ctx, conn))
	require.True(t, ran)
}

func TestTheEndWaitsForRunningCalls(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	conn, stop := setup(t, func(context.Context) error { close(entered); <-release; return nil })
	answered, stopped := make(chan error, 1), make(chan error, 1)
	go func() { answered <- call(t.Context(), conn) }()
	<-entered
	go func() { stopped <- stop() }()
	require.Eventually(t, func() bool { return call(t.Context(), conn) != nil }, 30*time.Second, 10*time.Millisecond,
		"new calls are refused")
	close(release)
	require.NoError(t, <-answered)
	require.NoError(t, <-stopped)
}

func TestPlainTextStaysOnLoopback(t *testing.T) {
	t.Parallel()
	server, err := rpc.NewServer(rpc.Config{Addr: "0.0.0.0:0"}, telemetry.Discard())
	require.NoError(t, err)
	require.Error(t, server.Run(t.Context()))
	_, err = rpc.Dial(rpc.Target{Addr: "orders.example.com:443"}, telemetry.Discard())
	require.Error(t, err)
}
