// Package stack gives a benchmark the whole platform in its own process, with databases, a topic and ports of its own,
// on the servers that testdeps names. All that it makes goes when the benchmark ends.
package stack

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/daemon"
)

// The variables that name the servers.
const (
	postgresVariable = "GIFTING_TEST_POSTGRES_URL"
	redisVariable    = "GIFTING_TEST_REDIS_URL"
	kafkaVariable    = "GIFTING_TEST_KAFKA_BROKERS"
)

// Stack is a running platform.
type Stack struct {
	// Env is what its demo.env holds.
	Env    map[string]string
	Config local.Config
	// Took is how long it took to start, on empty databases.
	Took time.Duration
}

// Start starts a platform that ends with the benchmark. Its broker is an embedded one, which takes little from what is
// measured.
func Start(b testing.TB) *Stack {
	b.Helper()
	cfg := newConfig(b)
	s, started := start(b, cfg)
	b.Cleanup(func() { require.NoError(b, started.Stop(context.WithoutCancel(b.Context()))) })
	return s
}

// StartOnKafka starts a platform on the Kafka that is given, or on an embedded one where none is.
func StartOnKafka(b testing.TB) *Stack {
	b.Helper()
	cfg := newConfig(b)
	useKafka(b, &cfg)
	s, started := start(b, cfg)
	b.Cleanup(func() { require.NoError(b, started.Stop(context.WithoutCancel(b.Context()))) })
	return s
}

// Prepare makes databases, topic and demo of a platform whose programs the benchmark itself will run; prepare is called
// while a platform is there.
func Prepare(b testing.TB, prepare func(s *Stack)) *Stack {
	b.Helper()
	cfg := newConfig(b)
	cfg.RedisURL = os.Getenv(redisVariable)
	useKafka(b, &cfg)
	require.NotEmpty(b, cfg.RedisURL, "set %s or run by `make`", redisVariable)
	require.NotEmpty(b, cfg.KafkaBrokers, "set %s or run by `make`", kafkaVariable)
	s, started := start(b, cfg)
	prepare(s)
	require.NoError(b, started.Stop(b.Context()))
	return s
}

func newConfig(b testing.TB) local.Config {
	b.Helper()
	suffix := make([]byte, 6)
	_, err := rand.Read(suffix)
	require.NoError(b, err)
	ports, err := deps.FreeRow(b.Context(), local.PortSpan)
	require.NoError(b, err)
	cfg := local.Config{
		Dir: b.TempDir(), PortBase: ports, Name: "bench_" + hex.EncodeToString(suffix), PostgresURL: Server(b),
	}
	b.Cleanup(func() { dropDatabases(b, cfg) })
	return cfg
}

func useKafka(b testing.TB, cfg *local.Config) {
	b.Helper()
	if brokers := os.Getenv(kafkaVariable); brokers != "" {
		cfg.KafkaBrokers = strings.Split(brokers, ",")
		b.Cleanup(func() { dropTopic(b, *cfg) })
	}
}

func start(b testing.TB, cfg local.Config) (*Stack, *local.Stack) {
	b.Helper()
	daemon.TuneGC() // As the programs of the platform do.
	began := time.Now()
	started, err := local.Start(b.Context(), cfg)
	require.NoError(b, err)
	return &Stack{Env: started.Env, Config: cfg, Took: time.Since(began)}, started
}

// Server is the URL of the PostgreSQL server, as a superuser.
func Server(b testing.TB) string {
	b.Helper()
	server := os.Getenv(postgresVariable)
	require.NotEmpty(b, server, "set %s or run by `make`", postgresVariable)
	return server
}

// URL leads to a database of the server.
func URL(b testing.TB, name string) string {
	b.Helper()
	at, err := url.Parse(Server(b))
	require.NoError(b, err)
	at.Path = "/" + name
	return at.String()
}

// Dial connects to the service whose address the variable of demo.env holds.
func (s *Stack) Dial(b testing.TB, variable string) *local.Conn {
	b.Helper()
	conn, err := local.Dial(s.Env, variable)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close()) })
	return conn
}

// Name is that of a service's database.
func (s *Stack) Name(service string) string { return s.Config.Name + "_" + service }

// Pool connects to a service's database as its owner.
func (s *Stack) Pool(b testing.TB, service string, connections int32) *pgxpool.Pool {
	b.Helper()
	cfg, err := pgxpool.ParseConfig(URL(b, s.Name(service)))
	require.NoError(b, err)
	cfg.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return pool
}

func dropTopic(b testing.TB, cfg local.Config) {
	b.Helper()
	client := &kafka.Client{Addr: kafka.TCP(cfg.KafkaBrokers...)}
	_, err := client.DeleteTopics(context.WithoutCancel(b.Context()), &kafka.DeleteTopicsRequest{Topics: []string{cfg.Topic()}})
	require.NoError(b, err)
}

func dropDatabases(b testing.TB, cfg local.Config) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	conn, err := pgx.Connect(ctx, cfg.PostgresURL)
	require.NoError(b, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, name := range local.Databases(cfg.Name) {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		require.NoError(b, err)
	}
	_, err = conn.Exec(ctx, "DROP ROLE IF EXISTS "+local.RelayRole(cfg.Name))
	require.NoError(b, err)
}
