package rpc_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// laterField is a field that no message has.
var laterField = protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)

func later[M proto.Message](m M) M {
	m.ProtoReflect().SetUnknown(laterField)
	return m
}

func TestWhatANewerCallerSendsIsRefused(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	conn, _ := setup(t, func(context.Context) error { ran.Add(1); return nil })
	with := func(name, value string) context.Context {
		ctx, err := caller.Outgoing(t.Context(), caller.Principal{}, caller.Request{})
		require.NoError(t, err)
		md, _ := metadata.FromOutgoingContext(ctx)
		md[name] = []string{value}
		return metadata.NewOutgoingContext(ctx, md)
	}
	known := &webhookv1.TestWebhookRequest{}
	for what, tc := range map[string]struct {
		ctx context.Context //nolint:containedctx // A case of a table.
		req *webhookv1.TestWebhookRequest
	}{
		"a field of the request":          {t.Context(), later(&webhookv1.TestWebhookRequest{})},
		"a field of the HTTP request":     {with("gifting-request-bin", string(laterField)), known},
		"a field of the principal":        {with("gifting-principal-bin", string(laterField)), known},
		"metadata of the platform":        {with("gifting-dry-run", "true"), known},
		"binary metadata of the platform": {with("gifting-consent-bin", "x"), known},
	} {
		_, err := webhookv1.NewWebhookServiceClient(conn).TestWebhook(tc.ctx, tc.req)
		p, ok := problem.As(err)
		require.True(t, ok, "%s: %v", what, err)
		require.Equal(t, problem.ServiceUnavailable, p.Code, what)
		require.Positive(t, p.RetryAfter, what)
		require.True(t, rpc.RefusedByOlder(err), what)
		require.ErrorContains(t, err, "newer", what)
	}
	require.Zero(t, ran.Load())
	_, err := webhookv1.NewWebhookServiceClient(conn).TestWebhook(with("someone-elses", "x"), known)
	require.NoError(t, err)
	require.EqualValues(t, 1, ran.Load())
}

func TestACallThatOneInstanceIsTooOldForGoesToAnother(t *testing.T) {
	t.Parallel()
	current := newInstance(t, 0, nothing)
	older, addr := newFeed(t)
	conn := dialAll(t, addr+","+current.addr)
	connected := map[string]bool{}
	require.Eventually(t, func() bool {
		var at peer.Peer
		_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}, grpc.Peer(&at))
		require.NoError(t, err)
		connected[at.Addr.String()] = true
		return len(connected) > 1
	}, waitLimit, often)
	for range 10 {
		require.NoError(t, call(t.Context(), conn))
	}
	require.EqualValues(t, 10, current.calls.Load())
	require.Zero(t, older.opened.Load())
}

// feed is a service with a stream, on a server that has no other.
type feed struct {
	eventsv1.UnimplementedFeedNoticesServiceServer
	opened atomic.Int64
}

func (f *feed) WatchFeed(*eventsv1.WatchFeedRequest, grpc.ServerStreamingServer[eventsv1.WatchFeedResponse]) error {
	f.opened.Add(1)
	return nil
}

func newFeed(t *testing.T) (f *feed, addr string) {
	t.Helper()
	f, addr = &feed{}, testenv.FreeAddr(t)
	server, err := rpc.NewServer(rpc.Config{Addr: addr}, telemetry.Discard())
	require.NoError(t, err)
	eventsv1.RegisterFeedNoticesServiceServer(server, f)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-done) })
	require.Eventually(t, func() bool { return server.Ready(t.Context()) == nil }, waitLimit, often)
	return f, addr
}

func TestAStreamThatANewerCallerOpensIsRefused(t *testing.T) {
	t.Parallel()
	f, addr := newFeed(t)
	client := eventsv1.NewFeedNoticesServiceClient(dialAll(t, addr))
	receive := func(ctx context.Context, req *eventsv1.WatchFeedRequest) error {
		stream, err := client.WatchFeed(ctx, req)
		require.NoError(t, err)
		_, err = stream.Recv()
		return err
	}
	require.ErrorIs(t, receive(t.Context(), &eventsv1.WatchFeedRequest{}), io.EOF)
	for _, err := range []error{
		receive(t.Context(), later(&eventsv1.WatchFeedRequest{})),
		receive(metadata.AppendToOutgoingContext(t.Context(), "gifting-later", "1"), &eventsv1.WatchFeedRequest{}),
	} {
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		require.True(t, rpc.RefusedByOlder(err), "%v", err)
	}
	require.EqualValues(t, 1, f.opened.Load())
}

func TestAMethodThatAnOlderServiceDoesNotHave(t *testing.T) {
	t.Parallel()
	var log telemetrytest.Log
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
	conn, _ := start(t, tel, nothing)
	methods := []string{"/gifting.webhook.v1.WebhookService/Later", "/gifting.webhook.v1.WebhookService/LaterToo"}
	for range 2 {
		for _, method := range methods {
			err := conn.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{})
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, problem.ServiceUnavailable, p.Code)
			require.Positive(t, p.RetryAfter)
			require.True(t, rpc.RefusedByOlder(err))
		}
	}
	for _, method := range methods {
		require.Equal(t, 1, strings.Count(log.String(), "method="+method+" "), "once a minute: %s", log.String())
	}
}
