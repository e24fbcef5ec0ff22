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

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/webhook"
)

// feedServer returns one change per page.
type feedServer struct {
	eventsv1.UnimplementedFeedEventsServiceServer
	changes []*eventsv1.Change
}

func (f *feedServer) ListFeedEvents(
	_ context.Context, req *eventsv1.ListFeedEventsRequest,
) (*eventsv1.ListFeedEventsResponse, error) {
	at := len(req.GetPageToken())
	resp := &eventsv1.ListFeedEventsResponse{Changes: f.changes[at : at+1]}
	if at+1 < len(f.changes) {
		resp.NextPageToken = proto.String(strings.Repeat("x", at+1))
	}
	return resp, nil
}

// serveFeed lets the commands read a feed of n new orders of the tenant.
func (f *fixture) serveFeed(t *testing.T, n int) *feedServer {
	t.Helper()
	feed := &feedServer{}
	for range n {
		feed.changes = append(feed.changes, &eventsv1.Change{
			EventId: uuid.Must(uuid.NewV7()).String(), Type: "order.created", TenantId: f.tenant, BrandId: uuid.NewString(),
			SubjectId: uuid.NewString(), OriginKeyId: 1, OccurredAt: timestamppb.Now(), Data: []byte(`{"id":"x"}`),
		})
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	eventsv1.RegisterFeedEventsServiceServer(server, feed)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	f.cfg.EventsAddr, f.cfg.LogRetention = listener.Addr().String(), 24*time.Hour
	return feed
}

// redrive runs the command for the last hour.
func (f *fixture) redrive(t *testing.T, more ...string) (result map[string]int, err error) {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{
		"--from", time.Now().Add(-time.Hour).Format(time.RFC3339), "--to", time.Now().Format(time.RFC3339), "--json",
	}, more...)
	if err := webhook.Redrive(t.Context(), f.cfg, args, &out); err != nil {
		return nil, err
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &result))
	return result, nil
}

// requireRedriven runs the command and compares its result, for a feed of three events.
func (f *fixture) requireRedriven(t *testing.T, missing, deliveries int, more ...string) {
	t.Helper()
	got, err := f.redrive(t, more...)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"events": 3, "missing": missing, "deliveries": deliveries, "invalid": 0}, got)
}

func TestRedriveSendsEventsThatHaveNoDeliveries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.serveFeed(t, 3)
	defer f.start(t)()
	f.requireRedriven(t, 3, 3, "--dry-run")
	f.requireRedriven(t, 3, 3)
	f.requireArrivals(t, 3)
	f.requireRedriven(t, 0, 0, "--tenant", f.tenant)

	tooOld := []string{"--from", time.Now().Add(-48 * time.Hour).Format(time.RFC3339), "--to", time.Now().Format(time.RFC3339)}
	require.ErrorContains(t, webhook.Redrive(t.Context(), f.cfg, tooOld, &bytes.Buffer{}), "would be sent again")
}

func TestRedriveSendsAKeyWhatOnlyOtherKeysHaveGot(t *testing.T) {
	t.Parallel()
	f := setup(t)
	feed := f.serveFeed(t, 3)
	feed.changes[1].OriginKeyId, feed.changes[2].Type = 8, "personal_link.created"
	defer f.start(t)()
	f.requireRedriven(t, 2, 2)
	f.requireArrivals(t, 2)
	// The new key receives links too, but not what it has made itself.
	f.subscribe(8, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS)
	key := []string{"--tenant", f.tenant, "--key", "8"}
	f.requireRedriven(t, 2, 2, append(key, "--dry-run")...)
	f.requireRedriven(t, 2, 2, key...)
	f.requireRedriven(t, 0, 0, key...)
	f.requireArrivals(t, 4)

	_, err := f.redrive(t, "--key", "8")
	require.ErrorContains(t, err, "--key needs its --tenant")
	for _, wrong := range []string{"0", "2147483648"} {
		_, err = f.redrive(t, "--tenant", f.tenant, "--key", wrong)
		require.ErrorContains(t, err, "positive number")
	}
	_, err = f.redrive(t, "--tenant", f.tenant, "--key", "9")
	require.ErrorContains(t, err, "no such key")
}

func TestRedriveForAKeySendsAllKeysWhatNobodyHasGot(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.serveFeed(t, 3)
	f.subscribe(8, commonv1.Scope_SCOPE_ORDERS)
	f.requireRedriven(t, 3, 6, "--tenant", f.tenant, "--key", "8")
	defer f.start(t)()
	f.requireArrivals(t, 6)
}
