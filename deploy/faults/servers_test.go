//go:build faults

package faults_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
)

// server is PostgreSQL, Redis or Kafka as a process of its own.
type server struct {
	name string
	// busy is held by the one fault that is under way with this server.
	busy     sync.Mutex
	launch   func(ctx context.Context) (*deps.Instance, error)
	instance *deps.Instance
}

func (s *server) start(ctx context.Context) (err error) {
	s.instance, err = s.launch(ctx)
	return err
}

// end signals the server, waits until it is gone and gives its folder free.
func (s *server) end(ctx context.Context, signal os.Signal) error {
	if err := s.instance.Signal(signal); err != nil {
		return err
	}
	<-s.instance.Exited()
	return s.instance.Stop(ctx)
}

// servers are what the platform stands on.
type servers struct{ postgres, redis, kafka *server }

func (s servers) all() []*server { return []*server{s.kafka, s.redis, s.postgres} }

// portsOfServers are one for each.
const portsOfServers = 3

// startServers starts them on the ports from the first on, with their data below dir. Kafka tells its clients to come
// over the network.
func startServers(t *testing.T, dir string, first int, n *network) servers {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	postgres := deps.PostgreSQLConfig{Dir: filepath.Join(dir, "postgres"), Port: first, Ephemeral: true, Log: log}
	redis := deps.RedisConfig{Dir: filepath.Join(dir, "redis"), Port: first + 1, Ephemeral: true, RequireReal: true, Log: log}
	kafka := deps.KafkaConfig{
		Dir: filepath.Join(dir, "kafka"), Port: first + 2, PreferApache: true, JarsDir: filepath.Join(root(t), ".local", "kafka"), Log: log,
		Advertise: n.to(t, toKafka, "to Kafka", loopback(first+2)),
	}
	s := servers{
		postgres: &server{name: "PostgreSQL", launch: func(ctx context.Context) (*deps.Instance, error) { return deps.StartPostgreSQL(ctx, postgres) }},
		redis:    &server{name: "Redis", launch: func(ctx context.Context) (*deps.Instance, error) { return deps.StartRedis(ctx, redis) }},
		kafka:    &server{name: "Kafka", launch: func(ctx context.Context) (*deps.Instance, error) { return deps.StartKafka(ctx, kafka) }},
	}
	t.Cleanup(func() { require.NoError(t, s.stop(context.WithoutCancel(t.Context()), dir)) })
	for _, one := range s.all() {
		require.NoError(t, one.start(t.Context()))
	}
	return s
}

func (s servers) stop(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	var failures error
	for _, one := range s.all() {
		if one.instance != nil {
			failures = errors.Join(failures, one.instance.Stop(ctx))
		}
	}
	return errors.Join(failures, deps.RemoveData(dir))
}

// flushRedis takes everything out of Redis.
func (s servers) flushRedis(ctx context.Context) error {
	options, err := redis.ParseURL(s.redis.instance.Address)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return client.FlushAll(ctx).Err()
}
