package kafka_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const (
	patience = 30 * time.Second

	topic, feedGroup, webhookGroup = "gifting.changes.v1", "gifting-feed", "gifting-webhook"
	eventsUser, webhookUser        = "gifting-events", "gifting-webhook"
)

// The way of the page, on real Apache Kafka: users with the permissions that it lists do what the programs do.
func TestThePlatformOnASecuredKafka(t *testing.T) {
	t.Parallel()
	k := startSecured(t)
	k.grant(t)
	for _, way := range []struct {
		name string
		as   func(t *testing.T, user string) kafka.Config
	}{
		{"with SCRAM over TLS", k.withLogin},
		{"with mutual TLS", k.withCertificate},
	} {
		// One after the other, because both use the topic and the groups of the page.
		t.Run(way.name, func(t *testing.T) {
			events, webhook := way.as(t, eventsUser), way.as(t, webhookUser)
			settings := kafka.TopicSettings{Name: topic, Partitions: 2, Replication: 1, Retention: time.Hour}
			require.NoError(t, kafka.EnsureTopic(t.Context(), events, settings))
			report, err := kafka.CheckTopic(t.Context(), events, settings)
			require.NoError(t, err)
			require.NoError(t, report.Err())

			value := []byte(way.name)
			require.NoError(t, publish(t, events, value))
			consume(t, events, feedGroup, value)
			consume(t, webhook, webhookGroup, value)
			inspector, err := kafka.NewInspector(events, topic, telemetry.Discard())
			require.NoError(t, err)
			t.Cleanup(inspector.Close)
			require.Eventually(t, func() bool {
				committed, err := inspector.Committed(t.Context(), webhookGroup)
				return err == nil && len(committed) > 0
			}, patience, 20*time.Millisecond)

			require.ErrorIs(t, publish(t, webhook, value), kafkago.TopicAuthorizationFailed, "webhook only reads")
		})
	}
	t.Run("without the permission to read its settings, the topic is refused", func(t *testing.T) {
		_, err := kafka.CheckTopic(t.Context(), k.withLogin(t, webhookUser), kafka.TopicSettings{Name: topic, Retention: time.Hour})
		require.ErrorIs(t, err, kafka.ErrWeakTopic)
		require.ErrorContains(t, err, "DescribeConfigs")
	})
	t.Run("a connection that fails says why", k.testErrors)
}

func publish(t *testing.T, cfg kafka.Config, value []byte) error {
	t.Helper()
	producer, err := kafka.NewProducer(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(producer.Close)
	return producer.Publish(t.Context(), []kafka.Message{{Key: []byte("tenant"), Value: value}})
}

// consume reads the topic as a member of the group until it finds the value.
func consume(t *testing.T, cfg kafka.Config, group string, value []byte) {
	t.Helper()
	found := make(chan struct{})
	var once sync.Once
	consumer, err := kafka.NewConsumer(cfg, kafka.ConsumerOptions{
		Group: group, Topic: topic, Offsets: &offsets{next: map[int]int64{}}, ID: func(kafka.Message) string { return "" },
	}, telemetry.Discard(), func(_ context.Context, _ int, msgs []kafka.Message) error {
		for _, m := range msgs {
			if bytes.Equal(m.Value, value) {
				once.Do(func() { close(found) })
			}
		}
		return nil
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	select {
	case <-found:
	case <-time.After(patience):
		t.Error("the message was not read")
	}
	cancel()
	require.NoError(t, <-ended)
}

// offsets are stored nowhere: every consumer begins with the oldest message.
type offsets struct {
	lock sync.Mutex
	next map[int]int64
}

func (o *offsets) Stored(_ context.Context, partition int, _ int64) (kafka.Stored, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if next, found := o.next[partition]; found {
		return kafka.Stored{Next: next}, nil
	}
	return kafka.Stored{Next: -1}, nil
}

func (o *offsets) Move(_ context.Context, partition int, _, to int64) error {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.next[partition] = to
	return nil
}

func (*offsets) Durable(context.Context) error { return nil }

func (k secured) testErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(cfg *kafka.Config)
		want   string
	}{
		"a wrong password": {
			func(cfg *kafka.Config) { cfg.SASL.Password = "another" },
			`login of user "gifting-events" with SCRAM-SHA-512: [58] SASL Authentication Failed`,
		},
		"an unknown user":                          {func(cfg *kafka.Config) { cfg.SASL.User = "nobody" }, `login of user "nobody"`},
		"a mechanism that the brokers do not have": {func(cfg *kafka.Config) { cfg.SASL.Mechanism = "PLAIN" }, "[SCRAM-SHA-512]"},
		"an unknown authority": {
			func(cfg *kafka.Config) { cfg.TLS.CAFile = identitytest.New(t).Config(t, identity.Events).CAFile },
			"certificate signed by unknown authority",
		},
		"a certificate of another host": {
			func(cfg *kafka.Config) { cfg.TLS.ServerName = "kafka.example.com" }, "match kafka.example.com",
		},
		"no client certificate": {
			func(cfg *kafka.Config) { cfg.Brokers, cfg.SASL = []string{k.cert}, kafka.SASLConfig{} }, "remote error: tls",
		},
		"a listener without TLS":                     {func(cfg *kafka.Config) { cfg.Brokers = []string{k.plain} }, "TLS: "},
		"a login without TLS, at a listener with it": {func(cfg *kafka.Config) { cfg.TLS = kafka.TLSConfig{} }, "may need TLS"},
		"no login, at a listener that needs one":     {func(cfg *kafka.Config) { cfg.SASL = kafka.SASLConfig{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := k.withLogin(t, eventsUser)
			password := cfg.SASL.Password
			tc.change(&cfg)
			logged := logOf(t, cfg, tc.want)
			for _, text := range []string{publish(t, cfg, []byte("v")).Error(), logged} {
				require.Contains(t, text, tc.want)
				require.NotContains(t, text, password)
				require.NotContains(t, text, "another")
			}
		})
	}
}

// logOf runs a consumer until its log has the text, and returns the log.
func logOf(t *testing.T, cfg kafka.Config, want string) string {
	t.Helper()
	log := &telemetrytest.Log{}
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(log, nil))
	consumer, err := kafka.NewConsumer(cfg, kafka.ConsumerOptions{
		Group: feedGroup, Topic: topic, Offsets: &offsets{next: map[int]int64{}}, ID: func(kafka.Message) string { return "" },
	}, tel, func(context.Context, int, []kafka.Message) error { return nil })
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	text := func() string { return strings.ReplaceAll(log.String(), `\"`, `"`) }
	require.Eventually(t, func() bool { return text() != "" && strings.Contains(text(), want) }, patience, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	return text()
}
