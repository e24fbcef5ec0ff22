package rpc

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	mega       = 1 << 20
	placeOrder = ordersv1.OrdersService_PlaceOrder_FullMethodName
	listOrders = ordersv1.OrdersService_ListOrders_FullMethodName
)

// rawCodec sends the bytes of a request as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Name() string                         { return "proto" }

// fixture is a server whose calls wait to be released, with a budget of 48 MB.
type fixture struct {
	ordersv1.UnimplementedOrdersServiceServer
	server  *Server
	conn    *grpc.ClientConn
	entered chan int
	leave   chan struct{}
}

func (f *fixture) PlaceOrder(ctx context.Context, r *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	return &ordersv1.PlaceOrderResponse{}, f.wait(ctx, r)
}

func (f *fixture) ListOrders(ctx context.Context, r *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	return &ordersv1.ListOrdersResponse{}, f.wait(ctx, r)
}

func (f *fixture) wait(ctx context.Context, request proto.Message) error {
	f.entered <- proto.Size(request)
	select {
	case <-f.leave:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func setupMessages(t *testing.T) *fixture {
	t.Helper()
	return setupServer(t, Config{MessageBytes: 48 * mega})
}

func setupServer(t *testing.T, cfg Config) *fixture {
	t.Helper()
	f := &fixture{entered: make(chan int, 100), leave: make(chan struct{})}
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
func (f *fixture) send(ctx context.Context, method string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	return f.conn.Invoke(ctx, method, message, &emptypb.Empty{}, grpc.ForceCodecV2(rawCodec{}))
}

// message is an unknown field, so that every request can be of any size.
func message(size int) []byte {
	return append([]byte{0xfa, 0x7f, byte(size-6)&0x7f | 0x80, byte((size-6)>>7)&0x7f | 0x80, byte((size-6)>>14)&0x7f | 0x80, byte((size - 6) >> 21)},
		make([]byte, size-6)...)
}

func (f *fixture) held() int64 {
	f.server.messages.mu.Lock()
	defer f.server.messages.mu.Unlock()
	return f.server.messages.held
}

func declared(ctx context.Context, size int) context.Context {
	return metadata.AppendToOutgoingContext(ctx, sizeHeader, strconv.Itoa(size))
}

func requireFull(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
	p := problem.FromStatus(status.Convert(err))
	require.Equal(t, problem.ServiceUnavailable, p.Code)
	require.Equal(t, refusedWait, p.RetryAfter)
}

func TestLargeMessagesShareABudgetAndLeaveRoomForSmallOnes(t *testing.T) {
	t.Parallel()
	f := setupMessages(t)
	var calls errgroup.Group
	calls.Go(func() error { return f.send(t.Context(), placeOrder, message(30*mega)) })
	require.Equal(t, 30*mega, <-f.entered)
	require.EqualValues(t, 30*mega, f.held(), "what did not arrive is free again")

	requireFull(t, f.send(t.Context(), placeOrder, message(mega)))
	requireFull(t, f.send(declared(t.Context(), 7*mega), placeOrder, message(7*mega)))
	calls.Go(func() error { return f.send(declared(t.Context(), 6*mega), placeOrder, message(6*mega)) })
	require.Equal(t, 6*mega, <-f.entered)
	requireFull(t, f.send(declared(t.Context(), mega), placeOrder, message(mega)))
	calls.Go(func() error { return f.send(declared(t.Context(), leastMessage), placeOrder, message(1000)) })
	require.Equal(t, 1000, <-f.entered)
	_, err := healthpb.NewHealthClient(f.conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)

	close(f.leave)
	require.NoError(t, calls.Wait())
	require.Zero(t, f.held())
	require.NoError(t, f.send(t.Context(), placeOrder, message(30*mega)))
}

func TestAConnectionHasALimitOfCalls(t *testing.T) {
	t.Parallel()
	f := setupServer(t, Config{Calls: 2})
	var calls errgroup.Group
	for range 2 {
		calls.Go(func() error { return f.send(t.Context(), placeOrder, message(1000)) })
		<-f.entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Equal(t, codes.DeadlineExceeded, status.Code(f.send(ctx, placeOrder, message(1000))))
	require.Empty(t, f.entered, "the client did not send a third call")
	close(f.leave)
	require.NoError(t, calls.Wait())
	require.NoError(t, f.send(t.Context(), placeOrder, message(1000)))
}

func TestAMethodHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	f := setupMessages(t)
	close(f.leave)
	for name, tc := range map[string]struct {
		method   string
		declared int
		size     int
		code     codes.Code
	}{
		"a body of the API":             {placeOrder, 0, 5 * mega, codes.OK},
		"a request without a body":      {listOrders, 0, 4 * mega, codes.OK},
		"a byte more":                   {listOrders, 0, 4*mega + 1, codes.ResourceExhausted},
		"more than allowed is declared": {listOrders, 5 * mega, 1000, codes.ResourceExhausted},
		"less than sent is declared":    {placeOrder, mega, mega + 1, codes.ResourceExhausted},
		"nonsense is declared":          {placeOrder, -1, 5 * mega, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if tc.declared != 0 {
				ctx = declared(ctx, tc.declared)
			}
			require.Equal(t, tc.code, status.Code(f.send(ctx, tc.method, message(tc.size))))
			require.Zero(t, f.held())
		})
	}
	require.EqualValues(t, maxUpload, largestRequest("gifting.catalog.v1.CatalogOperationsService", "UploadImage"))
}

func TestTheClientsOfThePlatformDeclareSizes(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{0: "4096", 4096: "4096", 4097: "8192"} {
		request := &ordersv1.PlaceOrderRequest{}
		if size > 0 {
			request.ProtoReflect().SetUnknown(message(size))
		}
		err := DeclareSize(t.Context(), placeOrder, request, nil, nil,
			func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				sent, _ := metadata.FromOutgoingContext(ctx)
				require.Equal(t, []string{want}, sent.Get(sizeHeader))
				return nil
			})
		require.NoError(t, err)
	}
}

func TestARefusedCallersMessageIsNotDecoded(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	conn := connect(t, all(t, signer.Config(t, identity.Orders)), signer.Config(t, identity.Catalog))
	err := conn.Invoke(t.Context(), placeOrder, []byte("not protobuf"), &emptypb.Empty{}, grpc.ForceCodecV2(rawCodec{}))
	requireRefused(t, err, callerNotAllowed, identity.Catalog, "gifting.orders.v1.OrdersService")
}

func TestAMessageThatIsNotSentKeepsNoRoom(t *testing.T) {
	t.Parallel()
	f := setupMessages(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, placeOrder)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.held() == MaxMessageBytes }, 10*time.Second, time.Millisecond)
	cancel()
	require.Eventually(t, func() bool { return f.held() == 0 }, 10*time.Second, time.Millisecond)
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
		ctx, err := s.deadline(t.Context(), &tap.Info{FullMethodName: method})
		require.NoError(t, err)
		_, set := ctx.Deadline()
		require.Equal(t, bounded, set, method)
	}
}
