package rpc_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

const waitLimit, often = 30 * time.Second, 5 * time.Millisecond

// instance is a server that can be ended and started again at its address.
type instance struct {
	addr     string
	lameDuck time.Duration
	handle   func(ctx context.Context) error
	calls    atomic.Int64

	server *rpc.Server
	cancel context.CancelFunc
	done   chan error
}

func newInstance(t *testing.T, lameDuck time.Duration, handle func(ctx context.Context) error) *instance {
	t.Helper()
	i := &instance{addr: testenv.FreeAddr(t), lameDuck: lameDuck, handle: handle}
	i.start(t)
	t.Cleanup(func() { i.cancel() })
	return i
}

func (i *instance) start(t *testing.T) {
	t.Helper()
	var err error
	i.server, err = rpc.NewServer(rpc.Config{Addr: i.addr, LameDuck: i.lameDuck}, telemetry.Discard())
	require.NoError(t, err)
	webhookv1.RegisterWebhookServiceServer(i.server, service{handle: func(ctx context.Context) error {
		i.calls.Add(1)
		return i.handle(ctx)
	}})
	var ctx context.Context
	ctx, i.cancel = context.WithCancel(t.Context())
	i.done = make(chan error, 1)
	go func() { i.done <- i.server.Run(ctx) }()
	require.Eventually(t, func() bool { return i.server.Ready(t.Context()) == nil }, waitLimit, often)
}

func (i *instance) end(t *testing.T) {
	t.Helper()
	i.cancel()
	require.NoError(t, <-i.done)
}

func dialAll(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func nothing(context.Context) error { return nil }

func TestCallsGoToEveryInstance(t *testing.T) {
	t.Parallel()
	a, b := newInstance(t, 0, nothing), newInstance(t, 0, nothing)
	conn := dialAll(t, a.addr+","+b.addr)
	require.Eventually(t, func() bool {
		require.NoError(t, call(t.Context(), conn))
		return a.calls.Load() > 2 && b.calls.Load() > 2
	}, waitLimit, often)
}

func TestAListOfInstancesMayHaveSpaces(t *testing.T) {
	t.Parallel()
	a, b := newInstance(t, 0, nothing), newInstance(t, 0, nothing)
	conn := dialAll(t, a.addr+", "+b.addr)
	a.end(t)
	require.NoError(t, call(t.Context(), conn))
	require.EqualValues(t, 1, b.calls.Load())

	old := anyMethod(t, func(*grpc.Server) error { return nil }) // It reports no level.
	peer, err := rpc.NewPeer(rpc.Target{Service: identity.Orders, Addr: b.addr + ", " + old}, telemetry.Discard())
	require.NoError(t, err)
	require.ErrorContains(t, peer.Check(t.Context(), identity.Gateway), "orders at "+old+" has contract level 0")
}

func TestInstancesThatRestartInTurnFailNoCall(t *testing.T) {
	t.Parallel()
	const lameDuck = 300 * time.Millisecond
	a, b := newInstance(t, lameDuck, nothing), newInstance(t, lameDuck, nothing)
	conn := dialAll(t, a.addr+","+b.addr)
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = call(t.Context(), conn)
		}
		failed <- err
	}()
	for _, i := range []*instance{a, b, a, b} {
		i.end(t)
		i.start(t)
		before := i.calls.Load()
		require.Eventually(t, func() bool { return i.calls.Load() > before }, waitLimit, often, "clients do not come back to it")
	}
	stop()
	require.NoError(t, <-failed)
}

func TestALameDuckTakesCallsAndReportsThatItEnds(t *testing.T) {
	t.Parallel()
	i := newInstance(t, time.Second, nothing)
	conn := dialAll(t, i.addr)
	require.NoError(t, call(t.Context(), conn))
	i.cancel()
	require.Eventually(t, func() bool { return i.server.Ready(t.Context()) != nil }, waitLimit, often)
	require.Eventually(t, func() bool {
		health, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		require.NoError(t, err)
		return health.GetStatus() == healthpb.HealthCheckResponse_NOT_SERVING
	}, waitLimit, often)
	require.NoError(t, call(t.Context(), conn))
	require.NoError(t, <-i.done)
}

func TestTheEndDoesNotWaitForIdleClients(t *testing.T) {
	t.Parallel()
	const belowDrainTimeout = 10 * time.Second
	requireQuickEnd := func(t *testing.T, i *instance) {
		t.Helper()
		began := time.Now()
		i.end(t)
		require.Less(t, time.Since(began), belowDrainTimeout)
	}
	t.Run("a client that watches health", func(t *testing.T) {
		t.Parallel()
		i := newInstance(t, 0, nothing)
		watch, err := healthpb.NewHealthClient(dialAll(t, i.addr)).Watch(t.Context(), &healthpb.HealthCheckRequest{})
		require.NoError(t, err)
		_, err = watch.Recv()
		require.NoError(t, err)
		requireQuickEnd(t, i)
	})
	t.Run("a client that connects and sends nothing", func(t *testing.T) {
		t.Parallel()
		i := newInstance(t, 0, nothing)
		silent, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", i.addr)
		require.NoError(t, err)
		defer func() { _ = silent.Close() }()
		// The server accepts connections in order, so it has the silent one when this call is answered.
		require.NoError(t, call(t.Context(), dialAll(t, i.addr)))
		requireQuickEnd(t, i)
	})
}

func TestACallIsRepeatedOnlyIfItsInstanceDied(t *testing.T) {
	t.Parallel()
	t.Run("a call whose instance died goes to another one", func(t *testing.T) {
		b := newInstance(t, 0, nothing)
		var a *instance
		a = newInstance(t, 0, func(ctx context.Context) error {
			a.server.Stop() // Like a kill: the connection breaks during the call.
			<-ctx.Done()
			return nil
		})
		conn := dialAll(t, a.addr+","+b.addr)
		require.Eventually(t, func() bool {
			require.NoError(t, call(t.Context(), conn))
			return a.calls.Load() > 0
		}, waitLimit, often)
	})
	t.Run("a server that lacks its database is not asked again", func(t *testing.T) {
		unavailable := func(context.Context) error { return problem.Unavailable() }
		i := newInstance(t, 0, unavailable)
		require.True(t, problem.Is(call(t.Context(), dialAll(t, i.addr)), problem.ServiceUnavailable))
		require.EqualValues(t, 1, i.calls.Load())
	})
}

// anyMethod serves every method with a handler that gets the server, and returns its address.
func anyMethod(t *testing.T, handle func(s *grpc.Server) error) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var s *grpc.Server
	s = grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
		if err := handle(s); err != nil {
			return err
		}
		return stream.SendMsg(&emptypb.Empty{})
	}))
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

func TestACallThatWouldHaveASecondEffectIsNotRepeated(t *testing.T) {
	t.Parallel()
	answers := func(*grpc.Server) error { return nil }
	for _, method := range []string{
		tenantsv1.TenantOperationsService_CreateKey_FullMethodName,
		tenantsv1.TenantOperationsService_RotateWebhookSecret_FullMethodName,
		linksv1.GiftSiteService_ReopenClaimedGift_FullMethodName,
	} {
		t.Run(method, func(t *testing.T) {
			var died atomic.Bool
			dying := anyMethod(t, func(s *grpc.Server) error {
				died.Store(true)
				s.Stop() // The call may have had its effect, and its answer is lost.
				return nil
			})
			conn := dialAll(t, dying+","+anyMethod(t, answers))
			require.Eventually(t, func() bool {
				err := conn.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{})
				require.Equal(t, died.Load(), problem.Is(err, problem.ServiceUnavailable), "%v", err)
				return died.Load()
			}, waitLimit, often)
		})
		t.Run(method+" unless the first server was too old", func(t *testing.T) {
			var refused atomic.Bool
			older := anyMethod(t, func(*grpc.Server) error {
				refused.Store(true)
				return status.Error(codes.Unimplemented, "unknown method")
			})
			conn := dialAll(t, older+","+anyMethod(t, answers))
			require.Eventually(t, func() bool {
				require.NoError(t, conn.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}))
				return refused.Load()
			}, waitLimit, often)
		})
	}
}
