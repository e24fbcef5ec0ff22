package rpc_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// endless is a stream that ends only when nothing can be sent any more.
type endless struct {
	eventsv1.UnimplementedEventOperationsServiceServer
}

func (endless) WatchEvents(_ *eventsv1.WatchEventsRequest, stream grpc.ServerStreamingServer[eventsv1.WatchEventsResponse]) error {
	cursor := string(make([]byte, 32<<10))
	for {
		if err := stream.Send(&eventsv1.WatchEventsResponse{Cursor: &cursor}); err != nil {
			return err
		}
	}
}

func TestAStreamWhoseClientDoesNotReadDelaysTheEndOnlyUntilTheLastCall(t *testing.T) {
	t.Parallel()
	addr := testenv.FreeAddr(t)
	server, err := rpc.NewServer(rpc.Config{Addr: addr, LameDuck: time.Millisecond, DrainTimeout: time.Hour}, telemetry.Discard())
	require.NoError(t, err)
	eventsv1.RegisterEventOperationsServiceServer(server, endless{})
	began, finish := make(chan struct{}), make(chan struct{})
	webhookv1.RegisterWebhookServiceServer(server, service{handle: func(context.Context) error {
		close(began)
		<-finish
		return nil
	}})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	stream, err := eventsv1.NewEventOperationsServiceClient(conn).WatchEvents(t.Context(), &eventsv1.WatchEventsRequest{},
		grpc.WaitForReady(true))
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	called := make(chan error, 1)
	go func() { called <- call(t.Context(), conn) }()
	<-began

	end()
	require.Never(t, func() bool { return len(ended) > 0 }, 3*time.Second, 50*time.Millisecond, "a call is in flight")
	close(finish)
	require.NoError(t, <-called)
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the server waits for a client that does not read")
	}
	for err == nil {
		_, err = stream.Recv()
	}
	require.NotErrorIs(t, err, io.EOF)
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
}
