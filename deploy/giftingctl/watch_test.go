package giftingctl

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

func watched(cursor string) *eventsv1.WatchEventsResponse {
	return &eventsv1.WatchEventsResponse{
		Event:  &eventsv1.Event{Id: "e-" + cursor, Type: "order.created", Environment: "sandbox", Data: []byte(`{"id":  "a"}`)},
		Cursor: &cursor,
	}
}

func TestAWatchGoesOnAfterTheLastEvent(t *testing.T) {
	t.Parallel()
	var call atomic.Int32
	var after []string
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		after = append(after, req.(*eventsv1.WatchEventsRequest).GetAfter())
		if call.Add(1) <= 4 { // As often as the client of gRPC tries by itself.
			return nil, status.Error(codes.Unavailable, "shutting down")
		}
		return watched("c2"), nil // The stream then ends without an error, which a service never does.
	})
	code, out, errs := runLine(t, services.Config, "events", "watch", "--after", "c1", "-o", "json")
	require.Zero(t, code, errs)
	require.Equal(t, []string{"c1", "c1", "c1", "c1", "c1"}, after)
	require.Equal(t, 1, strings.Count(out, "\n"), "one line for an event")
	require.True(t, json.Valid([]byte(out)))
	require.Contains(t, out, `{"cursor":"c2","event":{"id":"e-c2"`)
	require.Contains(t, out, `"data":{"id":  "a"}`, "byte for byte")
	require.Contains(t, errs, "going on after the last event")
}

func TestARefusedWatchIsAnError(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		return nil, status.Error(codes.InvalidArgument, "no such cursor")
	})
	code, _, _ := runLine(t, services.Config, "events", "watch")
	require.Equal(t, exitFailed, code)
}

func TestAnInterruptedWatchExitsAsAnyCommand(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		interrupt()
		<-ctx.Done()
		return nil, status.Error(codes.Unavailable, "late")
	})
	var out, errs strings.Builder
	code := Run(ctx, []string{"--config", services.Config, "events", "watch"},
		Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	require.Equal(t, exitInterrupted, code, errs.String())
}
