package rpc

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	directory = "/gifting.tenants.v1.DirectoryService/GetTenantSettings"
	approve   = ordersv1.OrderOperationsService_ApproveOrder_FullMethodName
)

func TestOnlyTheGatewaySaysForWhichKeyItActs(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Orders))
	whole, err := caller.Outgoing(t.Context(), caller.Principal{TenantID: "t"}, caller.Request{ID: "r"})
	require.NoError(t, err)
	sent, _ := metadata.FromOutgoingContext(whole)
	require.Len(t, sent, 2)
	for header, values := range sent {
		t.Run(header, func(t *testing.T) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), header, values[0])
			for _, name := range []identity.Name{identity.Catalog, identity.PersonalLinks} {
				conn := connect(t, addr, signer.Config(t, name))
				err := conn.Invoke(ctx, directory, &emptypb.Empty{}, &emptypb.Empty{})
				requireRefused(t, err, principalNotAllowed, name, "gifting.tenants.v1.DirectoryService")
				require.NoError(t, conn.Invoke(t.Context(), directory, &emptypb.Empty{}, &emptypb.Empty{}), "without it")
			}
			conn := connect(t, addr, signer.Config(t, identity.Gateway))
			require.NoError(t, conn.Invoke(ctx, directory, &emptypb.Empty{}, &emptypb.Empty{}))
		})
	}
}

type operations struct {
	ordersv1.UnimplementedOrderOperationsServiceServer
}

func (operations) ApproveOrder(context.Context, *ordersv1.ApproveOrderRequest) (*ordersv1.ApproveOrderResponse, error) {
	return &ordersv1.ApproveOrderResponse{}, nil
}

type eventOperations struct {
	eventsv1.UnimplementedEventOperationsServiceServer
}

func (eventOperations) WatchEvents(
	*eventsv1.WatchEventsRequest, grpc.ServerStreamingServer[eventsv1.WatchEventsResponse],
) error {
	return nil
}

func TestASystemActsOnlyForItsOwnPeople(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	server, err := NewServer(Config{TLS: signer.Config(t, identity.Orders)}, telemetry.Discard())
	require.NoError(t, err)
	ordersv1.RegisterOrderOperationsServiceServer(server, operations{})
	eventsv1.RegisterEventOperationsServiceServer(server, eventOperations{})
	addr := serve(t, server)
	for name, allowed := range map[identity.Name]map[commonv1.ActorKind]bool{
		identity.Workspace: {
			commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED:    true, // The service refuses it.
			commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT: true,
			commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT:  true,
		},
		identity.Backoffice: {
			commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED:        true,
			commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT: true,
			commonv1.ActorKind_ACTOR_KIND_SYSTEM:             true,
		},
	} {
		conn := connect(t, addr, signer.Config(t, name))
		client, events := ordersv1.NewOrderOperationsServiceClient(conn), eventsv1.NewEventOperationsServiceClient(conn)
		for number, kind := range commonv1.ActorKind_name {
			t.Run(string(name)+" as "+kind, func(t *testing.T) {
				acting := commonv1.ActorKind(number)
				actor := &commonv1.Actor{Kind: acting}
				_, err := client.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: actor})
				stream, openErr := events.WatchEvents(t.Context(), &eventsv1.WatchEventsRequest{Actor: actor})
				require.NoError(t, openErr)
				_, streamErr := stream.Recv()
				if allowed[acting] {
					require.NoError(t, err)
					require.ErrorIs(t, streamErr, io.EOF)
				} else {
					requireRefused(t, err, actorNotAllowed, name, "gifting.orders.v1.OrderOperationsService")
					requireRefused(t, streamErr, actorNotAllowed, name, "gifting.events.v1.EventOperationsService")
				}
			})
		}
	}
}

func TestCallsWithoutACertificateAreRefused(t *testing.T) {
	t.Parallel()
	signer, stranger := identitytest.New(t), identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Orders))
	untrusted := stranger.Config(t, identity.Gateway)
	untrusted.CAFile = signer.Config(t, identity.Gateway).CAFile
	for what, how := range map[string]func() (*grpc.ClientConn, error){
		"in plain text": func() (*grpc.ClientConn, error) {
			return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		},
		"with TLS alone": func() (*grpc.ClientConn, error) {
			roots, err := credentials.NewClientTLSFromFile(untrusted.CAFile, "localhost")
			require.NoError(t, err)
			return grpc.NewClient(addr, grpc.WithTransportCredentials(roots))
		},
		"with another authority's": func() (*grpc.ClientConn, error) {
			return Dial(Target{Addr: addr, Service: identity.Orders, TLS: untrusted}, telemetry.Discard())
		},
	} {
		t.Run(what, func(t *testing.T) {
			conn, err := how()
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close()) }()
			_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
			require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
		})
	}
}

func TestAClientOfTheWrongServerCallsNothing(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Catalog))
	conn, err := Dial(Target{Addr: addr, Service: identity.Orders, TLS: signer.Config(t, identity.Gateway)}, telemetry.Discard())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.ErrorContains(t, err, "catalog, not orders")
	require.True(t, problem.Is(err, problem.ServiceUnavailable))
}

func TestARefusedCallIsAnInternalErrorAtTheEdge(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	addr := all(t, signer.Config(t, identity.Orders))
	conn, err := Dial(Target{Addr: addr, Service: identity.Orders, TLS: signer.Config(t, identity.Catalog)}, telemetry.Discard())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	err = conn.Invoke(t.Context(), approve, &emptypb.Empty{}, &emptypb.Empty{})
	shown, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.Internal(), shown)
	require.ErrorContains(t, err, callerNotAllowed, "for the log")
}

func TestSettingsThatMakeNoIdentityFailAtStart(t *testing.T) {
	t.Parallel()
	part := identitytest.New(t).Config(t, identity.Orders)
	part.KeyFile = ""
	_, err := NewServer(Config{Addr: "127.0.0.1:0", TLS: part}, telemetry.Discard())
	require.ErrorContains(t, err, "GIFTING_TLS_KEY_FILE")
	_, err = Dial(Target{Addr: "127.0.0.1:1", Service: identity.Orders, TLS: part}, telemetry.Discard())
	require.ErrorContains(t, err, "GIFTING_TLS_KEY_FILE")

	missing := identitytest.New(t).Config(t, identity.Orders)
	missing.CertFile += ".gone"
	_, err = NewServer(Config{Addr: "127.0.0.1:0", TLS: missing}, telemetry.Discard())
	require.ErrorContains(t, err, ".gone")
}
