package webhook_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const topic = "gifting.changes.v1"

type fixture struct {
	cfg       webhook.Config
	directory *tenantstest.Directory
	receiver  *webhooktest.Receiver
	tenant    string
}

// setup returns a configuration with a migrated database, and a receiver that is subscribed to the orders of a tenant.
func setup(t *testing.T) *fixture {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	directory := tenantstest.NewDirectory(t)
	f := &fixture{directory: directory, receiver: webhooktest.NewReceiver(t), tenant: uuid.NewString(), cfg: webhook.Config{
		RPC: rpc.Config{Addr: "127.0.0.1:0"}, Database: postgres.Config{URL: pgtest.NewURL(t)},
		Kafka: kafka.Config{Brokers: cluster.ListenAddrs()}, TenantsAddr: directory.Addr, AllowLoopback: true,
		Environment: apikey.Sandbox, EventKeys: sealtest.Keys("a"),
	}}
	require.NoError(t, webhook.Program().Migrate(t.Context(), f.cfg, io.Discard))
	f.subscribe(7, commonv1.Scope_SCOPE_ORDERS)
	return f
}

// subscribe makes the receiver the webhook of a key of the tenant.
func (f *fixture) subscribe(key int32, scopes ...commonv1.Scope) {
	f.directory.SetEndpoint(f.receiver.Endpoint(key))
	f.directory.Subscribe(f.tenant, &tenantsv1.EndpointSubscription{KeyId: key, AllBrands: true, Scopes: scopes})
}

// start runs the service; the function it returns stops it.
func (f *fixture) start(t *testing.T) (stop func()) {
	t.Helper()
	service, err := webhook.New(t.Context(), f.cfg, telemetry.Discard())
	require.NoError(t, err)
	return testenv.Run(t, service.Run)
}

// publish writes n changes of the tenant.
func (f *fixture) publish(t *testing.T, n int) {
	t.Helper()
	producer, err := kafka.NewProducer(f.cfg.Kafka, topic, telemetry.Discard())
	require.NoError(t, err)
	for range n {
		value, err := proto.Marshal(&eventsv1.Change{
			EventId: uuid.Must(uuid.NewV7()).String(), Type: "order.created", TenantId: f.tenant, BrandId: uuid.NewString(),
			SubjectId: uuid.NewString(), OriginKeyId: 1, OccurredAt: timestamppb.Now(), Data: []byte(`{"id":"x"}`),
		})
		require.NoError(t, err)
		require.NoError(t, producer.Publish(t.Context(), []kafka.Message{{Key: []byte(f.tenant), Value: value}}))
	}
	producer.Close()
}

// requireArrivals waits until the receiver has as many requests.
func (f *fixture) requireArrivals(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(f.receiver.Arrivals()) >= n }, 20*time.Second, 5*time.Millisecond)
	require.Len(t, f.receiver.Arrivals(), n)
}

// An erasure finds a response of a receiver in a stored answer by its delivery.
func TestNoStoredAnswerOutlivesItsDelivery(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.LogRetention = 15 * 24 * time.Hour
	pool, err := postgres.Open(t.Context(), f.cfg.Database)
	require.NoError(t, err)
	defer pool.Close()
	pgtest.Exec(t, pool, `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer, created_at)
VALUES (7, 'old', '', '', now() - interval '16 days'), (7, 'new', '', '', now() - interval '14 days')`)
	defer f.start(t)()
	left := func() string {
		return pgtest.Value[string](t, pool, "SELECT string_agg(idempotency_key, ' ') FROM idempotency_answers")
	}
	require.Eventually(t, func() bool { return left() == "new" }, 20*time.Second, 5*time.Millisecond)
}

// The guards of the client are those that the service builds it with.
func TestTheServicesClientFollowsNoRedirectAndReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loopback bool
		problem  string
	}{
		"a redirect":        {true, "HTTP status 308"},
		"a private address": {false, "must use HTTPS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, elsewhere := setup(t), webhooktest.NewReceiver(t)
			f.cfg.AllowLoopback = c.loopback
			f.receiver.Respond(http.RedirectHandler(elsewhere.URL, http.StatusPermanentRedirect).ServeHTTP)
			defer f.start(t)()
			f.publish(t, 1)
			pool, err := postgres.Open(t.Context(), f.cfg.Database)
			require.NoError(t, err)
			defer pool.Close()
			var problem string
			require.Eventually(t, func() bool {
				return pool.QueryRow(t.Context(), "SELECT problem FROM attempts").Scan(&problem) == nil
			}, 20*time.Second, 5*time.Millisecond)
			require.Contains(t, problem, c.problem)
			require.Empty(t, elsewhere.Arrivals())
			require.Equal(t, c.loopback, len(f.receiver.Arrivals()) == 1)
		})
	}
}

func TestDeliveriesThatARestoredDatabaseHasLostAreSentAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	stop := f.start(t)
	f.publish(t, 3)
	f.requireArrivals(t, 3)
	stop()
	restore := pgtest.Backup(t, f.cfg.Database.URL)

	stop = f.start(t)
	f.publish(t, 5)
	f.requireArrivals(t, 8)
	stop()
	restore()
	f.publish(t, 1)
	stop = f.start(t)
	defer stop()
	f.requireArrivals(t, 8+5+1)
}

func TestADeliveryThatAClockMadeWaitTooLongIsSent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	stop := f.start(t)
	f.publish(t, 1)
	f.requireArrivals(t, 1)
	stop()
	pool, err := postgres.Open(t.Context(), f.cfg.Database)
	require.NoError(t, err)
	defer pool.Close()
	pgtest.Exec(t, pool, "UPDATE deliveries SET state = 'PENDING', next_attempt_at = now() + interval '20 hours', finished_at = NULL")
	defer f.start(t)()
	f.requireArrivals(t, 2)
}

func TestAnInvalidConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(cfg *webhook.Config)
		says string
	}{
		"loopback webhooks in production": {func(c *webhook.Config) {
			c.Environment, c.AllowLoopback = apikey.Production, true
		}, "not allowed in production"},
		"a lease as short as an attempt": {func(c *webhook.Config) { c.Sender.Lease = 10 * time.Second }, "too short"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := webhook.Config{
				Database: postgres.Config{URL: "postgres://nobody@127.0.0.1:1/none"},
				Kafka:    kafka.Config{Brokers: []string{"127.0.0.1:1"}}, TenantsAddr: "127.0.0.1:1", Environment: apikey.Sandbox,
			}
			c.set(&cfg)
			_, err := webhook.New(t.Context(), cfg, telemetry.Discard())
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	var cfg webhook.Config
	require.NoError(t, settings.Defaults(&cfg))

	t.Run("an attempt may take 10 seconds, and 3 of them to connect", func(t *testing.T) {
		require.Equal(t, 10*time.Second, cfg.Sender.Timeout)
		require.Equal(t, 3*time.Second, cfg.Sender.Connect)
	})
	t.Run("the response to a test is stored for 30 days", func(t *testing.T) {
		require.Equal(t, 30*24*time.Hour, cfg.Idempotency.Retention)
	})
}
