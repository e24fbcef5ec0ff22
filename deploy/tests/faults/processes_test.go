//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/programs"
)

// startTimeout bounds the start of any process.
const startTimeout = 2 * time.Minute

// instance is one of the two processes of a program. A supervisor restarts it when it ends.
type instance struct {
	program programs.Program
	// cell is the letter of the cell that it belongs to, a too if it belongs to none.
	cell, name string
	path, log  string
	env        []string
	// addr is its address for its callers, grpc that of its gRPC server, and metrics that of its /readyz.
	addr, grpc, metrics string

	// busy is held by the fault that uses the instance.
	busy    sync.Mutex
	command *exec.Cmd
	exited  chan struct{}
}

var errNotListening = errors.New("does not accept connections")

// start returns when the instance accepts connections. An instance that exits before, because PostgreSQL, Redis or Kafka is down,
// is launched again until startTimeout.
func (i *instance) start(ctx context.Context) error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if err := i.launch(ctx); err != nil {
			return err
		}
		if i.waitUntilListening(ctx, deadline) {
			return nil
		}
		i.kill()
		sleep(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("%s %w, see %s", i.name, errNotListening, i.log)
}

func (i *instance) launch(ctx context.Context) error {
	output, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	i.command = exec.CommandContext(context.WithoutCancel(ctx), i.path, "serve")
	i.command.Env, i.command.Stdout, i.command.Stderr = i.env, output, output
	if err := i.command.Start(); err != nil {
		return errors.Join(err, output.Close())
	}
	exited, command := make(chan struct{}), i.command
	i.exited = exited
	go func() {
		_ = command.Wait() // It was killed, or its log says why it ended.
		_ = output.Close()
		close(exited)
	}()
	return nil
}

// waitUntilListening returns false if the instance has exited or the deadline has passed.
func (i *instance) waitUntilListening(ctx context.Context, deadline time.Time) bool {
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", i.addr); err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-i.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// ask reads a path of the instance's metrics port. The status is 0 if the instance does not answer.
func (i *instance) ask(ctx context.Context, path string) (status int, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.metrics+path, http.NoBody)
	if err != nil {
		return 0, ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

func (i *instance) ready(ctx context.Context) bool {
	status, _ := i.ask(ctx, "/readyz")
	return status == http.StatusOK
}

// metric returns the values of the series that begin with the name and have the label.
func (i *instance) metric(ctx context.Context, t *testing.T, name, label string) (values []float64) {
	t.Helper()
	status, text := i.ask(ctx, "/metrics")
	require.Equal(t, http.StatusOK, status, i.name)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, name) || !strings.Contains(line, label) {
			continue
		}
		var value float64
		_, err := fmt.Sscan(line[strings.LastIndex(line, " ")+1:], &value)
		require.NoError(t, err, line)
		values = append(values, value)
	}
	return values
}

func (i *instance) kill() {
	if i.command != nil && i.command.Process != nil {
		_ = i.command.Process.Kill()
		<-i.exited
	}
}

// killFor kills the instances and starts them again after a while.
func killFor(ctx context.Context, instances []*instance, down time.Duration) error {
	for _, i := range instances {
		i.kill()
	}
	sleep(ctx, down)
	var group errgroup.Group
	for _, i := range instances {
		group.Go(func() error { return i.start(ctx) })
	}
	return group.Wait()
}

func (i *instance) pause(ctx context.Context, d time.Duration) error {
	if err := i.signal(syscall.SIGSTOP); err != nil {
		return i.start(ctx) // The process had exited by itself, so there is nothing to pause.
	}
	sleep(ctx, d)
	return i.signal(syscall.SIGCONT)
}

func (i *instance) signal(signal syscall.Signal) error { return i.command.Process.Signal(signal) }

// hasExited reports whether the process has exited, for whatever reason. A fault that kills an instance holds busy until it has
// started it again.
func (i *instance) hasExited() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// server is PostgreSQL, Redis or Kafka as a separate process.
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

// servers are the PostgreSQL, Redis and Kafka of a deployment.
type servers struct {
	postgres, redis, kafka *server
	// dedicated maps a database to its PostgreSQL server if it has one of its own. The other databases share postgres.
	dedicated map[string]*server
	// clockFile sets the clocks of the dedicated servers; empty if they have the clock of the machine.
	clockFile string
}

func (s servers) all() []*server {
	return slices.AppendSeq([]*server{s.kafka, s.redis, s.postgres}, maps.Values(s.dedicated))
}

// postgresOf returns the PostgreSQL server of a database.
func (s servers) postgresOf(database string) *server {
	if dedicated := s.dedicated[database]; dedicated != nil {
		return dedicated
	}
	return s.postgres
}

// kafkaData is the folder of Kafka's logs, below the folder with the data of all servers.
func kafkaData(dir string) string { return filepath.Join(dir, "kafka", string(deps.Apache), "data") }

// startServers starts PostgreSQL, Redis, Kafka and the dedicated servers on consecutive ports from first on, with their data below
// dir. Kafka advertises the address of its proxy.
func startServers(t *testing.T, dir string, first int, n *network, o options) servers {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	newPostgres := func(name, folder string, port int, env ...string) *server {
		config := deps.PostgreSQLConfig{
			Dir: filepath.Join(dir, folder), Port: port, Ephemeral: true, Log: log, Settings: o.settings, Env: env,
			LogicalReplication: len(o.cells) > 0,
		}
		return &server{name: name, launch: func(ctx context.Context) (*deps.Instance, error) { return deps.StartPostgreSQL(ctx, config) }}
	}
	redis := deps.RedisConfig{Dir: filepath.Join(dir, "redis"), Port: first + 1, Ephemeral: true, RequireReal: true, Log: log}
	kafka := deps.KafkaConfig{
		Dir: filepath.Join(dir, "kafka"), Port: first + 2, PreferApache: true, JarsDir: filepath.Join(root(t), ".local", "kafka"),
		Log:       log,
		Advertise: n.to(t, toKafka, "to Kafka", loopback(first+2)),
	}
	s := servers{
		postgres: newPostgres("PostgreSQL", "postgres", first), redis: &server{name: "Redis"}, kafka: &server{name: "Kafka"},
		dedicated: map[string]*server{},
	}
	var env []string
	if o.fakeClock {
		s.clockFile, env = fakeClock(t)
	}
	for i, database := range o.ownServers {
		s.dedicated[database] = newPostgres("PostgreSQL of "+database, "postgres-"+database, first+3+i, env...)
	}
	s.redis.launch = func(ctx context.Context) (*deps.Instance, error) { return deps.StartRedis(ctx, redis) }
	s.kafka.launch = func(ctx context.Context) (*deps.Instance, error) { return deps.StartKafka(ctx, kafka) }
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
