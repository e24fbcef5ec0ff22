package server_test

import (
	"net"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/server"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenant      = "0190aaaa-0000-7000-8000-000000000001"
	otherTenant = "0190aaaa-0000-7000-8000-000000000002"
	brand       = "0190bbbb-0000-7000-8000-000000000001"
)

var staff = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"}

// deliveries stores deliveries and the results of sending them.
type deliveries struct {
	t     *testing.T
	store *store.Store
}

// operations is a fixture for the operations plane.
type operations struct {
	webhookv1.WebhookOperationsServiceClient
	deliveries
	pool  *pgxpool.Pool
	woken int
}

func newOperations(t *testing.T) *operations {
	t.Helper()
	o := &operations{deliveries: deliveries{t: t}, pool: pgtest.New(t, store.Migrations())}
	webhooktest.RequireConsistentRows(t, o.pool)
	webhooktest.Twin(t, o.pool)
	o.store = store.New(o.pool)
	directory := tenantstest.NewDirectory(t, settingsOf(tenant, "ann"), settingsOf(otherTenant, "stranger")).Client
	tel := telemetry.Discard()
	s, err := rpc.NewServer(rpc.Config{}, tel)
	require.NoError(t, err)
	reader := sealtest.Reader(t, sealtest.Keys("a"))
	webhookv1.RegisterWebhookOperationsServiceServer(s, server.NewOperations(
		o.store, reader, tenants.NewCache(directory, identity.Cell{}), func() { o.woken++ }, tel.Logger))
	o.WebhookOperationsServiceClient = webhookv1.NewWebhookOperationsServiceClient(serve(t, s))
	return o
}

// serve serves until the test ends and returns a connection.
func serve(t *testing.T, s *rpc.Server) *grpc.ClientConn {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// add stores an event for the keys and returns its id.
func (o *deliveries) add(keys ...int32) string {
	o.t.Helper()
	return o.addOf("order.created", brand, keys...)
}

// addOf is add for an event of the type and the brand.
func (o *deliveries) addOf(eventType, brandID string, keys ...int32) string {
	o.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	_, err := o.store.FanOut(o.t.Context(), 0, []store.Event{{
		TenantID: tenant, ID: id, Type: eventType, BrandID: brandID, SubjectID: uuid.NewString(),
		Body: []byte(`{"id":"` + id + `"}`), KeyIDs: keys,
	}})
	require.NoError(o.t, err)
	return id
}

// attempt records an outcome for every delivery that is due.
func (o *deliveries) attempt(v rules.Verdict, outcome rules.Outcome) {
	o.t.Helper()
	o.respond(v, outcome, []byte("response"))
}

// respond is attempt with the body of the response.
func (o *deliveries) respond(v rules.Verdict, outcome rules.Outcome, body []byte) {
	o.t.Helper()
	o.record(o.lease(), v, outcome, body)
}

// lease claims every delivery that is due, as a sender.
func (o *deliveries) lease() []store.Delivery {
	o.t.Helper()
	const sender = 1
	require.NoError(o.t, o.store.Register(o.t.Context(), sender))
	found, err := o.store.Discover(o.t.Context(), sender, false)
	require.NoError(o.t, err)
	r := store.ClaimRequest{Sender: sender, Share: 5000, Lease: time.Minute, Limit: 5000}
	for _, d := range found.Due {
		r.Endpoints = append(r.Endpoints, store.ClaimTarget{Due: d, Rows: 5000})
	}
	claimed, err := o.store.Claim(o.t.Context(), r)
	require.NoError(o.t, err)
	return claimed.Deliveries
}

// record records an outcome for leased deliveries.
func (o *deliveries) record(leased []store.Delivery, v rules.Verdict, outcome rules.Outcome, body []byte) {
	o.t.Helper()
	var results []store.Result
	for _, d := range leased {
		results = append(results, store.Result{
			Delivery: d, Verdict: v, Attempt: store.Attempt{StartedAt: time.Now(), Outcome: outcome, ResponseBody: body},
		})
	}
	recorded, err := o.store.Record(o.t.Context(), results)
	require.NoError(o.t, err)
	require.NotContains(o.t, recorded, false)
}

var (
	delivered = rules.Verdict{State: rules.Delivered, Counted: true}
	failed    = rules.Verdict{State: rules.Failed, Counted: true}
)

func (o *operations) get(keyID int32, eventID string) *webhookv1.GetDeliveryResponse {
	o.t.Helper()
	req := &webhookv1.GetDeliveryRequest{Actor: staff, TenantId: tenant, KeyId: keyID, EventId: eventID}
	got, err := o.GetDelivery(o.t.Context(), req)
	require.NoError(o.t, err)
	return got
}

func TestTheLogOfAKey(t *testing.T) {
	t.Parallel()
	o := newOperations(t)
	var ids []string
	for range 5 {
		ids = append(ids, o.add(7, 8))
	}
	o.attempt(failed, rules.Answered(500))
	waiting := o.add(7)

	t.Run("is paged, newest event first, without deliveries of other keys", func(t *testing.T) {
		var got []string
		for _, d := range pagetest.All(func(after *string) ([]*webhookv1.Delivery, *string) {
			resp, err := o.ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
				Actor: staff, TenantId: tenant, KeyId: 7, PageSize: proto.Int32(2), PageToken: after,
			})
			require.NoError(t, err)
			return resp.GetDeliveries(), resp.NextPageToken
		}) {
			require.EqualValues(t, 7, d.GetKeyId())
			got = append(got, d.GetEventId())
		}
		require.Equal(t, []string{waiting, ids[4], ids[3], ids[2], ids[1], ids[0]}, got)
	})
	t.Run("can be narrowed to a state", func(t *testing.T) {
		resp, err := o.ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
			Actor: staff, TenantId: tenant, KeyId: 7, State: webhookv1.DeliveryState_DELIVERY_STATE_PENDING.Enum(),
		})
		require.NoError(t, err)
		require.Len(t, resp.GetDeliveries(), 1)
		require.Equal(t, waiting, resp.GetDeliveries()[0].GetEventId())
		require.NotNil(t, resp.GetDeliveries()[0].GetNextAttemptAt())
	})
	t.Run("shows every attempt and the body", func(t *testing.T) {
		got := o.get(7, ids[0])
		require.Equal(t, webhookv1.DeliveryState_DELIVERY_STATE_FAILED, got.GetDelivery().GetState())
		require.Equal(t, `{"id":"`+ids[0]+`"}`, string(got.GetBody()))
		require.Len(t, got.GetAttempts(), 1)
		attempt := got.GetAttempts()[0]
		require.EqualValues(t, 1, attempt.GetNumber())
		require.EqualValues(t, 500, attempt.GetResponseStatus())
		require.Contains(t, attempt.GetProblem(), "500")
		require.Equal(t, "response", string(attempt.GetResponseBody()))
	})
	t.Run("refuses invalid parameters, all errors at once", func(t *testing.T) {
		_, err := o.ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
			Actor: staff, TenantId: "x", PageSize: proto.Int32(101), State: webhookv1.DeliveryState(99).Enum(), PageToken: proto.String("x"),
		})
		p := problem.FromStatus(status.Convert(err))
		var found []string
		for _, v := range p.Violations {
			found = append(found, v.Field)
		}
		require.ElementsMatch(t, []string{"keyId", "tenantId", "pageSize", "state", "pageToken"}, found)
	})
}

func TestResending(t *testing.T) {
	t.Parallel()
	t.Run("a resent delivery has all its attempts again, and its log continues", func(t *testing.T) {
		o := newOperations(t)
		id := o.add(7)
		o.attempt(failed, rules.Answered(500))
		req := &webhookv1.ResendDeliveryRequest{Actor: staff, TenantId: tenant, KeyId: 7, EventId: id}
		for range 2 {
			resp, err := o.ResendDelivery(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, webhookv1.DeliveryState_DELIVERY_STATE_PENDING, resp.GetDelivery().GetState())
			require.Zero(t, resp.GetDelivery().GetAttempts())
		}
		require.Positive(t, o.woken)
		o.attempt(delivered, rules.Answered(204))
		got := o.get(7, id)
		require.Equal(t, webhookv1.DeliveryState_DELIVERY_STATE_DELIVERED, got.GetDelivery().GetState())
		require.EqualValues(t, 1, got.GetDelivery().GetAttempts())
		require.Len(t, got.GetAttempts(), 2)
		require.EqualValues(t, 2, got.GetAttempts()[1].GetNumber())
	})
	t.Run("a span resends each delivery once, page by page", func(t *testing.T) {
		o := newOperations(t)
		const events = 1500
		req := &webhookv1.ResendDeliveriesRequest{
			Actor: staff, TenantId: tenant, KeyId: 7, RecordedFrom: timestamppb.Now(), DeliveredToo: true,
		}
		for range events {
			o.add(7)
		}
		other := o.add(8)
		o.attempt(delivered, rules.Answered(204))
		req.RecordedBefore = timestamppb.New(time.Now().Add(time.Millisecond))

		resent, calls := int32(0), 0
		for {
			resp, err := o.ResendDeliveries(t.Context(), req)
			require.NoError(t, err)
			resent, calls = resent+resp.GetResent(), calls+1
			o.attempt(delivered, rules.Answered(204))
			if resp.NextPageToken == nil {
				break
			}
			req.PageToken = proto.String(resp.GetNextPageToken())
		}
		require.EqualValues(t, events, resent)
		require.Equal(t, 2, calls)
		require.Len(t, o.get(8, other).GetAttempts(), 1)
	})
	t.Run("a span leaves out delivered events unless requested", func(t *testing.T) {
		o := newOperations(t)
		o.add(7)
		o.attempt(delivered, rules.Answered(204))
		o.add(7)
		o.attempt(failed, rules.Answered(500))
		resp, err := o.ResendDeliveries(t.Context(), &webhookv1.ResendDeliveriesRequest{
			Actor: staff, TenantId: tenant, KeyId: 7,
			RecordedFrom: timestamppb.New(time.Now().Add(-time.Hour)), RecordedBefore: timestamppb.New(time.Now().Add(time.Hour)),
		})
		require.NoError(t, err)
		require.EqualValues(t, 1, resp.GetResent())
	})
	t.Run("an invalid span is refused", func(t *testing.T) {
		o := newOperations(t)
		now, earlier := timestamppb.Now(), timestamppb.New(time.Now().Add(-time.Hour))
		for _, req := range []*webhookv1.ResendDeliveriesRequest{
			{}, {RecordedFrom: now, RecordedBefore: earlier}, {RecordedFrom: &timestamppb.Timestamp{Seconds: -5}, RecordedBefore: now},
		} {
			req.Actor, req.TenantId, req.KeyId = staff, tenant, 7
			_, err := o.ResendDeliveries(t.Context(), req)
			require.Equal(t, codes.InvalidArgument, status.Code(err))
		}
	})
}

func TestTheBacklogOfATenant(t *testing.T) {
	t.Parallel()
	o := newOperations(t)
	began := time.Now().Add(-time.Minute)
	o.add(7, 8)
	o.attempt(delivered, rules.Answered(204))
	o.add(7)
	o.add(7, 9)
	require.NoError(t, o.store.Pause(t.Context(), []store.Endpoint{{TenantID: tenant, KeyID: 9}}, time.Hour))

	resp, err := o.GetBacklog(t.Context(), &webhookv1.GetBacklogRequest{Actor: staff, TenantId: tenant})
	require.NoError(t, err)
	require.Len(t, resp.GetKeys(), 2)
	seven, nine := resp.GetKeys()[0], resp.GetKeys()[1]
	require.EqualValues(t, 7, seven.GetKeyId())
	require.EqualValues(t, 2, seven.GetPending())
	require.True(t, seven.GetOldestCreatedAt().AsTime().After(began))
	require.Nil(t, seven.GetPausedUntil())
	require.EqualValues(t, 1, nine.GetPending())
	require.NotNil(t, nine.GetPausedUntil())

	none, err := o.GetBacklog(t.Context(), &webhookv1.GetBacklogRequest{Actor: staff, TenantId: uuid.NewString()})
	require.NoError(t, err)
	require.Empty(t, none.GetKeys())
}
