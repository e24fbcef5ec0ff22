package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
)

// partitions of the topic of changes.
const partitions = 12

// Stack is a running platform.
type Stack struct {
	// Env is what demo.env holds, by name.
	Env map[string]string

	log     *slog.Logger
	lock    *os.File
	logFile *os.File
	parts   *sequence
}

// Run starts the stack and runs it until ctx ends or a part of it fails, then stops all it started.
func Run(ctx context.Context, cfg Config) error {
	stack, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-stack.Failed():
	}
	stack.log.InfoContext(ctx, "Stopping.")
	return errors.Join(failed, stack.Stop(ctx))
}

// Start starts the stack and returns when a first order can be placed. It goes on when ctx ends: Stop ends it. What a
// start that failed has started is stopped.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil { //nolint:gosec // Another user's server may keep its data inside.
		return nil, fmt.Errorf("folder of the stack: %w", err)
	}
	held, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	logFile, err := openLog(cfg.Dir)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	log := newLines(cfg.Out)
	s := &Stack{log: log, lock: held, logFile: logFile, parts: newSequence(log)}
	if err := s.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// Failed gives the first failure of a part that nobody had asked to end.
func (s *Stack) Failed() <-chan error { return s.parts.failed }

// Stop ends all that was started, in reverse order, also when ctx has ended.
func (s *Stack) Stop(ctx context.Context) error {
	return errors.Join(s.parts.stop(ctx), s.logFile.Close(), s.lock.Close())
}

func (s *Stack) start(ctx context.Context, cfg Config) error {
	began := time.Now()
	// An old file must not be taken for a running stack.
	err := os.Remove(EnvFile(cfg.Dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	set := wiring{Config: cfg}
	if set.secrets, err = readSecrets(cfg.Dir); err != nil {
		return err
	}
	if set.certificates, err = newCertificates(cfg.Dir, time.Now()); err != nil {
		return err
	}
	if err := s.startDependencies(ctx, &set); err != nil {
		return err
	}
	catalog, err := set.catalog()
	if err != nil {
		return err
	}
	// Whoever is asked stands before those who ask.
	before := []service{set.tenants(), catalog}
	after := []service{set.personalLinks(), set.orders(), set.events(), set.webhook()}
	if err := migrate(ctx, set, append(before[:len(before):len(before)], after...)); err != nil {
		return err
	}
	if err := s.run(ctx, set, before...); err != nil {
		return err
	}
	demo, err := set.demo(ctx)
	if err != nil {
		return err
	}
	// The inbox comes before what sends: a webhook that finds nobody is tried again a minute later.
	if err := s.startInbox(ctx, cfg, demo.Keys[keyWebhook].Secret); err != nil {
		return err
	}
	if err := s.run(ctx, set, after...); err != nil {
		return err
	}
	if err := until(ctx, nil, groupsReady(set.brokers, cfg.group(readerFeed), cfg.group(readerWebhook))); err != nil {
		return err
	}
	gateway := set.gateway()
	if err := gateway.run(ctx, s.parts, set.telemetry(portGateway), s.logFile, cfg.gatewayReady); err != nil {
		return err
	}
	return s.announce(set, demo, time.Since(began))
}

func (s *Stack) startDependencies(ctx context.Context, set *wiring) error {
	cfg := set.Config
	postgres, err := deps.StartPostgreSQL(ctx, deps.PostgreSQLConfig{
		URL: cfg.PostgresURL, Dir: filepath.Join(cfg.Dir, "postgres"), Port: cfg.port(portPostgres), Log: s.log,
	})
	if err != nil {
		return err
	}
	s.parts.add("PostgreSQL", postgres.Exited(), postgres.Stop)
	redis, err := deps.StartRedis(ctx, deps.RedisConfig{
		URL: cfg.RedisURL, Dir: filepath.Join(cfg.Dir, "redis"), Port: cfg.port(portRedis), Log: s.log,
	})
	if err != nil {
		return err
	}
	s.parts.add("Redis", redis.Exited(), redis.Stop)
	kafka, err := deps.StartKafka(ctx, deps.KafkaConfig{
		Brokers: cfg.KafkaBrokers, Dir: filepath.Join(cfg.Dir, "kafka"), Port: cfg.port(portKafka), Log: s.log,
	})
	if err != nil {
		return err
	}
	s.parts.add("Kafka", kafka.Exited(), kafka.Stop)
	set.redisURL, set.brokers = redis.Address, kafka.Address
	if err := deps.CreateTopics(ctx, set.brokers, deps.Topic{Name: cfg.Topic(), Partitions: partitions}); err != nil {
		return err
	}
	set.databases, err = newDatabases(postgres.Address, cfg.Name, set.secrets.RelayPassword)
	return err
}

// migrate creates the databases and brings them up to date, one after the other.
func migrate(ctx context.Context, set wiring, services []service) error {
	if err := set.databases.create(ctx); err != nil {
		return err
	}
	for _, service := range services {
		if err := service.migrate(ctx); err != nil {
			return fmt.Errorf("migrate %s: %w", service.name, err)
		}
	}
	return set.databases.admitRelay(ctx)
}

func (s *Stack) run(ctx context.Context, set wiring, services ...service) error {
	for _, service := range services {
		if err := service.run(ctx, s.parts, set.telemetry(portOf(service.name)), s.logFile, set.serviceReady(service.name)); err != nil {
			return err
		}
	}
	return nil
}

func (s wiring) demo(ctx context.Context) (demo, error) {
	tenants := s.certificates.dial(identity.Tenants, s.addr(portTenants))
	defer func() { _ = tenants.Close() }()
	catalog := s.certificates.dial(identity.Catalog, s.addr(portCatalog))
	defer func() { _ = catalog.Close() }()
	return s.prepareDemo(ctx, tenants, catalog)
}

const headerTimeout = 5 * time.Second

func (s *Stack) startInbox(ctx context.Context, cfg Config, secret string) error {
	server := &http.Server{
		Addr:              cfg.addr(portInbox),
		Handler:           inbox.New(secret, time.Now).Handler(),
		ReadHeaderTimeout: headerTimeout,
	}
	run := func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
	return s.parts.start(ctx, daemon.Part{Name: "inbox", Run: run}, cfg.inboxReady)
}
