package server_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/server"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	key = 7
	// slots is how many tests may run concurrently.
	slots = 4
	// keysPerTenant says which keys belong to the same tenant: 0 to 99, 100 to 199 and so on.
	keysPerTenant = 100
)

type fixture struct {
	t         *testing.T
	pool      *pgxpool.Pool
	directory *tenantstest.Directory
	receiver  *webhooktest.Receiver
	server    *server.Server
	client    webhookv1.WebhookServiceClient
	woken     atomic.Int32
}

// setup serves the RPC for a key whose webhook is the receiver.
func setup(t *testing.T, timeout time.Duration) *fixture {
	t.Helper()
	f := &fixture{
		t: t, pool: pgtest.New(t, idempotency.Migrations(), store.Migrations()),
		directory: tenantstest.NewDirectory(t), receiver: webhooktest.NewReceiver(t),
	}
	f.directory.SetEndpoint(f.receiver.Endpoint(key))
	s, err := rpc.NewServer(rpc.Config{}, telemetry.Discard(), server.Collectors()...)
	require.NoError(t, err)
	client := webhookclient.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now)
	f.server = server.New(
		server.Deps{
			Pool: f.pool, Store: store.New(f.pool), Directory: f.directory.Client, Client: client,
			Reader: sealtest.Reader(t, sealtest.Keys("a")), Wake: func() { f.woken.Add(1) }, Now: time.Now,
		},
		server.Config{Environment: "sandbox", TestTimeout: timeout, Tests: slots})
	webhookv1.RegisterWebhookServiceServer(s, f.server)
	f.client = webhookv1.NewWebhookServiceClient(serve(t, s))
	return f
}

// test calls the RPC as the gateway does.
func (f *fixture) test(idempotencyKey string, opts ...grpc.CallOption) (*webhookv1.TestWebhookResponse, error) {
	return f.testOf(key, idempotencyKey, opts...)
}

func (f *fixture) testOf(
	keyID int32, idempotencyKey string, opts ...grpc.CallOption,
) (*webhookv1.TestWebhookResponse, error) {
	return f.send(keyID, caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte("f")}, opts...)
}

func (f *fixture) send(keyID int32, req caller.Request, opts ...grpc.CallOption) (*webhookv1.TestWebhookResponse, error) {
	tenantID := fmt.Sprintf("0190aaaa-0000-7000-8000-%012d", 1+keyID/keysPerTenant)
	ctx, err := caller.Outgoing(context.WithoutCancel(f.t.Context()), caller.Principal{
		TenantID: tenantID, KeyID: keyID, AllBrands: true,
	}, req)
	require.NoError(f.t, err)
	return f.client.TestWebhook(ctx, &webhookv1.TestWebhookRequest{}, opts...)
}

func TestATestThatIsNotAnsweredSaysWhy(t *testing.T) {
	t.Parallel()
	f := setup(t, time.Second)
	f.receiver.Respond(webhooktest.Blocked(nil))
	got, err := f.test("k1")
	require.NoError(t, err)
	require.Contains(t, got.GetError(), "did not answer in time")
}

func TestATestOfAnEndpointThatCannotBeUsedNowDoesNotUseTheKey(t *testing.T) {
	t.Parallel()
	f := setup(t, 5*time.Second)
	f.directory.Fail(problem.Unavailable())
	_, err := f.test("k1")
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	f.directory.Fail(nil)
	for _, e := range []*tenantsv1.Endpoint{
		{State: tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED},
		{State: tenantsv1.EndpointState_ENDPOINT_STATE_UNSPECIFIED},
		{State: 99},
		{State: tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, Url: f.receiver.URL},
	} {
		e.KeyId = key
		f.directory.SetEndpoint(e)
		_, err := f.test("k1")
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v: %v", e, err)
	}
	require.Empty(t, f.receiver.Arrivals())
	f.directory.SetEndpoint(f.receiver.Endpoint(key))
	got, err := f.test("k1")
	require.NoError(t, err)
	require.EqualValues(t, 200, got.GetResponseStatus())
}

func TestConcurrentTestsAreBoundedPerKeyPerTenantAndInTotal(t *testing.T) {
	t.Parallel()
	f := setup(t, 5*time.Second)
	_, err := f.test("answered")
	require.NoError(t, err)
	release := make(chan struct{})
	f.receiver.Respond(webhooktest.Blocked(release))
	running := len(f.receiver.Arrivals())
	var group errgroup.Group
	hold := func(keyID int32, idempotencyKey string) {
		group.Go(func() error {
			_, err := f.testOf(keyID, idempotencyKey)
			return err
		})
		running++
		require.Eventually(t, func() bool { return len(f.receiver.Arrivals()) == running }, 30*time.Second, 5*time.Millisecond)
	}
	hold(key, "k1")
	hold(key, "k2")

	_, err = f.test("k3")
	refused, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.RateLimited, refused.Code, "immediately: no test has ended yet")
	require.Positive(t, refused.RetryAfter)
	_, err = f.test("k1")
	require.True(t, problem.Is(err, problem.IdempotencyInProgress), "a repetition needs no slot: %v", err)

	_, err = f.testOf(key+1, "k1")
	refused, ok = problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.RateLimited, refused.Code, "half of the slots are left to other tenants")
	require.Contains(t, refused.Detail, "of this tenant")

	for other := range int32(slots - 2) {
		f.directory.SetEndpoint(f.receiver.Endpoint(100 + other))
		hold(100+other, "k1")
	}
	f.directory.SetEndpoint(f.receiver.Endpoint(200))
	_, err = f.testOf(200, "k1")
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "immediately: the receiver gets the whole time to answer: %v", err)
	_, err = f.testOf(100, "k1")
	require.True(t, problem.Is(err, problem.IdempotencyInProgress), "%v", err)
	var header metadata.MD
	_, err = f.test("answered", grpc.Header(&header))
	require.NoError(t, err, "a repetition needs no slot")
	require.Equal(t, []string{"true"}, header.Get(caller.ReplayedHeader))

	close(release)
	require.NoError(t, group.Wait())
	f.directory.SetEndpoint(f.receiver.Endpoint(key + 1))
	for keyID, idempotencyKey := range map[int32]string{key: "k3", key + 1: "k1", 200: "k1"} {
		_, err = f.testOf(keyID, idempotencyKey)
		require.NoError(t, err, "the refusal has not used the Idempotency-Key, and the other tests have freed their slots")
	}
	require.Len(t, f.receiver.Arrivals(), running+3)
}
