package harness

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/testenv"
)

// KafkaKind is the kind of Kafka in the tests. Without brokers a platform runs an embedded one.
func KafkaKind() string {
	switch named := testenv.Lookup(testenv.KafkaKind); {
	case testenv.Lookup(testenv.KafkaBrokers) == "":
		return "embedded"
	case named != "":
		return named
	default:
		return "given"
	}
}

// NewConfig is the configuration of a platform that shares nothing with others: it has its own databases, topic, consumer
// groups, Redis database, ports and folder. Everything that it creates on the servers is removed when the test ends.
func NewConfig(t testing.TB) local.Config {
	t.Helper()
	ports, err := deps.FreeRow(t.Context(), local.PortSpan)
	require.NoError(t, err)
	cfg := local.Config{
		Dir: t.TempDir(), PortBase: ports, Name: "e2e_" + strings.ToLower(rand.Text()[:12]), FewPictures: true,
		PostgresURL: testenv.Require(t, testenv.PostgresURL),
	}
	t.Cleanup(func() { dropDatabases(t, cfg) })
	cfg.RedisURL = claimRedis(t)
	if brokers := testenv.Lookup(testenv.KafkaBrokers); brokers != "" {
		cfg.KafkaBrokers = strings.Split(brokers, ",")
		t.Cleanup(func() { dropTopic(t, cfg) })
	}
	return cfg
}

// claimRedis reserves a database of the Redis until the test ends.
func claimRedis(t testing.TB) string {
	t.Helper()
	server := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(server)
	require.NoError(t, err)
	claims := redis.NewClient(opts)
	t.Cleanup(func() { require.NoError(t, claims.Close()) })
	const databases, atMost = 16, 40 * time.Minute
	for db := 1; db < databases; db++ {
		claim := fmt.Sprintf("gifting:e2e:database:%d", db)
		err := claims.SetArgs(t.Context(), claim, "taken", redis.SetArgs{Mode: "NX", TTL: atMost}).Err()
		if err == redis.Nil { //nolint:errorlint // It is returned as it is.
			continue
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, claims.Del(context.WithoutCancel(t.Context()), claim).Err()) })
		opts.DB = db
		client := redis.NewClient(opts)
		require.NoError(t, client.FlushDB(t.Context()).Err())
		require.NoError(t, client.Close())
		u, err := url.Parse(server)
		require.NoError(t, err)
		u.Path = "/" + strconv.Itoa(db)
		return u.String()
	}
	require.Fail(t, "every Redis database is taken by another run")
	return ""
}

func dropDatabases(t testing.TB, cfg local.Config) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, cfg.PostgresURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, name := range local.Databases(cfg.Name) {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		require.NoError(t, err)
	}
	_, err = conn.Exec(ctx, "DROP ROLE IF EXISTS "+local.RelayRole(cfg.Name))
	require.NoError(t, err)
}

func dropTopic(t testing.TB, cfg local.Config) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(cfg.KafkaBrokers...)}
	_, err := client.DeleteTopics(context.WithoutCancel(t.Context()), &kafka.DeleteTopicsRequest{Topics: []string{cfg.Topic()}})
	require.NoError(t, err)
}
