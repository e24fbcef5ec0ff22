package events

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	waitLimit    = 40 * time.Second
	pollInterval = 20 * time.Millisecond
)

type fixture struct {
	cfg     Config
	sources []*pgxpool.Pool
	client  eventsv1.EventsServiceClient
	tenant  string
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{tenant: uuid.NewString(), cfg: Config{
		EventKeys:       sealtest.Keys("a"),
		RPC:             rpc.Config{Addr: testenv.FreeAddr(t)},
		TenantsAddr:     testenv.FreeAddr(t),
		Database:        postgres.Config{URL: pgtest.NewURL(t)},
		Environment:     apikey.Production,
		Kafka:           kafka.Config{Brokers: brokers(t)},
		KafkaTopic:      "test." + uuid.NewString(),
		KafkaGroup:      "test." + uuid.NewString(),
		KafkaPartitions: 3, KafkaReplication: 1,
	}}
	require.NoError(t, Program().Migrate(t.Context(), f.cfg, io.Discard))
	for _, name := range []string{"orders", "links"} {
		url := pgtest.NewURL(t, outbox.Migrations())
		f.cfg.Sources = append(f.cfg.Sources, Source{Name: name, URL: url})
		pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 2})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		f.sources = append(f.sources, pool)
	}
	conn, err := rpc.Dial(rpc.Target{Addr: f.cfg.RPC.Addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	f.client = eventsv1.NewEventsServiceClient(conn)
	return f
}

func brokers(t *testing.T) []string {
	t.Helper()
	if given := testenv.Lookup(testenv.KafkaBrokers); given != "" {
		t.Logf("broker: %s", given)
		return strings.Split(given, ",")
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	t.Logf("broker: in process (kfake) at %v", cluster.ListenAddrs())
	return cluster.ListenAddrs()
}

// start runs the service; the function it returns stops it.
func (f *fixture) start(t *testing.T) (stop func()) {
	t.Helper()
	service, err := New(t.Context(), f.cfg, telemetry.Discard())
	require.NoError(t, err)
	return testenv.Run(t, service.Run)
}

// addEvents commits n events, alternating between the two databases, and returns their ids.
func (f *fixture) addEvents(t *testing.T, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		e := outbox.Event{
			ID: uuid.NewString(), Type: []string{"order.created", "personal_link.created"}[i%2], TenantID: f.tenant,
			BrandID: uuid.NewString(), SubjectID: uuid.NewString(), OccurredAt: time.Now(), Data: []byte(`{"n":1}`),
		}
		require.NoError(t, postgres.Pipeline(t.Context(), f.sources[i%2], func(b *pgx.Batch) {
			outbox.Append(t.Context(), b, e)
		}))
		ids = append(ids, e.ID)
	}
	return ids
}

// keyContext returns the context of calls of a key that may see all of the feed.
func (f *fixture) keyContext(t *testing.T) context.Context {
	t.Helper()
	ctx, err := caller.Outgoing(t.Context(), caller.Principal{
		TenantID: f.tenant, KeyID: 1, AllBrands: true,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
	}, caller.Request{})
	require.NoError(t, err)
	return ctx
}

// feed reads the whole feed over gRPC with a key that may see all of it. If a call fails, it returns the events read so far: calls
// fail until the service is up, and requireFeed tries again.
func (f *fixture) feed(t *testing.T) []*eventsv1.Event {
	t.Helper()
	ctx := f.keyContext(t)
	var (
		all   []*eventsv1.Event
		after *string
	)
	for {
		page, err := f.client.ListEvents(ctx, &eventsv1.ListEventsRequest{After: after})
		if err != nil || len(page.GetItems()) == 0 {
			return all
		}
		all, after = append(all, page.GetItems()...), page.NextCursor
	}
}

func (f *fixture) requireFeed(t *testing.T, want []string) {
	t.Helper()
	var got []*eventsv1.Event
	require.Eventually(t, func() bool {
		got = f.feed(t)
		return len(got) >= len(want)
	}, waitLimit, pollInterval)
	ids := []string{}
	for _, e := range got {
		ids = append(ids, e.GetId())
	}
	require.Equal(t, want, ids)
	require.Equal(t, "production", got[0].GetEnvironment())
	require.Equal(t, `{"n":1}`, string(got[0].GetData()))
}

func TestFromOutboxToFeed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	want := f.addEvents(t, 60) // Recorded before anything runs: there is no topic yet.
	stop := f.start(t)
	f.requireFeed(t, want)

	t.Run("changes reach the feed in order while the service runs", func(t *testing.T) {
		want = append(want, f.addEvents(t, 60)...)
		f.requireFeed(t, want)
	})

	t.Run("changes made while it is down reach the feed once, when it is back", func(t *testing.T) {
		stop()
		want = append(want, f.addEvents(t, 20)...)
		stop = f.start(t)
		f.requireFeed(t, want)
	})

	t.Run("redelivery by Kafka does not change the feed", func(t *testing.T) {
		stop()
		f.cfg.KafkaGroup = "test." + uuid.NewString() // A new group reads the topic from the beginning.
		stop = f.start(t)
		want = append(want, f.addEvents(t, 2)...)
		f.requireFeed(t, want)
	})
	stop()
}

func TestATopicThatIsGoneIsFilledAgainWithoutNewChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	f.cfg.Kafka.Brokers = cluster.ListenAddrs()
	defer f.start(t)()
	want := f.addEvents(t, 3)
	f.requireFeed(t, want) // The webhook service has not stored them, so they stay in the outboxes.

	require.NoError(t, cluster.DeleteTopic(f.cfg.KafkaTopic))
	inspector, err := kafka.NewInspector(f.cfg.Kafka, f.cfg.KafkaTopic, telemetry.Discard())
	require.NoError(t, err)
	defer inspector.Close()
	require.Eventually(t, func() bool {
		spans, err := inspector.Spans(t.Context())
		published := int64(0)
		for _, span := range spans {
			published += span.To
		}
		return err == nil && published == int64(len(want))
	}, waitLimit, pollInterval)
}
