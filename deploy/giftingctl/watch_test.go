package giftingctl

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
		switch call.Add(1) {
		case 1:
			return watched("c2"), status.Error(codes.Unavailable, "shutting down")
		case 2:
			return nil, status.Error(codes.Unavailable, "shutting down")
		}
		return watched("c3"), nil // The stream then ends without an error, which a service never does.
	})
	code, out, errs := runLine(t, services.Config, "events", "watch", "--after", "c1", "-o", "json")
	require.Zero(t, code, errs)
	require.Equal(t, []string{"c1", "c2", "c2"}, after)
	first, second, _ := strings.Cut(out, "\n")
	require.True(t, json.Valid([]byte(first)))
	require.True(t, json.Valid([]byte(second)))
	require.Contains(t, first, `{"cursor":"c2","event":{"id":"e-c2"`)
	require.Contains(t, first, `"data":{"id":  "a"}`, "byte for byte")
	require.Contains(t, second, `{"cursor":"c3","event":{"id":"e-c3"`)
	require.Contains(t, errs, "going on after the last event")
}

// It must not wait for ever without a word: most often the context is wrong.
func TestAWatchOfAServiceThatIsNotReachedFails(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	services.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out, errs strings.Builder
	code := Run(ctx, []string{"--config", services.Config, "events", "watch"},
		Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	require.Equal(t, exitUnavailable, code, errs.String())
	require.Contains(t, errs.String(), "check the addresses, ca, certificate and key of the context")
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
