package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/directorytest"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const topic = "gifting.changes.v1"

func TestAChangeInKafkaArrivesAtTheReceiver(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	directory, receiver := directorytest.New(t), webhooktest.NewReceiver(t)
	cfg := webhook.Config{
		RPC: rpc.Config{Addr: "127.0.0.1:0"}, Database: postgres.Config{URL: pgtest.NewURL(t)},
		Kafka: kafka.Config{Brokers: cluster.ListenAddrs()}, TenantsAddr: directory.Addr, AllowLoopback: true,
	}
	require.NoError(t, webhook.Migrate(t.Context(), cfg))
	service, err := webhook.New(t.Context(), cfg, telemetry.Discard())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()

	tenant := uuid.NewString()
	directory.SetEndpoint(receiver.Endpoint(7))
	directory.Subscribe(tenant, &tenantsv1.EndpointSubscription{
		KeyId: 7, AllBrands: true, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
	value, err := proto.Marshal(&eventsv1.Change{
		EventId: uuid.Must(uuid.NewV7()).String(), Type: "order.created", TenantId: tenant, BrandId: uuid.NewString(),
		OriginKeyId: 1, OccurredAt: timestamppb.Now(), Data: []byte(`{"id":"x"}`),
	})
	require.NoError(t, err)
	producer, err := kafka.NewProducer(cfg.Kafka, topic, telemetry.Discard())
	require.NoError(t, err)
	require.NoError(t, producer.Publish(t.Context(), []kafka.Message{{Key: []byte(tenant), Value: value}}))
	require.NoError(t, producer.Close())

	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, 20*time.Second, 5*time.Millisecond)
	require.True(t, receiver.Arrivals()[0].Verified)
	require.Contains(t, string(receiver.Arrivals()[0].Body), `"environment":"sandbox"`)
}

func TestAnInvalidConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(cfg *webhook.Config)
		says string
	}{
		"loopback webhooks in production":     {func(c *webhook.Config) { c.Environment, c.AllowLoopback = apikey.Production, true }, "not allowed in production"},
		"an unknown environment":              {func(c *webhook.Config) { c.Environment = "staging" }, "must be production or sandbox"},
		"a lease as short as an attempt":      {func(c *webhook.Config) { c.Sender.Lease = 10 * time.Second }, "too short"},
		"a test that outlasts a transaction":  {func(c *webhook.Config) { c.TestTimeout = 10 * time.Second }, "outlast"},
		"a statement time-out below the test": {func(c *webhook.Config) { c.Database.StatementTimeout = 5 * time.Second }, "outlast"},
		"no brokers":                          {func(c *webhook.Config) { c.Kafka.Brokers = nil }, "no Kafka brokers"},
		"a negative retention":                {func(c *webhook.Config) { c.LogRetention = -time.Hour }, "must be positive"},
		"a negative number of workers":        {func(c *webhook.Config) { c.Sender.Workers = -1 }, "must be positive"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := webhook.Config{
				Database: postgres.Config{URL: "postgres://nobody@127.0.0.1:1/none"},
				Kafka:    kafka.Config{Brokers: []string{"127.0.0.1:1"}}, TenantsAddr: "127.0.0.1:1",
			}
			c.set(&cfg)
			_, err := webhook.New(t.Context(), cfg, telemetry.Discard())
			require.ErrorContains(t, err, c.says)
		})
	}
}
