package server_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/post"
	"github.com/partnergifting/platform/services/webhook/internal/server"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	key = 7
	// places is how many tests run at once.
	places = 4
)

type world struct {
	t         *testing.T
	pool      *pgxpool.Pool
	directory *webhooktest.Directory
	receiver  *webhooktest.Receiver
	client    webhookv1.WebhookServiceClient
}

// setup serves the RPC over gRPC, for a key whose webhook is the receiver.
func setup(t *testing.T, timeout time.Duration) *world {
	t.Helper()
	w := &world{
		t: t, pool: pgtest.New(t, idempotency.Migrations(), store.Migrations()),
		directory: webhooktest.NewDirectory(t), receiver: webhooktest.NewReceiver(t),
	}
	w.directory.SetActive(key, w.receiver)
	tel := telemetry.Discard()
	s := rpc.NewServer(rpc.Config{}, tel, server.Collectors()...)
	webhookv1.RegisterWebhookServiceServer(s, server.New(server.Config{
		Pool: w.pool, Directory: w.directory.Client, Environment: "sandbox", TestTimeout: timeout, Tests: places, Now: time.Now,
		Poster: post.New(netguard.NewClient(netguard.Options{AllowLoopback: true}), time.Now),
	}))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, tel)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	w.client = webhookv1.NewWebhookServiceClient(conn)
	return w
}

// test calls the RPC as the edge would.
func (w *world) test(idempotencyKey, fingerprint string, opts ...grpc.CallOption) (*webhookv1.TestWebhookResponse, error) {
	return w.testOf(key, idempotencyKey, fingerprint, opts...)
}

func (w *world) testOf(
	keyID int32, idempotencyKey, fingerprint string, opts ...grpc.CallOption,
) (*webhookv1.TestWebhookResponse, error) {
	return w.send(keyID, caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(fingerprint)}, opts...)
}

func (w *world) send(keyID int32, req caller.Request, opts ...grpc.CallOption) (*webhookv1.TestWebhookResponse, error) {
	ctx, err := caller.Outgoing(context.WithoutCancel(w.t.Context()), caller.Principal{
		TenantID: "0190aaaa-0000-7000-8000-000000000001", KeyID: keyID, AllBrands: true,
	}, req)
	require.NoError(w.t, err)
	return w.client.TestWebhook(ctx, &webhookv1.TestWebhookRequest{}, opts...)
}

func TestATestSendsASignedPing(t *testing.T) {
	w := setup(t, 5*time.Second)
	got, err := w.test("k1", "f")
	require.NoError(t, err)
	require.EqualValues(t, 200, got.GetResponseStatus())
	require.Nil(t, got.Error)

	arrivals := w.receiver.Arrivals()
	require.Len(t, arrivals, 1)
	require.True(t, arrivals[0].Verified)
	var ping struct {
		ID, Type, Environment string
		OccurredAt            time.Time
		Data                  json.RawMessage
	}
	require.NoError(t, json.Unmarshal(arrivals[0].Body, &ping))
	require.Equal(t, "ping", ping.Type)
	require.Equal(t, "sandbox", ping.Environment)
	require.JSONEq(t, "{}", string(ping.Data))
	require.WithinDuration(t, time.Now(), ping.OccurredAt, time.Minute)
	require.Equal(t, ping.ID, arrivals[0].Header.Get("Service-Event-Id"))

	var stored int
	require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT count(*) FROM events").Scan(&stored))
	require.Zero(t, stored, "a ping is no event and is not retried")
}

func TestAFaultyBodyIsReportedAfterTheIdempotencyKeyWasLookedUp(t *testing.T) {
	w := setup(t, 5*time.Second)
	faulty := func(idempotencyKey string) *problem.Error {
		_, err := w.send(key, caller.Request{
			IdempotencyKey: idempotencyKey, Fingerprint: []byte("faulty"),
			Violations: []problem.Violation{{Code: problem.FieldInvalid, Message: "the body is not JSON"}},
		})
		return problem.FromStatus(status.Convert(err))
	}
	require.Equal(t, problem.InvalidRequest, faulty("k1").Code)
	require.Empty(t, w.receiver.Arrivals())

	_, err := w.test("k1", "f")
	require.NoError(t, err, "a refusal leaves the key free")
	require.Equal(t, problem.IdempotencyKeyReused, faulty("k1").Code)
}

func TestATestSaysWhatCameBack(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	endpoint := func(state tenantsv1.EndpointState, url string) func(w *world) {
		return func(w *world) {
			w.directory.Set(&tenantsv1.Endpoint{KeyId: key, State: state, Url: url, Secret: "s"})
		}
	}
	answers := func(h http.HandlerFunc) func(w *world) {
		return func(w *world) { w.receiver.Respond(h) }
	}
	const active = tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE
	for name, c := range map[string]struct {
		arrange func(w *world)
		status  int32
		says    string
	}{
		"another 2xx":       {answers(webhooktest.Status(204)), 204, ""},
		"a server error":    {answers(webhooktest.Status(500)), 500, "responded with HTTP status 500"},
		"a redirect":        {answers(http.RedirectHandler("/", http.StatusSeeOther).ServeHTTP), 303, "responded with HTTP status 303"},
		"unreachable":       {endpoint(active, closed.URL), 0, "could not be reached"},
		"no answer in time": {answers(webhooktest.Blocked(nil)), 0, "did not answer in time"},
		"private address":   {endpoint(active, "https://192.168.0.1/"), 0, "does not lead to a public address"},
		"no webhook URL":    {endpoint(tenantsv1.EndpointState_ENDPOINT_STATE_GONE, ""), 0, "no webhook URL"},
		"access off":        {endpoint(tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, ""), 0, "switched off"},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t, time.Second)
			c.arrange(w)
			got, err := w.test("k1", "f")
			require.NoError(t, err)
			require.Equal(t, c.status, got.GetResponseStatus())
			require.Equal(t, c.status == 0, got.ResponseStatus == nil)
			require.Equal(t, c.says == "", got.Error == nil)
			require.Contains(t, got.GetError(), c.says)
			require.NotContains(t, got.GetError(), "127.0.0.1")
		})
	}
}

func TestARepeatedTestSendsNothing(t *testing.T) {
	w := setup(t, 5*time.Second)
	w.receiver.Respond(webhooktest.Status(http.StatusBadGateway))
	first, err := w.test("k1", "f")
	require.NoError(t, err)

	w.receiver.Respond(webhooktest.Status(http.StatusOK))
	var header metadata.MD
	again, err := w.test("k1", "f", grpc.Header(&header))
	require.NoError(t, err)
	require.Equal(t, []string{"true"}, header.Get(caller.ReplayedHeader))
	require.Equal(t, first.GetError(), again.GetError())
	require.EqualValues(t, 502, again.GetResponseStatus())
	require.Len(t, w.receiver.Arrivals(), 1)

	_, err = w.test("k1", "another request")
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	require.Len(t, w.receiver.Arrivals(), 1)

	fresh, err := w.test("k2", "f")
	require.NoError(t, err)
	require.EqualValues(t, 200, fresh.GetResponseStatus())
	require.Len(t, w.receiver.Arrivals(), 2)
}

func TestASecondTestMeanwhileGets409AtOnce(t *testing.T) {
	w := setup(t, 5*time.Second)
	release := make(chan struct{})
	w.receiver.Respond(webhooktest.Blocked(release))
	var group errgroup.Group
	group.Go(func() error {
		_, err := w.test("k1", "f")
		return err
	})
	require.Eventually(t, func() bool { return len(w.receiver.Arrivals()) == 1 }, 5*time.Second, 5*time.Millisecond)
	_, err := w.test("k1", "f")
	require.True(t, problem.Is(err, problem.IdempotencyInProgress), "%v", err)
	close(release)
	require.NoError(t, group.Wait())
	require.Len(t, w.receiver.Arrivals(), 1)
}

func TestAKeyHasTwoTestsAtOnce(t *testing.T) {
	w := setup(t, 5*time.Second)
	_, err := w.test("answered", "f")
	require.NoError(t, err)
	release := make(chan struct{})
	w.receiver.Respond(webhooktest.Blocked(release))
	running := len(w.receiver.Arrivals())
	var group errgroup.Group
	hold := func(keyID int32, idempotencyKey string) {
		group.Go(func() error {
			_, err := w.testOf(keyID, idempotencyKey, "f")
			return err
		})
		running++
		require.Eventually(t, func() bool { return len(w.receiver.Arrivals()) == running }, 5*time.Second, 5*time.Millisecond)
	}
	hold(key, "k1")
	hold(key, "k2")

	_, err = w.test("k3", "f")
	refused, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.RateLimited, refused.Code, "at once: nothing has ended yet")
	require.Positive(t, refused.RetryAfter)

	for other := range int32(places - 2) {
		w.directory.SetActive(100+other, w.receiver)
		hold(100+other, "k1")
	}
	var header metadata.MD
	_, err = w.test("answered", "f", grpc.Header(&header))
	require.NoError(t, err, "a repetition needs no place")
	require.Equal(t, []string{"true"}, header.Get(caller.ReplayedHeader))

	close(release)
	require.NoError(t, group.Wait())
	_, err = w.test("k3", "f")
	require.NoError(t, err, "the refusal has left the Idempotency-Key free, and the others their places")
	require.Len(t, w.receiver.Arrivals(), running+1)
}

func TestAFaultOfOursLeavesTheKeyFree(t *testing.T) {
	w := setup(t, 5*time.Second)
	w.directory.SetDown(true)
	_, err := w.test("k1", "f")
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)

	w.directory.SetDown(false)
	got, err := w.test("k1", "f")
	require.NoError(t, err)
	require.EqualValues(t, 200, got.GetResponseStatus())
	require.Len(t, w.receiver.Arrivals(), 1)
}

func TestATestWithoutAKeyIsRefused(t *testing.T) {
	w := setup(t, time.Second)
	_, err := w.client.TestWebhook(t.Context(), &webhookv1.TestWebhookRequest{})
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
}
