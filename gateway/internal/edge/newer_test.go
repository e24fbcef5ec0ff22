package edge_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// bytesCodec passes messages on as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (bytesCodec) Name() string { return "proto" }

// fromNewer forwards calls to a service as a gateway of a later release would make them: the condition If-Match is a field that the
// service does not know, and orders are read by a method that it does not have.
func fromNewer(t *testing.T, service string) (addr string) {
	t.Helper()
	conn, err := grpc.NewClient(service, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(bytesCodec{})))
	require.NoError(t, err)
	forward := func(_ any, stream grpc.ServerStream) error {
		var req, resp []byte
		if err := stream.RecvMsg(&req); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		method = strings.Replace(method, "/GetOrder", "/GetOrderLater", 1)
		if err := conn.Invoke(withLaterCondition(t, stream.Context()), method, &req, &resp); err != nil {
			return err
		}
		return stream.SendMsg(&resp)
	}
	proxy := grpc.NewServer(grpc.UnknownServiceHandler(forward), grpc.ForceServerCodecV2(bytesCodec{}))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = proxy.Serve(listener) }()
	t.Cleanup(func() {
		proxy.Stop()
		require.NoError(t, conn.Close())
	})
	return listener.Addr().String()
}

func withLaterCondition(t *testing.T, ctx context.Context) context.Context { //nolint:revive // Helpers begin with t.
	t.Helper()
	const header, unknownField = "gifting-request-bin", 99
	md, _ := metadata.FromIncomingContext(ctx)
	for i, raw := range md.Get(header) {
		var req commonv1.Request
		require.NoError(t, proto.Unmarshal([]byte(raw), &req))
		condition := req.GetIfMatch()
		req.IfMatch = nil
		later, err := proto.Marshal(&req)
		require.NoError(t, err)
		if condition != nil {
			unread, err := proto.Marshal(condition)
			require.NoError(t, err)
			later = protowire.AppendBytes(protowire.AppendTag(later, unknownField, protowire.BytesType), unread)
		}
		md[header][i] = string(later)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

func TestAnOlderServiceRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	var log telemetrytest.Log
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
	f := gatewaytest.NewWith(t, gatewaytest.Options{
		Telemetry: tel,
		Configure: func(cfg *gateway.Config) { cfg.OrdersAddr = fromNewer(t, cfg.OrdersAddr) },
	})
	requireUnavailable := func(got gatewaytest.Answer) {
		t.Helper()
		require.Equal(t, http.StatusServiceUnavailable, got.Status, got.Body)
		require.Equal(t, "service_unavailable", got.Parsed["code"])
		require.Equal(t, "2", got.Header.Get("Retry-After"))
	}
	const cancel = "/orders/" + orderID + ":cancel"
	for range 3 {
		requireUnavailable(f.Do("POST", cancel, "{}", "If-Match", `"stale"`))
		requireUnavailable(f.Do("GET", "/orders/"+orderID, ""))
	}
	require.Equal(t, caller.Request{}, f.Seen, "the service did nothing")
	require.Equal(t, http.StatusOK, f.Do("POST", cancel, "{}").Status, "it knows a cancellation without a condition")
	for _, method := range []string{"CancelOrder", "GetOrder"} { // Once a minute.
		require.Equal(t, 1, strings.Count(log.String(), "service=orders method=/gifting.orders.v1.OrdersService/"+method), log.String())
	}
	require.NotContains(t, log.String(), "request failed")
}
