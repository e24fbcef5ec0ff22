package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/webhook"
)

// feedServer returns one change per page.
type feedServer struct {
	eventsv1.UnimplementedFeedEventsServiceServer
	changes []*eventsv1.Change
}

func (f *feedServer) ListFeedEvents(_ context.Context, req *eventsv1.ListFeedEventsRequest) (*eventsv1.ListFeedEventsResponse, error) {
	at := len(req.GetPageToken())
	resp := &eventsv1.ListFeedEventsResponse{Changes: f.changes[at : at+1]}
	if at+1 < len(f.changes) {
		resp.NextPageToken = proto.String(strings.Repeat("x", at+1))
	}
	return resp, nil
}

func TestRedriveSendsEventsThatHaveNoDeliveries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	feed := &feedServer{}
	for range 3 {
		feed.changes = append(feed.changes, &eventsv1.Change{
			EventId: uuid.Must(uuid.NewV7()).String(), Type: "order.created", TenantId: f.tenant, BrandId: uuid.NewString(),
			OriginKeyId: 1, OccurredAt: timestamppb.Now(), Data: []byte(`{"id":"x"}`),
		})
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	eventsv1.RegisterFeedEventsServiceServer(server, feed)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	f.cfg.EventsAddr, f.cfg.LogRetention = listener.Addr().String(), 24*time.Hour

	run := func(more ...string) map[string]int {
		var out bytes.Buffer
		args := append([]string{
			"--from", time.Now().Add(-time.Hour).Format(time.RFC3339), "--to", time.Now().Format(time.RFC3339), "--json",
		}, more...)
		require.NoError(t, webhook.Redrive(t.Context(), f.cfg, args, &out))
		result := map[string]int{}
		require.NoError(t, json.Unmarshal(out.Bytes(), &result))
		return result
	}
	defer f.start(t)()
	require.Equal(t, map[string]int{"events": 3, "missing": 3, "deliveries": 3, "invalid": 0}, run("--dry-run"))
	require.Equal(t, map[string]int{"events": 3, "missing": 3, "deliveries": 3, "invalid": 0}, run())
	f.requireArrivals(t, 3)
	require.Equal(t, map[string]int{"events": 3, "missing": 0, "deliveries": 0, "invalid": 0}, run("--tenant", f.tenant))

	old := time.Now().Add(-48 * time.Hour).Format(time.RFC3339)
	require.ErrorContains(t, webhook.Redrive(t.Context(), f.cfg, []string{"--from", old, "--to", time.Now().Format(time.RFC3339)}, &bytes.Buffer{}),
		"would be sent again")
}
