package server

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
)

// watchFixture is the operations plane over gRPC.
type watchFixture struct {
	*fixture

	hub    notices.Hub
	client eventsv1.EventOperationsServiceClient
	// end ends the server.
	end func()
}

func setupWatch(t *testing.T) *watchFixture {
	t.Helper()
	f := &watchFixture{fixture: setup(t)}
	cfg := rpc.Config{Addr: testenv.FreeAddr(t), LameDuck: time.Millisecond}
	server, err := rpc.NewServer(cfg, telemetry.Discard())
	require.NoError(t, err)
	directory := tenantstest.NewDirectory(t, &tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: f.tenant}, Version: 1, Team: []*tenantsv1.TeamMember{
			{Id: "coordinator", Active: true, Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR},
			{Id: "member", Active: true, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER},
		},
	})
	eventsv1.RegisterEventOperationsServiceServer(server,
		NewOperations(f.store, nil, apikey.Sandbox, &f.hub, tenants.NewCache(directory.Client, identity.Cell{})))
	f.end = testenv.Run(t, server.Run)
	conn, err := rpc.Dial(rpc.Target{Addr: cfg.Addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	f.client = eventsv1.NewEventOperationsServiceClient(conn)
	return f
}

func (f *watchFixture) watch(
	t *testing.T, change func(r *eventsv1.WatchEventsRequest),
) grpc.ServerStreamingClient[eventsv1.WatchEventsResponse] {
	t.Helper()
	req := &eventsv1.WatchEventsRequest{TenantId: f.tenant, Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}}
	if change != nil {
		change(req)
	}
	stream, err := f.client.WatchEvents(t.Context(), req, grpc.WaitForReady(true))
	require.NoError(t, err)
	return stream
}

// receive returns the ids of n events, and the last cursor.
func receive(t *testing.T, stream grpc.ServerStreamingClient[eventsv1.WatchEventsResponse], n int) (got []string, cursor string) {
	t.Helper()
	for len(got) < n {
		said, err := stream.Recv()
		require.NoError(t, err)
		if cursor = said.GetCursor(); said.GetEvent() != nil {
			got = append(got, said.GetEvent().GetId())
		}
	}
	return got, cursor
}

func (f *watchFixture) announce() { f.hub.Publish([]notices.Notice{{TenantID: f.tenant}}) }

func TestAWatcherGetsAllEventsInOrderAndThenEachOneThatCommits(t *testing.T) {
	t.Parallel()
	f := setupWatch(t)
	want := f.addEvents(t, today, 250, func(i int, c *eventsv1.Change) {
		c.BrandId = uuid.NewString()
		c.Type = []string{"order.message_posted", "personal_link.claimed", "another.type"}[i%3]
	})
	stream := f.watch(t, nil)
	got, cursor := receive(t, stream, len(want))
	require.Equal(t, want, got)

	next := f.addEvents(t, today, 3, nil)
	f.announce()
	got, _ = receive(t, stream, 3)
	require.Equal(t, next, got)

	got, _ = receive(t, f.watch(t, func(r *eventsv1.WatchEventsRequest) { r.After = &cursor }), 3)
	require.Equal(t, next, got, "goes on after the cursor")
	require.Equal(t, next, ids(f.list(f.keyContext(t, nil), t, &cursor, 0)), "the feed takes the same cursor")

	fromEnd := f.watch(t, func(r *eventsv1.WatchEventsRequest) { r.FromEnd = true })
	said, err := fromEnd.Recv()
	require.NoError(t, err)
	require.NotEmpty(t, said.GetCursor())
}

func TestAWatcherOfAnEmptyFeed(t *testing.T) {
	t.Parallel()
	f := setupWatch(t)
	stream := f.watch(t, nil)
	said, err := stream.Recv()
	require.NoError(t, err)
	require.Nil(t, said.Cursor)
	want := f.addEvents(t, today, 1, nil)
	f.announce()
	got, _ := receive(t, stream, 1)
	require.Equal(t, want, got)
}

func TestWhoMayNotWatch(t *testing.T) {
	t.Parallel()
	f := setupWatch(t)
	account := func(id string) func(r *eventsv1.WatchEventsRequest) {
		return func(r *eventsv1.WatchEventsRequest) {
			r.Actor = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id}
		}
	}
	_, err := f.watch(t, account("coordinator")).Recv()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		change func(r *eventsv1.WatchEventsRequest)
		want   problem.Code
	}{
		"a stranger":              {account("stranger"), problem.NotFound},
		"a member without a role": {account("member"), problem.InsufficientScope},
		"a client": {func(r *eventsv1.WatchEventsRequest) {
			r.Actor = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "client-1"}
		}, problem.InsufficientScope},
		"no actor":         {func(r *eventsv1.WatchEventsRequest) { r.Actor = nil }, problem.InvalidRequest},
		"no tenant":        {func(r *eventsv1.WatchEventsRequest) { r.TenantId = "x" }, problem.InvalidRequest},
		"a made-up cursor": {func(r *eventsv1.WatchEventsRequest) { r.After = proto.String("x") }, problem.InvalidRequest},
		"both beginnings": {func(r *eventsv1.WatchEventsRequest) {
			r.After, r.FromEnd = proto.String("x"), true
		}, problem.InvalidRequest},
	} {
		_, err := f.watch(t, tc.change).Recv()
		require.True(t, problem.Is(err, tc.want), "%s: %v", name, err)
	}
}

func TestAStreamEndsWithItsServerAndGoesOn(t *testing.T) {
	t.Parallel()
	f := setupWatch(t)
	f.addEvents(t, today, 1, nil)
	stream := f.watch(t, nil)
	receive(t, stream, 1)
	f.end()
	_, err := stream.Recv()
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
}
