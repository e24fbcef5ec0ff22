//go:build faults

package faults_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
)

// server is PostgreSQL, Redis or Kafka as a process of its own.
type server struct {
	name string
	// busy is held by the fault that uses the server.
	busy     sync.Mutex
	launch   func(ctx context.Context) (*deps.Instance, error)
	instance *deps.Instance
}

func (s *server) start(ctx context.Context) (err error) {
	s.instance, err = s.launch(ctx)
	return err
}

// end signals the server, waits for its end and releases its folder.
func (s *server) end(ctx context.Context, signal os.Signal) error {
	if err := s.instance.Signal(signal); err != nil {
		return err
	}
	<-s.instance.Exited()
	return s.instance.Stop(ctx)
}

func (s *server) restart(ctx context.Context, signal os.Signal, down time.Duration) error {
	if err := s.end(ctx, signal); err != nil {
		return err
	}
	sleep(ctx, down)
	return s.start(ctx)
}

func (s *server) pause(ctx context.Context, d time.Duration) error {
	err := s.instance.Signal(syscall.SIGSTOP)
	sleep(ctx, d)
	return errors.Join(err, s.instance.Signal(syscall.SIGCONT))
}

// servers are those that the platform uses.
type servers struct{ postgres, redis, kafka *server }

func (s servers) all() []*server { return []*server{s.kafka, s.redis, s.postgres} }

// startServers starts them on ports from the first on, with their data below dir. Kafka advertises its address on the
// network.
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
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var failures error
	for _, one := range s.all() {
		if one.instance != nil {
			failures = errors.Join(failures, one.instance.Stop(ctx))
		}
	}
	return errors.Join(failures, deps.RemoveData(dir))
}

// inRedis calls f with a client of Redis.
func (s servers) inRedis(ctx context.Context, f func(ctx context.Context, client *redis.Client) error) error {
	options, err := redis.ParseURL(s.redis.instance.Address)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return f(ctx, client)
}
