package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const placeOrder = ordersv1.OrdersService_PlaceOrder_FullMethodName

// rawCodec sends the bytes of a request as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Name() string                         { return "proto" }

// fixture is a server whose calls wait to be released.
type fixture struct {
	ordersv1.UnimplementedOrdersServiceServer
	server  *Server
	conn    *grpc.ClientConn
	entered chan struct{}
	leave   chan struct{}
}

func (f *fixture) PlaceOrder(ctx context.Context, _ *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	f.entered <- struct{}{}
	select {
	case <-f.leave:
		return &ordersv1.PlaceOrderResponse{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func setupServer(t *testing.T, cfg Config) *fixture {
	t.Helper()
	f := &fixture{entered: make(chan struct{}, 100), leave: make(chan struct{})}
	var err error
	f.server, err = NewServer(cfg, telemetry.Discard())
	require.NoError(t, err)
	ordersv1.RegisterOrdersServiceServer(f.server, f)
	f.conn, err = grpc.NewClient(serve(t, f.server), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.conn.Close()) })
	return f
}

// send has a deadline, so that the server's own does not end a call on a busy machine.
func (f *fixture) send(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	return f.conn.Invoke(ctx, placeOrder, &ordersv1.PlaceOrderRequest{}, &emptypb.Empty{})
}

func TestAConnectionHasALimitOfCalls(t *testing.T) {
	t.Parallel()
	f := setupServer(t, Config{Calls: 2})
	var calls errgroup.Group
	for range 2 {
		calls.Go(func() error { return f.send(t.Context()) })
		<-f.entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Equal(t, codes.DeadlineExceeded, status.Code(f.send(ctx)))
	require.Empty(t, f.entered, "the client did not send a third call")
	close(f.leave)
	require.NoError(t, calls.Wait())
	require.NoError(t, f.send(t.Context()))
}

func TestARefusedCallersMessageIsNotDecoded(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	conn := connect(t, all(t, signer.Config(t, identity.Orders)), signer.Config(t, identity.Catalog))
	err := conn.Invoke(t.Context(), placeOrder, []byte("not protobuf"), &emptypb.Empty{}, grpc.ForceCodecV2(rawCodec{}))
	requireRefused(t, err, callerNotAllowed, identity.Catalog, "gifting.orders.v1.OrdersService")
}

func TestEveryCallButAStreamHasADeadline(t *testing.T) {
	t.Parallel()
	s, err := NewServer(Config{Addr: "127.0.0.1:0"}, telemetry.Discard())
	require.NoError(t, err)
	eventsv1.RegisterFeedNoticesServiceServer(s, eventsv1.UnimplementedFeedNoticesServiceServer{})
	for method, bounded := range map[string]bool{
		placeOrder:                           true,
		healthpb.Health_Watch_FullMethodName: false,
		eventsv1.FeedNoticesService_WatchFeed_FullMethodName: false,
	} {
		ctx, err := s.tap(t.Context(), &tap.Info{FullMethodName: method})
		require.NoError(t, err)
		_, set := ctx.Deadline()
		require.Equal(t, bounded, set, method)
	}
}
